//! The passes of tinymlir as a plugin: `mlir-opt --load-pass-plugin=libtinymlir_passes.so`.

use std::ffi::{CStr, c_char};

/// `mlir::PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version without NUL"),
};

/// What mlir-opt asks a plugin for.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: 1,
        name: c"tinymlir".as_ptr(),
        version: VERSION.as_ptr(),
        register: tinymlir_passes::register,
    }
}
