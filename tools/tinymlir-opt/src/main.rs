//! `tinymlir-opt`: mlir-opt with the passes of tinymlir.

fn main() {
    std::process::exit(tinymlir_report::opt_main())
}
