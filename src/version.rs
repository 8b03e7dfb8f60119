//! What `--version` says.

/// The versions of tinymlir, of LLVM in it, of the CPU it compiles for, and of the BLAS library that it finds.
pub fn version() -> String {
    let blas = tinymlir_runtime::blas::blas();
    let mut text = format!("{}\nLLVM {}", env!("CARGO_PKG_VERSION"), crate::engine::version());
    text += &format!("\nCPU {}\nBLAS {}", crate::engine::host_cpu(), blas.name());
    for part in [blas.version().map(str::to_owned), blas.path().map(|p| p.display().to_string())].into_iter().flatten()
    {
        text += &format!(", {part}");
    }
    text
}
