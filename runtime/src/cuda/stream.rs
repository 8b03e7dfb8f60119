//! Streams and events: one stream a thread, events from a pool.
//!
//! Every `mgpuStreamCreate` returns the calling thread's stream and destroying it does nothing, so
//! that all work of a thread runs in program order. When a thread ends, its stream goes to the next
//! that needs one; what was queued still runs first.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUstream, CUstream_flags};

use super::driver::{Error, check, check_in, driver};
use super::{launch, memory, must, staging};
use crate::{Symbol, symbol_table};

/// A thread's stream, handed on when the thread ends.
struct Owned(usize);

impl Drop for Owned {
    fn drop(&mut self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

static IDLE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static EVENTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

thread_local! {
    static STREAM: Cell<Option<Owned>> = const { Cell::new(None) };
    static HANDLE: Cell<usize> = const { Cell::new(0) };
    static CAPTURING: Cell<bool> = const { Cell::new(false) };
    static BEHIND_KERNEL: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread's stream, with the context current.
pub(super) fn stream() -> Result<CUstream, Error> {
    driver()?;
    match HANDLE.try_with(Cell::get) {
        Ok(0) => {}
        Ok(handle) => return Ok(handle as CUstream),
        Err(_) => return Err(Error::new("CUDA was used by a thread that is ending")),
    }
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let handle = match idle {
        Some(handle) => handle,
        None => {
            let mut created = std::ptr::null_mut();
            let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
            // SAFETY: the context is current and the handle's place is valid.
            check(unsafe { sys::cuStreamCreate(&mut created, flags) }, "cuStreamCreate")?;
            created as usize
        }
    };
    HANDLE.set(handle);
    STREAM.set(Some(Owned(handle)));
    Ok(handle as CUstream)
}

/// The calling thread's stream, if it has one.
pub(super) fn existing() -> Option<CUstream> {
    HANDLE.try_with(Cell::get).ok().filter(|&handle| handle != 0).map(|handle| handle as CUstream)
}

/// Whether this thread is capturing a graph: nothing runs then, and nothing may be waited for.
pub(super) fn capturing() -> bool {
    CAPTURING.try_with(Cell::get).unwrap_or(false)
}

pub(super) fn set_capturing(capturing: bool) {
    CAPTURING.set(capturing);
}

/// Whether what this thread queued last is a kernel, with no wait since: only then may the next one start early.
pub(super) fn behind_kernel() -> bool {
    BEHIND_KERNEL.try_with(Cell::get).unwrap_or(false)
}

/// Says whether what is queued now is a kernel. What waits, copies, fills or records an event says no, also while a graph is
/// being captured, so that everything before such a point is complete for everything after it.
pub(super) fn set_behind_kernel(kernel: bool) {
    let _ = BEHIND_KERNEL.try_with(|behind| behind.set(kernel));
}

/// Waits for everything queued on `stream`, and makes the memory freed meanwhile available.
pub(super) fn wait(stream: CUstream) -> Result<(), Error> {
    driver()?;
    set_behind_kernel(false);
    // SAFETY: the stream exists: streams are never destroyed.
    check_in(unsafe { sys::cuStreamSynchronize(stream) }, "cuStreamSynchronize", launch::last_kernel)?;
    memory::waited_for(stream as usize);
    staging::waited_for(stream as usize);
    Ok(())
}

/// Waits for everything that this thread has queued; a failure of any of it is returned here.
///
/// Does nothing while a graph is being captured.
pub fn synchronize() -> Result<(), Error> {
    match existing() {
        Some(stream) if !capturing() => wait(stream),
        _ => Ok(()),
    }
}

/// The calling thread's stream.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamCreate() -> *mut c_void {
    must(stream()).cast()
}

/// Nothing: the stream stays its thread's.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamDestroy(_stream: *mut c_void) {}

/// Waits for the stream, except while a graph is being captured.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamSynchronize(stream: *mut c_void) {
    set_behind_kernel(false);
    if !capturing() {
        must(wait(stream.cast()));
    }
}

/// Makes later work of the stream wait for the event.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamWaitEvent(stream: *mut c_void, event: *mut c_void) {
    must(driver());
    set_behind_kernel(false);
    // SAFETY: compiled code passes handles that the functions here returned.
    must(check(unsafe { sys::cuStreamWaitEvent(stream as CUstream, event as CUevent, 0) }, "cuStreamWaitEvent"));
}

/// An event without timing.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventCreate() -> *mut c_void {
    must(driver());
    if let Some(event) = EVENTS.lock().unwrap_or_else(PoisonError::into_inner).pop() {
        return event as *mut c_void;
    }
    let mut event = std::ptr::null_mut();
    let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
    // SAFETY: the context is current and the handle's place is valid.
    must(check(unsafe { sys::cuEventCreate(&mut event, flags) }, "cuEventCreate"));
    event.cast()
}

/// Returns the event to the pool; what was asked to wait for it still does.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventDestroy(event: *mut c_void) {
    if !event.is_null() {
        EVENTS.lock().unwrap_or_else(PoisonError::into_inner).push(event as usize);
    }
}

/// Waits for the event, except while a graph is being captured.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventSynchronize(event: *mut c_void) {
    must(driver());
    set_behind_kernel(false);
    if !capturing() {
        // SAFETY: as for mgpuStreamWaitEvent.
        let result = unsafe { sys::cuEventSynchronize(event as CUevent) };
        must(check_in(result, "cuEventSynchronize", launch::last_kernel));
    }
}

/// Records the event behind what the stream holds.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventRecord(event: *mut c_void, stream: *mut c_void) {
    must(driver());
    set_behind_kernel(false);
    // SAFETY: as for mgpuStreamWaitEvent.
    must(check(unsafe { sys::cuEventRecord(event as CUevent, stream as CUstream) }, "cuEventRecord"));
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![
        mgpuStreamCreate,
        mgpuStreamDestroy,
        mgpuStreamSynchronize,
        mgpuStreamWaitEvent,
        mgpuEventCreate,
        mgpuEventDestroy,
        mgpuEventSynchronize,
        mgpuEventRecord,
    ]
}
