//! A short seeded run of the fuzzer.

use std::{path::Path, process::Command};

#[test]
fn no_pass_of_ours_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/passes");
    let output = Command::new(env!("CARGO_BIN_EXE_tinymlir-diff"))
        .args(["mutants", "--seed", "5", "--count", "1500", "--batch", "500", "--corpus"])
        .arg(corpus)
        .arg("--into")
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1500 mutants (seed 5, from 0)"), "{text}");
    // Mutants that do not parse test nothing.
    let valid = text.split(" valid").next().and_then(|t| t.rsplit(' ').next()).and_then(|n| n.parse::<u32>().ok());
    assert!(valid.is_some_and(|n| n > 400), "{text}");
}
