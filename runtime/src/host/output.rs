//! Where printing goes: the process's stdout, in order with what Rust and C code print.
//!
//! Printing functions write to Rust's line-buffered stdout, which the host program also uses. A
//! line left open is flushed when the process ends through `exit`, also where this crate is a
//! shared library in a program that is not Rust. C's own stdout, which compiled code reaches
//! through `puts`, is made line-buffered too, so that lines of either appear in order.

use std::fmt::Arguments;
use std::io::{Write, stderr, stdout};
use std::sync::Once;

/// Writes `text` to stdout. A closed stdout is ignored, as C's stdio does.
pub(crate) fn write(text: &[u8]) {
    share_stdout();
    let _ = stdout().lock().write_all(text);
}

/// Writes one line to stderr.
pub(super) fn error_line(text: Arguments) {
    let _ = stderr().lock().write_fmt(format_args!("{text}\n"));
}

/// Flushes Rust's and C's stdout.
pub(super) fn flush() {
    let _ = stdout().lock().flush();
    // SAFETY: null asks C to flush every output stream it has open.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Makes lines of C code appear in order with ours, and open lines appear at exit. Idempotent.
pub(super) fn share_stdout() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        unsafe extern "C" {
            #[link_name = "stdout"]
            static C_STDOUT: *mut libc::FILE;
        }
        // SAFETY: `stdout` is C's open stream, a null buffer lets C keep its own; `at_exit` has the
        // signature that atexit asks for and does not unwind.
        unsafe {
            libc::setvbuf(C_STDOUT, std::ptr::null_mut(), libc::_IOLBF, 0);
            libc::atexit(at_exit);
        }
    });
}

extern "C" fn at_exit() {
    let _ = stdout().lock().flush();
}
