//! Device-visible memory: a pool over `cuMemAlloc` and `cuMemAllocManaged`, and a table of what is
//! live.
//!
//! A freed block goes to the next request of its size on the same stream. Work on one stream is in
//! order, so device memory is reusable at once. Managed memory is not: the host may write to a
//! fresh block without waiting, so a managed block first sits out a wait for its stream; where too
//! much has gathered there, allocation waits.
//!
//! While a graph is captured, its allocations and frees stay with the graph: each launch of it
//! writes to the same blocks, which nobody else may hold until the graph is dropped.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUresult, CUstream, CUstreamCaptureMode};

use super::driver::{Driver, Error, check, check_in, driver, failure, free_memory};
use super::{must, stream};
use crate::host::fail;
use crate::{Symbol, symbol_table};

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// On the device; the host reaches it by copies alone.
    Device,
    /// Migrates between device and host, which may both use the same pointer, though not at once.
    Managed,
}

impl Memory {
    fn call(self) -> &'static str {
        match self {
            Memory::Device => "cuMemAlloc",
            Memory::Managed => "cuMemAllocManaged",
        }
    }
}

/// Who is to free a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody: it is in the pool, or kept for a graph.
    Pool,
    /// The compiled code that allocated it, or the caller that got it as a result.
    Code,
    /// A [`super::DeviceBuffer`].
    Buffer,
}

struct Block {
    /// As taken from the driver.
    bytes: usize,
    /// As asked for.
    asked: usize,
    memory: Memory,
    owner: Owner,
    /// The stream it was last handed out on.
    stream: usize,
    /// The graph that uses it, or 0.
    graph: u64,
}

/// What is interchangeable: bytes, kind, stream.
type Class = (usize, Memory, usize);

/// A graph being captured: its number and the blocks it has freed.
struct Capture {
    graph: u64,
    free: HashMap<(usize, Memory), Vec<usize>>,
}

#[derive(Default)]
struct Pool {
    blocks: BTreeMap<usize, Block>,
    ready: HashMap<Class, Vec<usize>>,
    /// Managed blocks freed since the last wait, by stream.
    retired: HashMap<usize, Vec<usize>>,
    retired_bytes: usize,
    managed_bytes: usize,
    /// By the stream that is being captured.
    captures: HashMap<usize, Capture>,
    graphs: u64,
}

static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);
/// Blocks are multiples of this, the alignment that the driver gives.
const GRANULE: usize = 512;
/// Managed bytes that may gather before allocation waits for its stream to reuse them.
const RETIRED_LIMIT: usize = 1 << 30;

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// A block from the pool, handed out to `owner`.
    fn take(&mut self, class: Class, asked: usize, owner: Owner) -> Option<usize> {
        let (bytes, memory, stream) = class;
        let capture = self.captures.get_mut(&stream);
        let graph = capture.as_ref().map_or(0, |capture| capture.graph);
        let kept = capture.and_then(|capture| capture.free.get_mut(&(bytes, memory))?.pop());
        let address = kept.or_else(|| self.ready.get_mut(&class)?.pop())?;
        if let Some(block) = self.blocks.get_mut(&address) {
            (block.asked, block.owner, block.graph, block.stream) = (asked, owner, graph, stream);
        }
        Some(address)
    }

    /// Makes what was freed before a wait for `stream` available.
    fn reclaim(&mut self, stream: usize) {
        for address in self.retired.remove(&stream).unwrap_or_default() {
            if let Some(block) = self.blocks.get(&address) {
                self.retired_bytes -= block.bytes;
                self.ready.entry((block.bytes, block.memory, stream)).or_default().push(address);
            }
        }
    }

    /// Puts a block that nobody owns back, where `drained` says that its streams have been waited for.
    fn put(&mut self, address: usize, drained: bool) {
        let Some(block) = self.blocks.get(&address) else { return };
        if block.memory == Memory::Managed && !drained {
            self.retired_bytes += block.bytes;
            self.retired.entry(block.stream).or_default().push(address);
        } else {
            self.ready.entry((block.bytes, block.memory, block.stream)).or_default().push(address);
        }
    }

    /// Gives every ready block back to the driver.
    fn trim(&mut self) -> Result<(), Error> {
        for address in std::mem::take(&mut self.ready).into_values().flatten() {
            if let Some(block) = self.blocks.remove(&address)
                && block.memory == Memory::Managed
            {
                self.managed_bytes -= block.bytes;
            }
            // SAFETY: the driver gave it out, nobody owns it, and no work on it is queued.
            check(unsafe { sys::cuMemFree_v2(address as u64) }, "cuMemFree")?;
        }
        Ok(())
    }

    /// Whether the card has room for `bytes` more.
    fn room(&self, driver: &Driver, bytes: usize, memory: Memory) -> Result<(), Error> {
        if memory == Memory::Device {
            return Ok(()); // The driver itself says.
        }
        let free = free_memory()?;
        let left = driver.free_at_start.saturating_sub(self.managed_bytes).min(free);
        if bytes <= left {
            return Ok(());
        }
        let context = format!(
            "{bytes} bytes: the card had {} free at the start and has {free} now, {} are managed memory of this program",
            driver.free_at_start, self.managed_bytes
        );
        Err(failure(CUresult::CUDA_ERROR_OUT_OF_MEMORY, memory.call(), &context, ""))
    }

    /// A block from the driver.
    fn fresh(&mut self, driver: &Driver, (bytes, memory, stream): Class) -> Result<usize, Error> {
        self.room(driver, bytes, memory)?;
        let mut address = 0;
        // SAFETY: the context is current and the address's place is valid.
        let result = unsafe {
            match memory {
                Memory::Device => sys::cuMemAlloc_v2(&mut address, bytes),
                Memory::Managed => {
                    sys::cuMemAllocManaged(&mut address, bytes, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32)
                }
            }
        };
        check_in(result, memory.call(), || {
            let free = free_memory().map_or("unknown".into(), |free| free.to_string());
            format!("{bytes} bytes: {free} of {} are free", driver.device.total_memory)
        })?;
        if memory == Memory::Managed {
            self.managed_bytes += bytes;
        }
        let block = Block { bytes, asked: bytes, memory, owner: Owner::Pool, stream, graph: 0 };
        self.blocks.insert(address as usize, block);
        Ok(address as usize)
    }
}

/// Runs `call` with the driver functions allowed that a capture in this thread otherwise forbids.
pub(super) fn relaxed<R>(call: impl FnOnce() -> R) -> Result<R, Error> {
    if !stream::capturing() {
        return Ok(call());
    }
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the mode is valid for the call, which stores the previous one in it.
    check(unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }, "cuThreadExchangeStreamCaptureMode")?;
    let result = call();
    // SAFETY: as above.
    check(unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }, "cuThreadExchangeStreamCaptureMode")?;
    Ok(result)
}

/// `bytes` bytes for `owner`, zero included.
pub(super) fn allocate(bytes: usize, memory: Memory, owner: Owner) -> Result<usize, Error> {
    let driver = driver()?;
    let stream = stream::stream()?;
    let size = bytes
        .max(1)
        .checked_next_multiple_of(GRANULE)
        .ok_or_else(|| failure(CUresult::CUDA_ERROR_OUT_OF_MEMORY, memory.call(), &format!("{bytes} bytes"), ""))?;
    let class = (size, memory, stream as usize);
    if let Some(address) = pool().take(class, bytes, owner) {
        return Ok(address);
    }
    let may_wait = !stream::capturing();
    if may_wait && memory == Memory::Managed && pool().retired_bytes >= RETIRED_LIMIT {
        stream::wait(stream)?;
        if let Some(address) = pool().take(class, bytes, owner) {
            return Ok(address);
        }
    }
    let mut fresh = relaxed(|| pool().fresh(driver, class))?;
    if fresh.is_err() && may_wait {
        trim()?;
        fresh = pool().fresh(driver, class);
    }
    let address = fresh?;
    let mut pool = pool();
    let graph = pool.captures.get(&(stream as usize)).map_or(0, |capture| capture.graph);
    if let Some(block) = pool.blocks.get_mut(&address) {
        (block.asked, block.owner, block.graph) = (bytes, owner, graph);
    }
    Ok(address)
}

/// Takes a block back from `owner`; false if that is not who owns `address`.
pub(super) fn release(address: usize, owner: Owner) -> Result<bool, Error> {
    let here = stream::existing().map_or(0, |stream| stream as usize);
    let mut guard = pool();
    let Pool { blocks, captures, .. } = &mut *guard;
    let Some(block) = blocks.get_mut(&address).filter(|block| block.owner == owner) else {
        return Ok(false);
    };
    block.owner = Owner::Pool;
    if let Some(capture) = captures.get_mut(&here) {
        block.graph = capture.graph;
        capture.free.entry((block.bytes, block.memory)).or_default().push(address);
        return Ok(true);
    }
    if block.graph != 0 {
        return Ok(true); // Until the graph is dropped.
    }
    let there = block.stream;
    if here == there {
        guard.put(address, false);
        return Ok(true);
    }
    // Another thread's block: whatever either has queued on it must be over first.
    drop(guard);
    stream::synchronize()?;
    stream::wait(there as CUstream)?;
    pool().put(address, true);
    Ok(true)
}

/// Told after each wait for a stream.
pub(super) fn waited_for(stream: usize) {
    pool().reclaim(stream);
}

/// Waits for everything that is queued and gives pooled memory back to the driver.
pub fn trim() -> Result<(), Error> {
    driver()?;
    // SAFETY: the context is current.
    check(unsafe { sys::cuCtxSynchronize() }, "cuCtxSynchronize")?;
    let mut pool = pool();
    for stream in pool.retired.keys().copied().collect::<Vec<_>>() {
        pool.reclaim(stream);
    }
    pool.trim()
}

/// Starts keeping what happens on `stream` for a graph, whose number it returns.
pub(super) fn begin_capture(stream: CUstream) -> u64 {
    let mut pool = pool();
    pool.graphs += 1;
    let graph = pool.graphs;
    pool.captures.insert(stream as usize, Capture { graph, free: HashMap::new() });
    graph
}

pub(super) fn end_capture(stream: CUstream) {
    pool().captures.remove(&(stream as usize));
}

/// Lets go of a graph's blocks, after everything queued is over. Those that are live stay so.
pub(super) fn drop_graph(graph: u64) {
    let mut pool = pool();
    let mut free = Vec::new();
    for (&address, block) in &mut pool.blocks {
        if block.graph == graph {
            block.graph = 0;
            if block.owner == Owner::Pool {
                free.push(address);
            }
        }
    }
    for address in free {
        pool.put(address, true);
    }
}

/// Makes a live allocation of compiled code a buffer's; its size, or none if it is no such thing.
pub(super) fn adopt(address: usize) -> Option<(usize, Memory)> {
    let mut pool = pool();
    let block = pool.blocks.get_mut(&address).filter(|block| block.owner == Owner::Code)?;
    block.owner = Owner::Buffer;
    Some((block.asked, block.memory))
}

/// Which memory `pointer` points into, if that is memory of this pool that somebody owns.
pub fn memory_of(pointer: *const u8) -> Option<Memory> {
    let pool = pool();
    let (start, block) = pool.blocks.range(..=pointer as usize).next_back()?;
    let inside = (pointer as usize - start) < block.bytes && block.owner != Owner::Pool;
    inside.then_some(block.memory)
}

/// Whether compiled code allocated `pointer` through `mgpuMemAlloc` and has not freed it.
pub fn is_live(pointer: *const u8) -> bool {
    pool().blocks.get(&(pointer as usize)).is_some_and(|block| block.owner == Owner::Code)
}

/// Frees `pointer` if [`is_live`]; says whether it did. Ends the program if a wait fails.
pub fn free_if_live(pointer: *mut u8) -> bool {
    must(release(pointer as usize, Owner::Code))
}

/// How many allocations of compiled code are live on the device.
pub fn live_allocations() -> usize {
    pool().blocks.values().filter(|block| block.owner == Owner::Code).count()
}

/// Allocates `bytes` bytes, managed if `shared` is not zero. Never returns null.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemAlloc(bytes: i64, _stream: *mut c_void, shared: u8) -> *mut c_void {
    let memory = if shared != 0 { Memory::Managed } else { Memory::Device };
    let Ok(bytes) = usize::try_from(bytes) else {
        fail(&format!("{}: cannot allocate {bytes} bytes: the size of a buffer overflows", memory.call()));
    };
    must(allocate(bytes, memory, Owner::Code)) as *mut c_void
}

/// Frees what `mgpuMemAlloc` returned, behind the work that is queued. Null is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemFree(pointer: *mut c_void, _stream: *mut c_void) {
    if !pointer.is_null() && !must(release(pointer as usize, Owner::Code)) {
        fail(&format!(
            "mgpuMemFree: the compiled code freed {pointer:p}, which it did not allocate or had freed already"
        ));
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuMemAlloc, mgpuMemFree]
}
