//! Links the plugin against the libMLIR.so and libLLVM.so of the `mlir-opt` that loads it.
//!
//! They stand before mlir-sys's archives on the link line, so that they satisfy every symbol: a second, private copy of
//! MLIR would register the passes where nobody looks.

fn main() {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=dylib=MLIR");
    println!("cargo:rustc-link-lib=dylib=LLVM");
}
