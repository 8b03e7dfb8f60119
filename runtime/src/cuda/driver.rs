//! The driver, the process's device and context, and what a failed call says.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};

use super::status;
use crate::host::fail;
use crate::{Symbol, symbol_table};

/// What a CUDA call, or the lack of a driver, has to say: `CALL: ERROR_NAME (CONTEXT): DETAIL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The driver's text that `get` returns for `result`.
fn driver_text(result: CUresult, get: unsafe fn(CUresult, *mut *const c_char) -> CUresult) -> Option<String> {
    let mut text = std::ptr::null();
    // SAFETY: both functions that are passed store a pointer to a static string, or null.
    unsafe {
        get(result, &mut text);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// The failure `result` of `call`; an empty context or detail is left out or filled in. Where a check in a kernel has failed,
/// that is the failure.
pub(super) fn failure(result: CUresult, call: &str, context: &str, detail: &str) -> Error {
    if let Some(error) = status::reported() {
        return error;
    }
    let name = driver_text(result, sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", result as u32));
    let context = if context.is_empty() { String::new() } else { format!(" ({context})") };
    let detail = match detail {
        "" => driver_text(result, sys::cuGetErrorString).unwrap_or_default(),
        text => text.to_owned(),
    };
    let colon = if detail.is_empty() { "" } else { ": " };
    Error(format!("{call}: {name}{context}{colon}{detail}"))
}

/// [`failure`] unless `result` is success; `context` is asked for only then.
pub(super) fn check_in(result: CUresult, call: &str, context: impl FnOnce() -> String) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failure(result, call, &context(), "")) }
}

/// [`check_in`] without a context.
pub(super) fn check(result: CUresult, call: &str) -> Result<(), Error> {
    check_in(result, call, String::new)
}

/// The card this process uses.
#[derive(Clone, Debug)]
pub struct Device {
    /// As the driver names it, "NVIDIA H200".
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// The CUDA version that the driver supports, major and minor.
    pub driver_version: (i32, i32),
    /// Bytes of device memory.
    pub total_memory: usize,
    pub multiprocessors: i32,
    /// The highest clock, in Hz.
    pub clock: f64,
    /// Bytes a second that the memory moves at most: two transfers a clock over the whole bus.
    pub peak_bytes: f64,
}

impl Device {
    /// Operations on f32 a second at most, outside of tensor cores: a multiplication and an addition a lane and clock.
    pub fn peak_flops(&self) -> f64 {
        // NVIDIA's CUDA programming guide, arithmetic throughput by compute capability.
        let lanes = match self.compute_capability {
            (7, _) | (8, 0) => 64.0,
            _ => 128.0,
        };
        2.0 * lanes * f64::from(self.multiprocessors) * self.clock
    }
    /// The chip as NVPTX names it, "sm_90".
    pub fn chip(&self) -> String {
        format!("sm_{}{}", self.compute_capability.0, self.compute_capability.1)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (major, minor) = self.driver_version;
        let gib = self.total_memory as f64 / (1u64 << 30) as f64;
        write!(f, "{} ({}, {gib:.0} GiB, CUDA {major}.{minor})", self.name, self.chip())
    }
}

pub(super) struct Driver {
    context: usize,
    pub device: Device,
    /// Bytes that were free when the context had been made: what managed memory may take in all.
    pub free_at_start: usize,
    /// The most dynamic shared memory that a block may ask for.
    pub shared_memory_limit: i32,
}

/// The device that the context is made on; negative once it has been made.
static ORDINAL: AtomicI32 = AtomicI32::new(0);
static DRIVER: OnceLock<Result<Driver, Error>> = OnceLock::new();
/// Drivers older than this lack functions that are used here.
const OLDEST: c_int = 12000;

fn start() -> Result<Driver, Error> {
    // SAFETY: looking for the library only loads it.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::new(
            "no CUDA driver: libcuda.so.1 was not found (install NVIDIA's driver, or run without a GPU)",
        ));
    }
    // SAFETY: each call gets pointers to locals of the types it fills in, and is checked.
    unsafe {
        let mut version = 0;
        check(sys::cuDriverGetVersion(&mut version), "cuDriverGetVersion")?;
        let driver_version = (version / 1000, version % 1000 / 10);
        if version < OLDEST {
            let (major, minor) = driver_version;
            return Err(Error::new(format!("the CUDA driver supports CUDA {major}.{minor}: 12.0 or newer is needed")));
        }
        check(sys::cuInit(0), "cuInit")?;
        let ordinal = ORDINAL.load(Ordering::Relaxed);
        let mut handle = 0;
        check_in(sys::cuDeviceGet(&mut handle, ordinal), "cuDeviceGet", || format!("device {ordinal}"))?;
        let attribute = |which: Attribute| {
            let mut value = 0;
            check(sys::cuDeviceGetAttribute(&mut value, which, handle), "cuDeviceGetAttribute").map(|()| value)
        };
        let mut name = [0 as c_char; 256];
        check(sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, handle), "cuDeviceGetName")?;
        if attribute(Attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)? == 0
            || attribute(Attribute::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)? == 0
        {
            return Err(Error::new("the GPU has no managed memory or no unified addresses, which are needed"));
        }
        let compute_capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let mut context = std::ptr::null_mut();
        check(sys::cuDevicePrimaryCtxRetain(&mut context, handle), "cuDevicePrimaryCtxRetain")?;
        check(sys::cuCtxSetCurrent(context), "cuCtxSetCurrent")?;
        let (mut free_at_start, mut total_memory) = (0, 0);
        check(sys::cuMemGetInfo_v2(&mut free_at_start, &mut total_memory), "cuMemGetInfo")?;
        ORDINAL.store(-1 - ordinal, Ordering::Relaxed);
        Ok(Driver {
            context: context as usize,
            device: Device {
                name: CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
                compute_capability,
                driver_version,
                total_memory,
                multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
                clock: 1e3 * f64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?),
                peak_bytes: 2e3
                    * f64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?)
                    * f64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?)
                    / 8.0,
            },
            free_at_start,
            shared_memory_limit: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        })
    }
}

/// The driver, with the process's context current in this thread.
pub(super) fn driver() -> Result<&'static Driver, Error> {
    thread_local! {
        static BOUND: Cell<bool> = const { Cell::new(false) };
    }
    let driver = DRIVER.get_or_init(start).as_ref().map_err(Error::clone)?;
    // Whoever runs while thread-locals are torn down binds every time.
    if !BOUND.try_with(Cell::get).unwrap_or(false) {
        // SAFETY: the primary context is retained for the life of the process.
        check(unsafe { sys::cuCtxSetCurrent(driver.context as sys::CUcontext) }, "cuCtxSetCurrent")?;
        let _ = BOUND.try_with(|bound| bound.set(true));
    }
    Ok(driver)
}

/// Whether the context has been made.
pub(super) fn started() -> bool {
    matches!(DRIVER.get(), Some(Ok(_)))
}

/// Whether there is a driver with a usable GPU; the error says what is missing.
pub fn available() -> Result<(), Error> {
    driver().map(|_| ())
}

/// The card this process uses.
pub fn device() -> Result<&'static Device, Error> {
    driver().map(|driver| &driver.device)
}

/// Bytes of device memory that are free, pooled memory of this process not counted.
pub fn free_memory() -> Result<usize, Error> {
    driver()?;
    let (mut free, mut total) = (0, 0);
    // SAFETY: both are valid for the call.
    check(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }, "cuMemGetInfo")?;
    Ok(free)
}

/// Chooses the device; only the one in use may be named once CUDA has started.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuSetDefaultDevice(ordinal: i32) {
    if ordinal < 0 {
        fail(&format!("mgpuSetDefaultDevice: {ordinal} is no device"));
    }
    let previous =
        ORDINAL.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |current| (current >= 0).then_some(ordinal));
    if let Err(used) = previous
        && -1 - used != ordinal
    {
        fail(&format!(
            "mgpuSetDefaultDevice: device {} is in use already, and a process uses one (asked for {ordinal})",
            -1 - used
        ));
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuSetDefaultDevice]
}
