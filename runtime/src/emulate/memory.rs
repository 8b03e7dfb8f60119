//! Memory of emulated kernels: what the host allocates for them, asynchronous copies, and what a card forbids.

use super::{Thread, stop};
use crate::{
    Symbol,
    host::{_mlir_memref_to_llvm_aligned_alloc, _mlir_memref_to_llvm_free},
    symbol_table,
};
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

/// What memory is full of before something is written to it: as a float of any width it is NaN.
pub(super) const POISON: u8 = 0xff;
/// As a card's driver aligns.
const ALIGNMENT: i64 = 512;

/// A copy that a thread has asked for.
struct Copy {
    target: *mut u8,
    source: *const u8,
    /// Bytes to write, and those of them that are read; the others are zeros.
    bytes: usize,
    read: usize,
}

/// The copies of a thread that have not been waited for.
#[derive(Default)]
pub(super) struct Copies {
    open: Vec<Copy>,
    groups: Vec<Vec<Copy>>,
}

impl Copy {
    fn make(&self) {
        // SAFETY: the kernel asked for it, and its target was checked.
        unsafe {
            ptr::copy_nonoverlapping(self.source, self.target, self.read);
            ptr::write_bytes(self.target.add(self.read), 0, self.bytes - self.read);
        }
    }
}

/// Copies `bytes` bytes to shared memory, of which the first `read` come from `source`, when the thread waits for it.
///
/// # Safety
/// The thread is the one that runs; `source` has so many bytes until then.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tinymlirEmulatedCopy(
    thread: *mut Thread,
    target: *mut u8,
    source: *const u8,
    bytes: i32,
    read: i32,
) {
    let (bytes, read) = (bytes.max(0) as usize, read.clamp(0, bytes.max(0)) as usize);
    // SAFETY: as the caller vouches.
    unsafe { (*thread).copies.open.push(Copy { target, source, bytes, read }) };
}

/// Ends a group of copies.
///
/// # Safety
/// The thread is the one that runs.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tinymlirEmulatedCommit(thread: *mut Thread) {
    // SAFETY: as the caller vouches.
    let copies = unsafe { &mut (*thread).copies };
    copies.groups.push(std::mem::take(&mut copies.open));
}

/// Waits for all groups of copies but the last `left`.
///
/// # Safety
/// The thread is the one that runs.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tinymlirEmulatedWait(thread: *mut Thread, left: i32) {
    // SAFETY: as the caller vouches.
    let groups = unsafe { &mut (*thread).copies.groups };
    let over = groups.len().saturating_sub(left.max(0) as usize);
    groups.drain(..over).flatten().for_each(|copy| copy.make());
}

/// Ends the program: the access that `what` names is outside of shared memory, or not aligned to `alignment` bytes.
///
/// # Safety
/// The thread is the one that runs; the text ends with a zero byte.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tinymlirEmulatedBadAccess(
    thread: *const Thread,
    what: *const c_char,
    address: *const u8,
    bytes: i64,
    alignment: i64,
) -> ! {
    // SAFETY: as the caller vouches.
    let (thread, what) = unsafe { (&*thread, CStr::from_ptr(what).to_string_lossy()) };
    let place = thread.place();
    if !(address as usize).is_multiple_of(alignment as usize) {
        let address = address as usize;
        stop(&format!("{place}: {what} is at {address:#x}, which is not a multiple of {alignment}"));
    }
    let offset = (address as isize).wrapping_sub(thread.shared as isize);
    let size = thread.end as usize - thread.shared as usize;
    stop(&format!(
        "{place}: {what} is of bytes {offset} to {} of shared memory, which has {size}",
        offset + bytes as isize
    ))
}

/// Allocates for host and kernels, filled with what is no number.
#[unsafe(no_mangle)]
pub extern "C" fn tinymlirEmulatedMemAlloc(bytes: i64, _stream: *mut c_void, _shared: u8) -> *mut u8 {
    let pointer = _mlir_memref_to_llvm_aligned_alloc(ALIGNMENT, bytes);
    // SAFETY: it has that many bytes, or the program has ended.
    unsafe { ptr::write_bytes(pointer, POISON, bytes as usize) };
    pointer
}

#[unsafe(no_mangle)]
pub extern "C" fn tinymlirEmulatedMemFree(pointer: *mut u8, _stream: *mut c_void) {
    _mlir_memref_to_llvm_free(pointer);
}

/// # Safety
/// Both have so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirEmulatedMemcpy(target: *mut u8, source: *const u8, bytes: u64, _stream: *mut c_void) {
    // SAFETY: as the caller vouches.
    unsafe { ptr::copy(source, target, bytes as usize) }
}

/// # Safety
/// There are so many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirEmulatedMemset32(target: *mut u32, value: u32, count: u64, _stream: *mut c_void) {
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts_mut(target, count as usize).fill(value) }
}

/// # Safety
/// There are so many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirEmulatedMemset16(target: *mut u16, value: u16, count: u64, _stream: *mut c_void) {
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts_mut(target, count as usize).fill(value) }
}

/// Streams and events: kernels are over when their launch returns, so that there is nothing to wait for.
macro_rules! nothing {
    ($($name:ident($($argument:ident),*) $(-> $result:ty)?),* $(,)?) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: *mut c_void),*) $(-> $result)? {
            $( ptr::dangling_mut::<u8>() as $result )?
        })*
    };
}
nothing![
    tinymlirEmulatedStreamCreate() -> *mut c_void,
    tinymlirEmulatedStreamDestroy(_stream),
    tinymlirEmulatedStreamSynchronize(_stream),
    tinymlirEmulatedStreamWaitEvent(_stream, _event),
    tinymlirEmulatedEventCreate() -> *mut c_void,
    tinymlirEmulatedEventDestroy(_event),
    tinymlirEmulatedEventSynchronize(_event),
    tinymlirEmulatedEventRecord(_event, _stream),
];

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![
        tinymlirEmulatedCopy,
        tinymlirEmulatedCommit,
        tinymlirEmulatedWait,
        tinymlirEmulatedBadAccess,
        tinymlirEmulatedMemAlloc,
        tinymlirEmulatedMemFree,
        tinymlirEmulatedMemcpy,
        tinymlirEmulatedMemset32,
        tinymlirEmulatedMemset16,
        tinymlirEmulatedStreamCreate,
        tinymlirEmulatedStreamDestroy,
        tinymlirEmulatedStreamSynchronize,
        tinymlirEmulatedStreamWaitEvent,
        tinymlirEmulatedEventCreate,
        tinymlirEmulatedEventDestroy,
        tinymlirEmulatedEventSynchronize,
        tinymlirEmulatedEventRecord,
    ]
}
