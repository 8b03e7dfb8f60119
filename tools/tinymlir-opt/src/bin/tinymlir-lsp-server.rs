//! `tinymlir-lsp-server`: the language server of MLIR, for editors (docs/editors.md).

fn main() {
    std::process::exit(tinymlir_report::lsp_server_main())
}
