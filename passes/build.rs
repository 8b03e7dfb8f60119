//! Compiles the C++ shim against the LLVM that `MLIR_SYS_220_PREFIX` names, and trims LLVM's targets to X86 and NVPTX.

use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=build.rs");
    let prefix = env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let mut build = cc::Build::new();
    // As LLVM was built: classes derived from its own refer to the type information of those, which is there or not.
    if llvm_config(&prefix, "--has-rtti") == "NO" {
        build.flag("-fno-rtti");
    }
    // And with its assertions or without: some of its classes have members for them.
    if llvm_config(&prefix, "--assertion-mode") == "OFF" {
        build.define("NDEBUG", None);
    }
    build
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .include(format!("{prefix}/include"))
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .flag("-ffunction-sections")
        .flag("-fdata-sections")
        .opt_level(1)
        .debug(false)
        .files([
            "shim/pass.cpp",
            "shim/opt.cpp",
            "shim/linalg.cpp",
            "shim/scf.cpp",
            "shim/vector.cpp",
            "shim/observe.cpp",
            "shim/tools.cpp",
        ])
        .compile("tinymlir_shim");
    if env::var_os("CARGO_FEATURE_DYNAMIC").is_some() {
        // Before mlir-sys's archives on the link line, so that these satisfy every symbol.
        println!("cargo:rustc-link-search=native={prefix}/lib");
        println!("cargo:rustc-link-lib=dylib=MLIR");
        println!("cargo:rustc-link-lib=dylib=LLVM");
    } else {
        trim_targets(&prefix);
    }
}

/// What the installation at `prefix` says of itself.
fn llvm_config(prefix: &str, flag: &str) -> String {
    let out = Command::new(format!("{prefix}/bin/llvm-config")).arg(flag).output().unwrap_or_else(|e| {
        panic!("cannot run {prefix}/bin/llvm-config ({e}): run tools/setup, or set MLIR_SYS_220_PREFIX")
    });
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// Links empty initialisers of the other targets first, so that the linker leaves those targets' archives out.
fn trim_targets(prefix: &str) {
    let mut stubs = String::new();
    let built = llvm_config(prefix, "--targets-built");
    for target in built.split_whitespace().filter(|t| !["X86", "NVPTX"].contains(t)) {
        for part in ["Target", "TargetInfo", "TargetMC", "AsmParser", "AsmPrinter", "Disassembler"] {
            stubs += &format!("void LLVMInitialize{target}{part}(void) {{}}\n");
        }
    }
    let file = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("targets.c");
    fs::write(&file, stubs).expect("cargo's own folder is writable");
    cc::Build::new().file(&file).flag("-fvisibility=hidden").cargo_metadata(false).compile("tinymlir_targets");
    println!("cargo:rustc-link-search=native={}", env::var("OUT_DIR").unwrap_or_default());
    println!("cargo:rustc-link-lib=static:+whole-archive,-bundle=tinymlir_targets");
}
