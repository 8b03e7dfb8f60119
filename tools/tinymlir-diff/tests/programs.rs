//! A short seeded run of the differential tester, and that it finds a miscompilation.

use std::{path::Path, process::Command};

/// The exit status and the output of `tinymlir-diff programs`.
fn programs(arguments: &[&str], into: &Path) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tinymlir-diff"))
        .arg("programs")
        .args(arguments)
        .arg("--into")
        .arg(into)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

#[test]
fn compiled_programs_compute_what_the_interpreter_does() {
    let folder = tempfile::tempdir().unwrap();
    let (success, text) = programs(&["--seed", "7", "--count", "200", "-O1"], folder.path());
    assert!(success && text.contains("200 programs (seed 7, from 0)"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn emulated_kernels_compute_what_the_interpreter_does() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--seed", "8", "--count", "50", "--batch", "25", "--gpu", "--emulate"];
    for more in [&[][..], &["--schedule", "fast", "--memory", "device"]] {
        let (success, text) = programs(&[&flags[..], more].concat(), folder.path());
        assert!(success && text.contains("50 programs (seed 8, from 0)"), "{text}");
    }
}

#[test]
fn a_miscompilation_is_found_and_shrunk() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--seed", "3", "-O0", "--batch", "10", "--jobs", "1"];
    let (success, text) =
        programs(&[&flags[..], &["--count", "40", "--inject", "--faults", "1"]].concat(), folder.path());
    let line = text.lines().find(|l| l.starts_with("program ")).unwrap_or_else(|| panic!("nothing found: {text}"));
    let number = line["program ".len()..].split(':').next().unwrap();
    assert!(!success && line.contains("result "), "{text}");
    // What is left: inputs, one operation, and a line that runs it.
    let name = format!("seed3-{number}.mlir");
    let module = std::fs::read_to_string(folder.path().join(&name)).unwrap();
    let steps = module.lines().filter(|l| l.starts_with("//   ") && !l.contains("Input {")).count();
    assert!(module.contains("arith.subf") && steps == 1, "{module}");
    assert!(module.contains(&format!("// tinymlir-runner {name} --arg 0=seed3-{number}.0.npy")), "{module}");
    // Without the fault there is nothing to find.
    let (success, text) = programs(&[&flags[..], &["--program", number]].concat(), folder.path());
    assert!(success, "{text}");
}

#[test]
fn a_seed_reproduces_its_program_alone() {
    let folder = tempfile::tempdir().unwrap();
    let print = |arguments: &[&str]| programs(&[&["--seed", "5", "--print"], arguments].concat(), folder.path()).1;
    let (alone, all) = (print(&["--program", "12"]), print(&["--count", "20"]));
    let body = |text: &str, name: &str| {
        let start = text.find(&format!("func.func @{name}(")).unwrap() + "func.func @".len() + name.len();
        let function = text[start..].split("func.func").next().unwrap().trim_end_matches(['}', '\n', ' ']);
        // What stands beside it carries its name.
        function.replace(&format!("@{name}_"), "@")
    };
    assert_eq!(body(&alone, "p0"), body(&all, "p12"));
}
