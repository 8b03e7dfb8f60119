//! Writes a faulty program: its module, inputs as .npy, and a header that says how to run it.

use crate::{check, check::Setting, interpret, program::Program};
use anyhow::{Context as _, Result};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};
use tinymlir::io::npy;

/// Writes `NAME.mlir` and `NAME.ARGUMENT.npy` into `folder`, and returns the module's path. `notes` become comments on top.
pub fn write(folder: &Path, name: &str, program: &Program, setting: &Setting, notes: &[String]) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let text = check::text(std::slice::from_ref(program), setting.inject)?;
    let values = interpret::run(program, setting.tolerance).context("the program has no meaning")?;
    let mut head = String::new();
    for line in notes.iter().flat_map(|n| n.lines()) {
        let _ = writeln!(head, "// {line}");
    }
    let mut command = format!("tinymlir-runner {name}.mlir");
    for (i, id) in program.inputs().into_iter().enumerate() {
        let file = format!("{name}.{i}.npy");
        npy::write(&folder.join(&file), &values[id].to_tensor())?;
        let _ = write!(command, " --arg {i}={file}");
    }
    for (i, &id) in program.results.iter().enumerate() {
        let file = format!("{name}.expected{i}.npy");
        npy::write(&folder.join(&file), &values[id].to_tensor())?;
        let _ = write!(command, " --expect {i}={file}");
    }
    for op in &program.steps {
        let _ = writeln!(head, "//   {op:?}");
    }
    let path = folder.join(format!("{name}.mlir"));
    fs::write(&path, format!("{head}// {command}\n{text}"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
