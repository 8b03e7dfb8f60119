//! Modules that compute many bodies on the same elements, and the arrays they take and write.

use std::{fmt::Write, fs, path::PathBuf, process::Command};

use libtest_mimic::Failed;

use crate::tools;

/// Runs a module that computes every body from elements `%a` and `%b`; the bits of each result, by body.
pub fn run(
    name: &str,
    ty: &str,
    width: u32,
    numpy: &str,
    x: &[u64],
    y: &[u64],
    bodies: &[(String, String)],
) -> Result<Vec<Vec<u64>>, Failed> {
    tools::build()?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let n = x.len();
    let file = |what: &str| folder.join(format!("math-{name}-{what}"));
    fs::write(file("x.npy"), npy(numpy, width, x))?;
    fs::write(file("y.npy"), npy(numpy, width, y))?;
    let tensor = |element: &str| format!("tensor<{n}x{element}>");
    let results = bodies.iter().map(|(_, element)| tensor(element)).collect::<Vec<_>>().join(", ");
    let mut text =
        format!("#id = affine_map<(i) -> (i)>\nfunc.func @main(%x: {0}, %y: {0}) -> ({results}) {{\n", tensor(ty));
    for (i, (body, element)) in bodies.iter().enumerate() {
        let result = tensor(element);
        writeln!(text, "%e{i} = tensor.empty() : {result}")?;
        writeln!(
            text,
            "%r{i} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\"]}} ins(%x, %y : {0}, {0}) outs(%e{i} : {result}) {{\n\
             ^bb0(%a: {ty}, %b: {ty}, %o: {element}):\n{body}\nlinalg.yield %r : {element}\n}} -> {result}",
            tensor(ty)
        )?;
    }
    let values = (0..bodies.len()).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
    writeln!(text, "return {values} : {results}\n}}")?;
    fs::write(file("module.mlir"), text)?;
    let mut command = Command::new(tools::folder().join("tinymlir-runner"));
    command.arg(file("module.mlir"));
    for (i, argument) in ["x.npy", "y.npy"].iter().enumerate() {
        command.arg("--arg").arg(format!("{i}={}", file(argument).display()));
    }
    for i in 0..bodies.len() {
        command.arg("-o").arg(format!("{i}={}", file(&format!("{i}.npy")).display()));
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    (0..bodies.len())
        .map(|i| {
            let width = if bodies[i].1 == "i1" { 8 } else { width };
            Ok(bits(&fs::read(file(&format!("{i}.npy")))?, width, n))
        })
        .collect()
}

/// A one-dimensional array as NumPy saves it.
fn npy(descr: &str, width: u32, values: &[u64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},), }}", values.len());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    values.iter().for_each(|v| file.extend(&v.to_le_bytes()[..width as usize / 8]));
    file
}

/// The last `n` elements of a saved array.
fn bits(file: &[u8], width: u32, n: usize) -> Vec<u64> {
    let bytes = width as usize / 8;
    let data = &file[file.len() - n * bytes..];
    let number = |element: &[u8]| element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    data.chunks_exact(bytes).map(number).collect()
}
