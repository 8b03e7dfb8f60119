//! What happens when compiled code, or the compiler on code nested very deeply, fills its stack: one message, exit status 1.

use super::output;
use std::{ffi::c_void, mem, ptr, sync::OnceLock};

/// How far from the stack pointer an access that ran off a stack lies at most.
const REACH: usize = 1 << 20;

/// What handled the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// From here on a full stack, of a thread of Rust's or of an emulated one, ends the program as [`super::fail()`] does. For programs
/// to call once, not for libraries: it replaces the process's handler of `SIGSEGV`, and hands on whatever else arrives there.
pub fn report_full_stacks() {
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) = on_fault;
    // SAFETY: plain data of C's, of which zero is a valid value; the handler has the form that SA_SIGINFO asks for, and Rust
    // has given each of its threads a stack for it.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (mem::zeroed(), mem::zeroed());
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut new.sa_mask);
        if libc::sigaction(libc::SIGSEGV, &raw const new, &raw mut old) == 0 {
            let _ = BEFORE.set(old);
        }
    }
}

extern "C" fn on_fault(_: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives both to a handler with SA_SIGINFO.
    let (address, stack) = unsafe { ((*info).si_addr() as usize, stack_pointer(context.cast())) };
    if stack.is_none_or(|stack| address.abs_diff(stack) >= REACH) {
        // Back where it came from, where the fault happens again under the handler before.
        // SAFETY: what sigaction gave.
        unsafe { libc::sigaction(libc::SIGSEGV, BEFORE.get().map_or(ptr::null(), ptr::from_ref), ptr::null_mut()) };
        return;
    }
    // The code that faulted holds no lock of ours: it ran on a stack that had room for our functions until it called itself.
    output::flush();
    let text = b"error: the stack is full: calls are nested too deeply (does a function call itself without end?)\n";
    // SAFETY: a text of that length; no destructors run.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(1)
    }
}

/// Where the stack of the thread that was interrupted ended.
///
/// # Safety
/// `context` is what a handler got.
unsafe fn stack_pointer(context: *const libc::ucontext_t) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller vouches.
    return Some(unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] } as usize);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as the caller vouches.
    return Some(unsafe { (*context).uc_mcontext.sp } as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return None;
}
