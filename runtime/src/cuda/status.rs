//! A few words that kernels can write to, so that a failed check on the device becomes a message.
//!
//! Word 0 is a code, 0 while nothing has failed; words 1 and 2 are numbers for the message, such as
//! the offending index. Kernels should write the code last. The words are host memory that the
//! device reaches, so that looking at them moves no pages.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys;

use super::driver::{Error, check, driver};
use super::memory::relaxed;
use super::{must, stream};
use crate::{Symbol, symbol_table};

const WORDS: usize = 8;
/// The words' address, or 0 while nobody has asked for it.
static STATUS: Mutex<usize> = Mutex::new(0);

fn words() -> Result<usize, Error> {
    driver()?;
    let mut status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    if *status == 0 {
        let mut words = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the context is current and the pointer's place is valid.
        relaxed(|| check(unsafe { sys::cuMemHostAlloc(&mut words, WORDS * 4, flags) }, "cuMemHostAlloc"))??;
        // SAFETY: just allocated, that large.
        unsafe { words.cast::<u32>().write_bytes(0, WORDS) };
        *status = words as usize;
    }
    Ok(*status)
}

/// The status words, eight of 32 bits, at an address that host and device share.
#[unsafe(no_mangle)]
pub extern "C" fn tinymlir_device_status() -> *mut u32 {
    must(words()) as *mut u32
}

/// The message of a code: `messages[code - 1]` with `{1}` and `{2}` replaced by the numbers.
fn message(code: u32, numbers: [u32; 2], messages: &[&str]) -> String {
    let [first, second] = numbers.map(|number| (number as i32).to_string());
    match messages.get(code as usize - 1) {
        Some(text) => text.replace("{1}", &first).replace("{2}", &second),
        None => format!("a check on the device failed with code {code} ({first}, {second})"),
    }
}

/// Waits for this thread's work and returns the failed check, if kernels have reported one, as the
/// error `messages[code - 1]`, in which `{1}` and `{2}` stand for words 1 and 2. Clears the words.
pub fn check_device_status(messages: &[&str]) -> Result<(), Error> {
    stream::synchronize()?;
    let status = *STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    if status == 0 || stream::capturing() {
        return Ok(());
    }
    let words = status as *mut u32;
    // SAFETY: allocated for as many words and never freed; work that writes to them is over.
    unsafe {
        let code = words.read_volatile();
        if code == 0 {
            return Ok(());
        }
        let numbers = [words.add(1).read_volatile(), words.add(2).read_volatile()];
        for word in 0..WORDS {
            words.add(word).write_volatile(0);
        }
        Err(Error::new(message(code, numbers, messages)))
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![tinymlir_device_status]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_numbers() {
        let messages = ["index {1} is outside a table of {2} rows"];
        assert_eq!(message(1, [-3i32 as u32, 5], &messages), "index -3 is outside a table of 5 rows");
        assert!(message(7, [1, 2], &messages).contains("code 7"));
    }

    #[test]
    fn nothing_has_failed_where_nobody_asked() {
        assert_eq!(check_device_status(&[]), Ok(()));
    }
}
