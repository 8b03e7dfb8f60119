//! Buffers that Rust code owns, and copies between host and device.

use cudarc::driver::sys;

use super::driver::{Error, check_in};
use super::memory::{self, Memory, Owner};
use super::{must, staging, stream};

/// Device-visible memory, freed when dropped.
///
/// Work that other threads have queued on it must be over by then; work of the dropping thread need
/// not be.
#[derive(Debug)]
pub struct DeviceBuffer {
    address: usize,
    bytes: usize,
    memory: Memory,
}

impl DeviceBuffer {
    /// `bytes` bytes with unknown contents; zero is allowed.
    pub fn alloc(bytes: usize, memory: Memory) -> Result<Self, Error> {
        let address = memory::allocate(bytes, memory, Owner::Buffer)?;
        Ok(DeviceBuffer { address, bytes, memory })
    }

    /// A buffer that holds `contents`.
    pub fn from_host(contents: &[u8], memory: Memory) -> Result<Self, Error> {
        let buffer = Self::alloc(contents.len(), memory)?;
        buffer.copy_from_host(contents)?;
        Ok(buffer)
    }

    /// Takes over what compiled code allocated and returned; none if `pointer` is not the start of
    /// such an allocation that is live.
    pub fn adopt(pointer: *mut u8) -> Option<Self> {
        let (bytes, memory) = memory::adopt(pointer as usize)?;
        Some(DeviceBuffer { address: pointer as usize, bytes, memory })
    }

    /// The address, for the device, and for the host too if the memory is managed.
    pub fn ptr(&self) -> *mut u8 {
        self.address as *mut u8
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Overwrites the start of the buffer, behind queued work, and waits. An error if `contents` is
    /// longer.
    pub fn copy_from_host(&self, contents: &[u8]) -> Result<(), Error> {
        self.must_hold(contents.len())?;
        // SAFETY: the buffer holds that many bytes.
        unsafe { copy_from_host(self.ptr(), contents) }
    }

    /// Overwrites the start of the buffer, behind queued work; what this thread queues later sees it. Waits only for what the
    /// host may read directly, or is long. An error if `contents` is longer.
    pub fn queue_from_host(&self, contents: &[u8]) -> Result<(), Error> {
        self.must_hold(contents.len())?;
        let stream = stream::stream()?;
        let staged = match self.memory {
            Memory::Device if !contents.is_empty() && !stream::capturing() => staging::stage(stream, contents)?,
            _ => None,
        };
        let Some(source) = staged else { return self.copy_from_host(contents) };
        stream::set_behind_kernel(false);
        // SAFETY: the buffer holds that many bytes, and their copy stays until the stream was waited for.
        let result = unsafe { sys::cuMemcpyAsync(self.address as u64, source, contents.len(), stream) };
        check_in(result, "cuMemcpyAsync", || format!("{} bytes", contents.len()))
    }

    /// Waits for queued work and reads the start of the buffer. An error if `contents` is longer.
    pub fn copy_to_host(&self, contents: &mut [u8]) -> Result<(), Error> {
        self.must_hold(contents.len())?;
        // SAFETY: the buffer holds that many bytes.
        unsafe { copy_to_host(self.ptr(), contents) }
    }

    /// Waits for queued work and reads from byte `start` on. An error if the buffer ends before
    /// `contents` does.
    pub fn copy_range_to_host(&self, start: usize, contents: &mut [u8]) -> Result<(), Error> {
        self.must_hold(start.saturating_add(contents.len()))?;
        // SAFETY: the buffer holds that many bytes from there.
        unsafe { copy_to_host(self.ptr().wrapping_add(start), contents) }
    }

    /// Sets every byte, behind queued work.
    pub fn fill(&mut self, byte: u8) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        let stream = stream::stream()?;
        stream::set_behind_kernel(false);
        // SAFETY: the buffer holds that many bytes.
        let result = unsafe { sys::cuMemsetD8Async(self.address as u64, byte, self.bytes, stream) };
        check_in(result, "cuMemsetD8Async", || format!("{} bytes", self.bytes))
    }

    fn must_hold(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Error::new(format!("cannot copy {bytes} bytes: the device buffer holds {}", self.bytes)))
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        must(memory::release(self.address, Owner::Buffer));
    }
}

/// Copies `contents` to `target` behind the work this thread has queued, and waits.
///
/// # Safety
/// `target` points to as many bytes that the device can write.
pub unsafe fn copy_from_host(target: *mut u8, contents: &[u8]) -> Result<(), Error> {
    // SAFETY: as the caller vouches.
    unsafe { copy(target as u64, contents.as_ptr() as u64, contents.len()) }
}

/// Waits for the work this thread has queued and copies from `source`.
///
/// # Safety
/// `source` points to as many bytes that the device can read.
pub unsafe fn copy_to_host(source: *const u8, contents: &mut [u8]) -> Result<(), Error> {
    if !stream::capturing() && !contents.is_empty() {
        let stream = stream::stream()?;
        let bytes = contents.len();
        let fetched = staging::fetch(stream, contents, |place| {
            // SAFETY: as the caller vouches, and the staged place is that long.
            let result = unsafe { sys::cuMemcpyAsync(place, source as u64, bytes, stream) };
            check_in(result, "cuMemcpyAsync", || format!("{bytes} bytes"))
        })?;
        if fetched {
            return Ok(());
        }
    }
    // SAFETY: as the caller vouches.
    unsafe { copy(contents.as_mut_ptr() as u64, source as u64, contents.len()) }
}

/// # Safety
/// Both places hold that many bytes, known to the driver or ordinary host memory.
unsafe fn copy(target: u64, source: u64, bytes: usize) -> Result<(), Error> {
    if stream::capturing() {
        return Err(Error::new("cannot copy from or to the host while a graph is being captured"));
    }
    let stream = stream::stream()?;
    if bytes > 0 {
        // SAFETY: as the caller vouches; the wait below keeps the host's memory borrowed long enough.
        let result = unsafe { sys::cuMemcpyAsync(target, source, bytes, stream) };
        check_in(result, "cuMemcpyAsync", || format!("{bytes} bytes"))?;
    }
    stream::wait(stream)
}
