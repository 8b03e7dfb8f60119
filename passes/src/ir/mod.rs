//! A thin layer over the MLIR C API: the only place of this crate with `unsafe`.
//!
//! Handles are plain copies of pointers into the IR, as they are in C++: one whose operation was erased must not be
//! used again. Passes therefore collect first, with [`Op::walk`], and rewrite afterwards. Everything is reached on the
//! thread that runs the pass.

mod attribute;
mod context;
mod diagnostics;
mod driver;
mod linalg;
mod observe;
mod operation;
mod opt;
mod options;
mod pass;
mod rewrite;
mod types;
mod value;

pub use attribute::{AffineMap, Attr};
pub use context::{Context, Module};
pub use driver::{
    context, expanded, parse, quietly, register, run_pipeline, run_pipeline_watched, run_timed_pipeline,
    with_diagnostics,
};
pub use observe::{Observer, Placed, Remark, RemarkKind};
pub use operation::Op;
pub use opt::{Driver, Flag, described, llvm_version, lsp_server_main, opt_main, printed_options, reduce_main};
pub use options::Opt;
pub use pass::{Failed, Options, Pass, PassCx, PassResult, Pipeline, register_pass, register_pipeline};
pub use types::{MemRef, Type};
pub use value::{Block, Loc, Value};

use mlir_sys::*;
use std::ffi::{c_char, c_void};

pub(crate) const fn string_ref(s: &str) -> MlirStringRef {
    MlirStringRef { data: s.as_ptr().cast::<c_char>(), length: s.len() }
}

/// Copies what a C function returned; invalid UTF-8 is replaced.
pub(crate) fn to_string(s: MlirStringRef) -> String {
    if s.length == 0 {
        return String::new();
    }
    // SAFETY: the C API returns a pointer to `length` readable bytes.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(s.data.cast::<u8>(), s.length) }).into_owned()
}

/// Collects what a C printing function writes.
pub(crate) fn printed(print: impl FnOnce(MlirStringCallback, *mut c_void)) -> String {
    unsafe extern "C" fn append(part: MlirStringRef, out: *mut c_void) {
        // SAFETY: `out` is the String below, alive during the call.
        unsafe { &mut *out.cast::<String>() }.push_str(&to_string(part));
    }
    let mut out = String::new();
    print(Some(append), (&raw mut out).cast());
    out
}

/// The context that owns types and attributes.
#[derive(Clone, Copy)]
pub struct Ctx(pub(crate) MlirContext);

/// Declares a copyable handle around a C struct of one pointer, equal when the pointers are.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident($raw:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub(crate) $raw);
        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                std::ptr::eq(self.0.ptr, other.0.ptr)
            }
        }
        impl Eq for $name {}
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                (self.0.ptr as usize).hash(state)
            }
        }
    };
}
use handle;
