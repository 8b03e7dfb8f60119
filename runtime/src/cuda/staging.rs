//! Page-locked host memory through which small contents go to the device without a wait, and come back with a single one.
//!
//! Each stream has a piece, of which each content takes some, behind the last one. What a stream was waited for is no longer read, so that
//! the piece is used from its beginning again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUstream};

use super::driver::{Error, check};
use super::stream;

/// The bytes of a piece, and the multiple of them that contents take.
const BYTES: usize = 64 * 1024;
const STEP: usize = 16;

#[derive(Clone, Copy)]
struct Piece {
    address: usize,
    used: usize,
}

/// By stream. They are never freed, as streams are not.
static PIECES: Mutex<Option<HashMap<usize, Piece>>> = Mutex::new(None);

fn pieces() -> MutexGuard<'static, Option<HashMap<usize, Piece>>> {
    PIECES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The address of a copy of `contents` that work queued on this thread's `stream` may read; nothing where they are too long for that.
/// Waits for the stream where its piece is full; no graph is being captured.
pub(super) fn stage(stream: CUstream, contents: &[u8]) -> Result<Option<u64>, Error> {
    let place = reserve(stream, contents.len())?;
    if let Some(place) = place {
        // SAFETY: as many bytes of the piece, which nothing that is queued reads.
        unsafe { (place as *mut u8).copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
    }
    Ok(place)
}

/// Fills `contents` by the copy that `queue` queues on this thread's `stream`, to the address that it is given, and waits; false where
/// they are too long for that.
pub(super) fn fetch(
    stream: CUstream,
    contents: &mut [u8],
    queue: impl FnOnce(u64) -> Result<(), Error>,
) -> Result<bool, Error> {
    let Some(place) = reserve(stream, contents.len())? else { return Ok(false) };
    queue(place)?;
    stream::wait(stream)?;
    // SAFETY: as many bytes of the piece, which only this thread uses, and the copy to it is over.
    unsafe { contents.as_mut_ptr().copy_from_nonoverlapping(place as *const u8, contents.len()) };
    Ok(true)
}

/// The address of as many bytes that nothing queued uses.
fn reserve(stream: CUstream, bytes: usize) -> Result<Option<u64>, Error> {
    if bytes > BYTES {
        return Ok(None);
    }
    let key = stream as usize;
    let known = pieces().get_or_insert_default().get(&key).copied();
    let mut piece = known.map_or_else(allocate, Ok)?;
    if piece.used + bytes > BYTES {
        stream::wait(stream)?;
        piece.used = 0;
    }
    let place = piece.address + piece.used;
    piece.used = (piece.used + bytes).next_multiple_of(STEP);
    pieces().get_or_insert_default().insert(key, piece);
    Ok(Some(place as u64))
}

fn allocate() -> Result<Piece, Error> {
    let mut address = std::ptr::null_mut();
    // SAFETY: the context is current and the pointer's place is valid.
    check(unsafe { sys::cuMemHostAlloc(&mut address, BYTES, sys::CU_MEMHOSTALLOC_PORTABLE) }, "cuMemHostAlloc")?;
    Ok(Piece { address: address as usize, used: 0 })
}

/// Says that everything queued on a stream is over.
pub(super) fn waited_for(stream: usize) {
    if let Some(piece) = pieces().as_mut().and_then(|pieces| pieces.get_mut(&stream)) {
        piece.used = 0;
    }
}
