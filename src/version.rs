//! What `--version` says.

/// The versions of tinymlir, of LLVM in it, of the CPU it compiles for, of the BLAS library that it finds, and the GPU with its driver's version.
pub fn version() -> String {
    let blas = tinymlir_runtime::blas::blas();
    let mut text = format!("{}\nLLVM {}", env!("CARGO_PKG_VERSION"), crate::engine::version());
    text += &format!("\nCPU {}\nBLAS {}", crate::engine::host_cpu(), blas.name());
    for part in [blas.version().map(str::to_owned), blas.path().map(|p| p.display().to_string())].into_iter().flatten()
    {
        text += &format!(", {part}");
    }
    text += &match tinymlir_runtime::cuda::device() {
        Ok(device) => format!("\nGPU {device}"),
        Err(reason) => format!("\nGPU none ({reason})"),
    };
    text
}
