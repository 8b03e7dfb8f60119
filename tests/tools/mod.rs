//! Where the built tools are, for the tests that run them.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// `target/PROFILE`, where cargo puts what it builds: this program is target/PROFILE/deps/NAME-HASH.
pub fn artifacts() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the running program");
    program.ancestors().nth(2).expect("a profile's folder above this program").to_path_buf()
}

/// The folder of the tools: `TINYMLIR_TOOLS_DIR`, or cargo's.
pub fn folder() -> PathBuf {
    std::env::var_os("TINYMLIR_TOOLS_DIR").map_or_else(artifacts, PathBuf::from)
}

/// Builds the tools in the profile of this program; nothing where `TINYMLIR_TOOLS_DIR` names built ones.
pub fn build() -> Result<(), String> {
    if std::env::var_os("TINYMLIR_TOOLS_DIR").is_some() {
        return Ok(());
    }
    cargo(&["--workspace"])
}

/// Builds an example of a crate, in the profile of this program.
#[allow(dead_code)] // not every test program has one
pub fn build_example(package: &str, example: &str) -> Result<(), String> {
    cargo(&["--package", package, "--example", example])
}

fn profile() -> String {
    match artifacts().file_name().and_then(OsStr::to_str) {
        None | Some("debug") => "dev".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn cargo(what: &[&str]) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["build", "--quiet", "--profile", &profile()])
        .args(what)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("building the tools failed, see cargo's messages".to_owned()) }
}
