//! `gpu.printf` of emulated kernels: CUDA's `vprintf`, whose arguments lie in memory, each aligned to its size.

use crate::{Symbol, host, symbol_table};
use std::ffi::{CStr, CString, c_char, c_int};

/// Prints as C's `printf` does, and returns how many conversions there were.
///
/// # Safety
/// `format` is NUL-terminated, and `arguments` holds what its conversions take.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedPrint(format: *const c_char, arguments: *const u8) -> i32 {
    // SAFETY: as the caller vouches.
    let format = unsafe { CStr::from_ptr(format) }.to_bytes();
    let mut arguments = Arguments { base: arguments, offset: 0 };
    let (mut text, mut rest, mut count) = (Vec::new(), format, 0);
    while let Some(at) = rest.iter().position(|b| *b == b'%') {
        text.extend_from_slice(&rest[..at]);
        let conversion = &rest[at..];
        let end = 1 + conversion[1..].iter().take_while(|b| b"-+ #0123456789.hljzt".contains(b)).count();
        let Some(kind) = conversion.get(end) else {
            rest = conversion;
            break;
        };
        rest = &conversion[end + 1..];
        if *kind == b'%' {
            text.push(b'%');
            continue;
        }
        count += 1;
        // SAFETY: as the caller vouches.
        text.extend(unsafe { arguments.convert(&conversion[..=end]) });
    }
    text.extend_from_slice(rest);
    host::write(&text);
    count
}

/// What is left of the arguments.
struct Arguments {
    base: *const u8,
    offset: usize,
}

impl Arguments {
    /// The next one as a conversion such as `%5.2f` has it.
    ///
    /// # Safety
    /// There is one of the kind that the conversion takes.
    unsafe fn convert(&mut self, conversion: &[u8]) -> Vec<u8> {
        let Ok(format) = CString::new(conversion) else { return Vec::new() };
        let mut buffer = vec![0u8; 512];
        let (out, size, format) = (buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr());
        let wide = conversion.iter().any(|b| b"ljzt".contains(b));
        // SAFETY: the format has one conversion, whose argument is of the type given; C writes no more than `size` bytes.
        let written = unsafe {
            match conversion.last() {
                Some(b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c') if wide => {
                    libc::snprintf(out, size, format, self.next::<i64>())
                }
                Some(b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c') => {
                    libc::snprintf(out, size, format, self.next::<c_int>())
                }
                Some(b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G') => {
                    libc::snprintf(out, size, format, self.next::<f64>())
                }
                Some(b'p' | b's') => libc::snprintf(out, size, format, self.next::<*const c_char>()),
                _ => return conversion.to_vec(),
            }
        };
        buffer.truncate(usize::try_from(written).unwrap_or(0).min(size - 1));
        buffer
    }

    /// # Safety
    /// There is one of this type.
    unsafe fn next<T: Copy>(&mut self) -> T {
        let at = self.offset.next_multiple_of(size_of::<T>());
        self.offset = at + size_of::<T>();
        // SAFETY: as the caller vouches.
        unsafe { self.base.add(at).cast::<T>().read_unaligned() }
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![tinymlirEmulatedPrint]
}
