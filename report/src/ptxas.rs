//! What ptxas says of each kernel: registers, shared memory, spills.

use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf, process::Command};

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Registers a thread.
    pub registers: u64,
    /// Bytes of static shared memory a block.
    pub shared: u64,
    /// Bytes a thread stores to local memory for want of registers, and loads from it.
    pub spills: u64,
}

/// The usage of each kernel in PTX, by name; empty where there is no ptxas, or it refuses.
pub fn usage(ptx: &str) -> BTreeMap<String, Usage> {
    let chip = ptx.lines().find_map(|l| l.trim().strip_prefix(".target ")).unwrap_or("sm_80");
    let chip = chip.split(',').next().unwrap_or_default().trim();
    let Some(ptxas) = ptxas() else { return BTreeMap::new() };
    let file = std::env::temp_dir().join(format!("tinymlir-report-{}.ptx", std::process::id()));
    if std::fs::write(&file, ptx).is_err() {
        return BTreeMap::new();
    }
    let output = Command::new(ptxas).args(["-v", "-arch", chip]).arg(&file).args(["-o", "/dev/null"]).output();
    let _ = std::fs::remove_file(&file);
    match output {
        Ok(output) if output.status.success() => parse(&String::from_utf8_lossy(&output.stderr)),
        _ => BTreeMap::new(),
    }
}

/// In the toolkit that the environment names, in what tools/setup laid down, or on PATH.
fn ptxas() -> Option<PathBuf> {
    let cache = std::env::var_os("TINYMLIR_CACHE").map(PathBuf::from).or_else(|| {
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Some(base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?.join("tinymlir"))
    });
    let toolkits = ["TINYMLIR_CUDA_TOOLKIT", "CUDA_HOME"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let folders = toolkits.chain(cache.map(|c| c.join("cuda-12.6.85"))).map(|t| t.join("bin"));
    let path: Vec<PathBuf> = std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    folders.chain(path).map(|f| f.join("ptxas")).find(|f| f.is_file())
}

fn parse(text: &str) -> BTreeMap<String, Usage> {
    let mut out: BTreeMap<String, Usage> = BTreeMap::new();
    let mut kernel = String::new();
    // The number in front of some words.
    let number = |line: &str, what: &str| -> Option<u64> {
        line[..line.find(what)?].trim_end().rsplit([' ', ',']).next()?.parse().ok()
    };
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            kernel = rest.trim().to_owned();
        }
        if kernel.is_empty() {
            continue;
        }
        let usage = out.entry(kernel.clone()).or_default();
        if let Some(registers) = line.split_once("Used ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()) {
            usage.registers = registers;
            usage.shared = number(line, " bytes smem").unwrap_or_default();
        }
        if let (Some(stores), Some(loads)) = (number(line, " bytes spill stores"), number(line, " bytes spill loads")) {
            usage.spills = stores + loads;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptxas_is_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'matmul' for 'sm_90'\n\
            ptxas info    : Function properties for matmul\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 128 registers, used 1 barriers, 37888 bytes smem\n\
            ptxas info    : Compiling entry function 'add' for 'sm_90'\n\
            ptxas info    : Used 10 registers\n";
        let usage = parse(text);
        assert_eq!(usage["matmul"], Usage { registers: 128, shared: 37888, spills: 16 });
        assert_eq!(usage["add"], Usage { registers: 10, shared: 0, spills: 0 });
        assert_eq!(usage.len(), 2);
    }
}
