//! What a failed check in a kernel leaves behind, and the message that it becomes.
//!
//! A module whose kernels check something defines two globals. `tinymlir_messages` holds texts, each ended by a zero byte.
//! `tinymlir_failure` is three words of 64 bits: the address of a report, the code of the module's first message, and a lock of
//! the kernels' own. [`prepare`] fills in the first two. The first thread that fails writes to the report the code of its
//! message, last, and two values for the places `{0}` and `{1}` in it; then it traps. The report is host memory, which stays
//! readable after that, so that the error that any later call returns can say what happened.

use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys;

use super::driver::{Error, check};
use super::memory::relaxed;
use crate::host::with_values;

const WORDS: usize = 3;

struct Status {
    /// The report's address, or 0 while no module wants one.
    report: usize,
    /// Of all modules; a code is the position behind its message.
    messages: Vec<String>,
}

static STATUS: Mutex<Status> = Mutex::new(Status { report: 0, messages: Vec::new() });

fn status() -> MutexGuard<'static, Status> {
    STATUS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells a module that was just loaded where its kernels report, and keeps its messages. `global` finds the address and the
/// bytes of one of its globals.
pub(super) fn prepare(global: impl Fn(&CStr) -> Result<Option<(u64, usize)>, Error>) -> Result<(), Error> {
    let (Some((messages, bytes)), Some((failure, _))) = (global(c"tinymlir_messages")?, global(c"tinymlir_failure")?)
    else {
        return Ok(());
    };
    let mut status = status();
    let mut text = vec![0u8; bytes];
    relaxed(|| -> Result<(), Error> {
        if status.report == 0 {
            let mut report = std::ptr::null_mut();
            let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
            // SAFETY: the context is current and the pointer's place is valid.
            check(unsafe { sys::cuMemHostAlloc(&mut report, WORDS * 8, flags) }, "cuMemHostAlloc")?;
            // SAFETY: just allocated, that large.
            unsafe { report.cast::<u64>().write_bytes(0, WORDS) };
            status.report = report as usize;
        }
        let words = [status.report as u64, status.messages.len() as u64 + 1];
        // SAFETY: both sides are that large, and live through the calls, which wait.
        unsafe {
            check(sys::cuMemcpyDtoH_v2(text.as_mut_ptr().cast(), messages, bytes), "cuMemcpyDtoH")?;
            check(sys::cuMemcpyHtoD_v2(failure, words.as_ptr().cast(), size_of_val(&words)), "cuMemcpyHtoD")
        }
    })??;
    status.messages.extend(split(&text));
    Ok(())
}

/// The texts that end in zero bytes.
fn split(bytes: &[u8]) -> Vec<String> {
    let texts = bytes.split_inclusive(|b| *b == 0).filter_map(|text| text.strip_suffix(&[0]));
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// What the check that failed in a kernel says, if one has.
pub(super) fn reported() -> Option<Error> {
    let status = STATUS.try_lock().ok()?;
    if status.report == 0 {
        return None;
    }
    let word = |i: usize| {
        // SAFETY: allocated for as many words and never freed.
        unsafe { (status.report as *const u64).add(i).read_volatile() }
    };
    let message = status.messages.get(usize::try_from(word(0)).ok()?.checked_sub(1)?)?;
    Some(Error::new(with_values(message, word(1) as i64, word(2) as i64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_in_zero_bytes() {
        assert_eq!(split(b"a.mlir:1:2: {0} of {1}\0no luck\0"), ["a.mlir:1:2: {0} of {1}", "no luck"]);
        assert_eq!(split(b""), [""; 0]);
    }

    #[test]
    fn nothing_is_reported_where_no_module_checks() {
        assert_eq!(reported(), None);
    }
}
