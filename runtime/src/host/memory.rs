//! Allocation for compiled code, with a table of what is live.
//!
//! `finalize-memref-to-llvm{use-generic-functions=true}` calls these instead of `malloc` and `free`.
//! The table lets a caller free the results it was given without freeing what merely passed through,
//! and turns a double free into a message. Memory that cannot be had ends the program.
//!
//! Large blocks are kept when they are freed and given out again, since the kernel clears every page that it hands out:
//! a function that is called often would wait for that longer than it computes. What is kept and what is live together never exceed
//! the most that was ever live.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fail;
use crate::{Symbol, symbol_table};

/// Every allocation starts on a cache line, which is also the width of an AVX-512 register.
const ALIGNMENT: usize = 64;
const SHARDS: usize = 16;
/// Blocks of so many bytes or more are kept; what is smaller the C library keeps itself.
const LARGE: usize = 1 << 18;

/// Sizes of live allocations by address; sharded so that threads seldom meet.
static LIVE: [Mutex<Option<HashMap<usize, usize>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn shard(address: usize) -> MutexGuard<'static, Option<HashMap<usize, usize>>> {
    // The low bits are zero by alignment; a multiplicative hash spreads pages and lines alike.
    let hash = (address as u64 >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
    LIVE[hash as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The large blocks: how many bytes are live, the most that ever were, and what was freed and is kept, as sizes and addresses.
struct Large {
    live: usize,
    most: usize,
    kept: Vec<(usize, usize)>,
}

static BLOCKS: Mutex<Large> = Mutex::new(Large { live: 0, most: 0, kept: Vec::new() });

impl Large {
    fn lock() -> MutexGuard<'static, Large> {
        BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `bytes` as live. A block that is kept and fits: the smallest, unless more than a quarter of it would lie idle.
    fn take(&mut self, bytes: usize, alignment: usize) -> Option<(usize, usize)> {
        let fits = |&(size, address): &(usize, usize)| {
            size >= bytes && size - bytes <= size / 4 && address.is_multiple_of(alignment)
        };
        let best = (0..self.kept.len()).filter(|i| fits(&self.kept[*i])).min_by_key(|i| self.kept[*i].0);
        let found = best.map(|i| self.kept.swap_remove(i));
        self.live += found.map_or(bytes, |(size, _)| size);
        self.most = self.most.max(self.live);
        self.trim();
        found
    }

    /// Keeps a block that was live.
    fn keep(&mut self, size: usize, address: usize) {
        self.live -= size;
        self.kept.push((size, address));
        self.trim();
    }

    /// Frees the blocks that were kept longest, as long as there are more than the most that was live.
    fn trim(&mut self) {
        while self.live + self.kept.iter().map(|(size, _)| size).sum::<usize>() > self.most && !self.kept.is_empty() {
            let (_, address) = self.kept.remove(0);
            // SAFETY: posix_memalign returned it, and nothing but this list has known it since it was freed.
            unsafe { libc::free(address as *mut libc::c_void) };
        }
    }
}

fn allocate(size: i64, alignment: i64) -> *mut u8 {
    let Ok(bytes) = usize::try_from(size) else {
        fail(&format!("cannot allocate {size} bytes: the size of a buffer overflows"));
    };
    let alignment = usize::try_from(alignment).unwrap_or(0).max(ALIGNMENT);
    if !alignment.is_power_of_two() {
        fail(&format!("cannot allocate {size} bytes: the alignment {alignment} is not a power of two"));
    }
    if bytes >= LARGE
        && let Some((size, address)) = Large::lock().take(bytes, alignment)
    {
        shard(address).get_or_insert_default().insert(address, size);
        return address as *mut u8;
    }
    let mut pointer = std::ptr::null_mut();
    // SAFETY: `pointer` is writable; the alignment is a power of two and a multiple of a pointer's.
    let status = unsafe { libc::posix_memalign(&mut pointer, alignment, bytes.max(1)) };
    if status != 0 || pointer.is_null() {
        fail(&format!("out of memory: the compiled code asked for {bytes} bytes ({} bytes are live)", live_bytes()));
    }
    shard(pointer as usize).get_or_insert_default().insert(pointer as usize, bytes);
    pointer.cast()
}

/// Allocates `size` bytes, aligned to 64, zero bytes included. Never returns null.
#[unsafe(no_mangle)]
pub extern "C" fn _mlir_memref_to_llvm_alloc(size: i64) -> *mut u8 {
    allocate(size, 0)
}

/// Allocates `size` bytes aligned to `alignment`, a power of two, or 64 if that is more.
#[unsafe(no_mangle)]
pub extern "C" fn _mlir_memref_to_llvm_aligned_alloc(alignment: i64, size: i64) -> *mut u8 {
    allocate(size, alignment)
}

/// Frees what one of the functions above returned. Null is ignored; any other pointer ends the
/// program.
#[unsafe(no_mangle)]
pub extern "C" fn _mlir_memref_to_llvm_free(pointer: *mut u8) {
    if !pointer.is_null() && !free_if_live(pointer) {
        fail(&format!("the compiled code freed {pointer:p}, which it did not allocate or had freed already"));
    }
}

/// Whether host code of the compiled module allocated `pointer` and has not freed it.
pub fn is_live(pointer: *const u8) -> bool {
    shard(pointer as usize).as_ref().is_some_and(|live| live.contains_key(&(pointer as usize)))
}

/// Frees `pointer` if [`is_live`]; says whether it did.
pub fn free_if_live(pointer: *mut u8) -> bool {
    let known = shard(pointer as usize).as_mut().and_then(|live| live.remove(&(pointer as usize)));
    match known {
        Some(bytes) if bytes >= LARGE => Large::lock().keep(bytes, pointer as usize),
        // SAFETY: posix_memalign returned it, and taking it out of the table made it ours alone.
        Some(_) => unsafe { libc::free(pointer.cast()) },
        None => {}
    }
    known.is_some()
}

fn sum_over_shards(measure: impl Fn(&HashMap<usize, usize>) -> usize) -> usize {
    LIVE.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, &measure)).sum()
}

/// How many host allocations of compiled code are live.
pub fn live_allocations() -> usize {
    sum_over_shards(HashMap::len)
}

/// How many bytes those allocations hold.
pub fn live_bytes() -> usize {
    sum_over_shards(|live| live.values().sum())
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![_mlir_memref_to_llvm_alloc, _mlir_memref_to_llvm_aligned_alloc, _mlir_memref_to_llvm_free]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_and_tracked_until_freed() {
        let a = _mlir_memref_to_llvm_alloc(0);
        let b = _mlir_memref_to_llvm_aligned_alloc(4096, 100);
        assert_eq!(a as usize % 64, 0);
        assert_eq!(b as usize % 4096, 0);
        assert!(is_live(a) && is_live(b));
        assert!(!is_live(b.wrapping_add(1)), "only the start of an allocation is its name");
        _mlir_memref_to_llvm_free(a);
        assert!(!is_live(a));
        assert!(free_if_live(b));
        assert!(!free_if_live(b), "a second free is refused");
        _mlir_memref_to_llvm_free(std::ptr::null_mut());
    }

    #[test]
    fn large_blocks_are_given_out_again() {
        let mut blocks = Large { live: 0, most: 0, kept: vec![] };
        let block = |bytes: usize| {
            let layout = std::alloc::Layout::from_size_align(bytes, 64).unwrap();
            // SAFETY: the layout is not empty; the system's allocator, which `trim` frees to, is libc's.
            (bytes, unsafe { std::alloc::GlobalAlloc::alloc(&std::alloc::System, layout) } as usize)
        };
        let (small, large) = (block(6 << 20), block(8 << 20));
        assert_eq!(blocks.take(small.0, 64), None);
        assert_eq!(blocks.take(large.0, 64), None);
        blocks.keep(small.0, small.1);
        blocks.keep(large.0, large.1);
        assert_eq!(blocks.take(1 << 20, 64), None, "more than a quarter would lie idle");
        assert_eq!(blocks.kept, [large], "what is live and kept exceeds what was ever live: the oldest is freed");
        assert_eq!(blocks.take(7 << 20, 64), Some(large));
        assert_eq!((blocks.live, blocks.most), (9 << 20, 14 << 20));
        blocks.keep(large.0, large.1);
        assert_eq!(blocks.take(large.0, 1 << 62), None, "its alignment is less");
        assert!(blocks.kept.is_empty() || blocks.live + blocks.kept[0].0 <= blocks.most);
    }

    #[test]
    fn threads_share_the_table() {
        let pointers: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..100).map(|i| _mlir_memref_to_llvm_alloc(i) as usize).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(pointers.iter().all(|&pointer| free_if_live(pointer as *mut u8)));
        assert!(pointers.iter().all(|&pointer| !is_live(pointer as *const u8)));
    }
}
