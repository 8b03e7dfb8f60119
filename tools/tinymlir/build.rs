//! Compiles FileCheck's driver, and links the C++ runtime and the compression libraries statically where their archives
//! are, so that the executable needs nothing but glibc.

use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=src/filecheck.cpp");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(false).include(format!("{prefix}/include")).flag("-fno-exceptions");
    build.define("NDEBUG", None).opt_level(1).debug(false).file("src/filecheck.cpp").compile("tinymlir_filecheck");

    // A folder of archives alone, searched before the system's, where the linker would take the shared libraries.
    let archives = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("archives");
    fs::create_dir_all(&archives).expect("cargo's own folder is writable");
    let compiler = build.get_compiler();
    // The unwinder's functions that std takes from libgcc_s are in libgcc_eh, too.
    for (archive, link) in [
        ("libstdc++.a", "libstdc++.a"),
        ("libz.a", "libz.a"),
        ("libzstd.a", "libzstd.a"),
        ("libgcc_eh.a", "libgcc_s.a"),
    ] {
        let output = Command::new(compiler.path()).arg(format!("-print-file-name={archive}")).output();
        let path = output.map(|o| PathBuf::from(String::from_utf8_lossy(&o.stdout).trim())).unwrap_or_default();
        let link = archives.join(link);
        let _ = fs::remove_file(&link);
        // The compiler prints the name alone when it finds no such file.
        if path.is_absolute() {
            symlink(path, link).expect("cargo's own folder is writable");
        }
    }
    println!("cargo:rustc-link-search=native={}", archives.display());
}
