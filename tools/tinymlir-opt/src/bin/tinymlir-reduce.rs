//! `tinymlir-reduce`: mlir-reduce with the passes of tinymlir.

fn main() {
    std::process::exit(tinymlir_report::reduce_main())
}
