//! How compiled code ends the program: one message, exit status 1.

use std::ffi::{CStr, c_char};

use super::output;
use crate::{Symbol, symbol_table};

/// Prints `error: MESSAGE` to stderr after everything printed so far, and exits with status 1.
pub fn fail(message: &str) -> ! {
    output::flush();
    output::error_line(format_args!("error: {message}"));
    std::process::exit(1)
}

/// What a failed check in compiled code calls with its message, UTF-8 of `len` bytes.
///
/// # Safety
/// `text` points to `len` readable bytes, or `len` is not positive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlir_fail(text: *const u8, len: i64) -> ! {
    let len = usize::try_from(len).unwrap_or(0);
    let bytes: &[u8] = if text.is_null() || len == 0 {
        b"a check in the compiled code failed"
    } else {
        // SAFETY: as the caller vouches.
        unsafe { std::slice::from_raw_parts(text, len) }
    };
    fail(&String::from_utf8_lossy(bytes))
}

/// [`tinymlir_fail`] with two values for the places `{0}` and `{1}` of the message.
///
/// # Safety
/// As for [`tinymlir_fail`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlir_fail_values(text: *const u8, len: i64, first: i64, second: i64) -> ! {
    let len = usize::try_from(len).unwrap_or(0);
    // SAFETY: as the caller vouches.
    let bytes = if text.is_null() { &[][..] } else { unsafe { std::slice::from_raw_parts(text, len) } };
    fail(&with_values(&String::from_utf8_lossy(bytes), first, second))
}

/// The message with values in the places `{0}` and `{1}`.
pub(crate) fn with_values(message: &str, first: i64, second: i64) -> String {
    message.replace("{0}", &first.to_string()).replace("{1}", &second.to_string())
}

/// [`tinymlir_fail`] for a NUL-terminated message.
///
/// # Safety
/// `message` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlir_assert_fail(message: *const c_char) -> ! {
    if message.is_null() {
        fail("an assertion in the compiled code failed");
    }
    // SAFETY: as the caller vouches.
    fail(&unsafe { CStr::from_ptr(message) }.to_string_lossy())
}

/// Stands for C's `abort` in jitted code: upstream lowers a failed `cf.assert` to `puts` of its
/// message and `abort`, which would leave a signal and lose what was printed.
extern "C" fn abort() -> ! {
    fail("the compiled code aborted (a failed assertion prints its message before this)")
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![tinymlir_fail, tinymlir_fail_values, tinymlir_assert_fail, abort]
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_take_their_places() {
        assert_eq!(super::with_values("index {0} of {1}: {0}", -3, 7), "index -3 of 7: -3");
        assert_eq!(super::with_values("no place", 1, 2), "no place");
    }
}
