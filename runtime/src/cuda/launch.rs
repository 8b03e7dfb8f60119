//! Kernel launches, plain and by clusters, each behind the one before it or, where its code waits by itself, beside its end.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute, CUresult, CUstream};

use super::driver::{Error, check_in, driver, failure};
use super::module::{KERNELS, Kernel};
use super::{must, stream, trace};
use crate::{Symbol, symbol_table};

static LAUNCHES: AtomicU64 = AtomicU64::new(0);
/// The cluster size that every chip with clusters has.
const PORTABLE_CLUSTER: i64 = 8;

thread_local! {
    static LAST: Cell<Option<&'static Kernel>> = const { Cell::new(None) };
    static CAPTURED: Cell<u64> = const { Cell::new(0) };
}

/// How many kernels have been launched, those of graphs counted at each launch of the graph.
pub fn launches() -> u64 {
    LAUNCHES.load(Ordering::Relaxed)
}

/// How many distinct kernels have been looked up to be launched.
pub fn kernels() -> u64 {
    KERNELS.load(Ordering::Relaxed)
}

pub(super) fn count_launches(count: u64) {
    LAUNCHES.fetch_add(count, Ordering::Relaxed);
}

/// How many launches this thread has captured since the last call.
pub(super) fn take_captured() -> u64 {
    CAPTURED.replace(0)
}

/// What to say of a failure that surfaces at a wait: which kernel was launched last.
pub(super) fn last_kernel() -> String {
    match LAST.try_with(Cell::get) {
        Ok(Some(kernel)) => {
            format!("kernel @{} or one launched before it; CUDA_LAUNCH_BLOCKING=1 tells which", kernel.name)
        }
        _ => String::new(),
    }
}

/// One launch, as compiled code asks for it; sizes count blocks and threads.
struct Launch {
    kernel: &'static Kernel,
    cluster: Option<[i64; 3]>,
    grid: [i64; 3],
    block: [i64; 3],
    shared_memory: i32,
    stream: CUstream,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
}

impl Launch {
    fn describe(&self) -> String {
        let size = |[x, y, z]: [i64; 3]| format!("{x}x{y}x{z}");
        let cluster = self.cluster.map_or(String::new(), |cluster| format!(", cluster {}", size(cluster)));
        let shared = match self.shared_memory {
            0 => String::new(),
            bytes => format!(", {bytes} bytes of dynamic shared memory"),
        };
        format!("kernel @{}, grid {}, block {}{cluster}{shared}", self.kernel.name, size(self.grid), size(self.block))
    }

    /// [`Launch::run`], in the trace where there is one.
    ///
    /// # Safety
    /// The parameters are those of the kernel.
    unsafe fn run_traced(&self) -> Result<(), Error> {
        if self.grid.contains(&0) {
            return Ok(());
        }
        let what = || {
            let size = |[x, y, z]: [i64; 3]| format!("{x}x{y}x{z}");
            let mut details = vec![("grid", size(self.grid)), ("block", size(self.block))];
            details.extend(self.cluster.map(|cluster| ("cluster", size(cluster))));
            if self.shared_memory > 0 {
                details.push(("dynamic shared memory", self.shared_memory.to_string()));
            }
            (self.kernel.name.to_string(), details)
        };
        // SAFETY: as the caller vouches.
        trace::record(self.stream, what, || unsafe { self.run() })
    }

    /// # Safety
    /// The parameters are those of the kernel.
    unsafe fn run(&self) -> Result<(), Error> {
        let driver = driver()?;
        if self.grid.contains(&0) {
            return Ok(());
        }
        // A kernel that waits for its predecessor by itself may start before that one ends.
        let early = self.kernel.dependent && stream::behind_kernel();
        let call = if self.cluster.is_some() || early { "cuLaunchKernelEx" } else { "cuLaunchKernel" };
        let narrow = |sizes: [i64; 3]| {
            let mut narrowed = [0u32; 3];
            for (narrow, size) in narrowed.iter_mut().zip(sizes) {
                *narrow = u32::try_from(size)
                    .map_err(|_| failure(CUresult::CUDA_ERROR_INVALID_VALUE, call, &self.describe(), ""))?;
            }
            Ok::<_, Error>(narrowed)
        };
        let (grid, block) = (narrow(self.grid)?, narrow(self.block)?);
        self.allow(driver.shared_memory_limit)?;
        // SAFETY: plain numbers, of which all zeroes are valid.
        let mut attributes: [sys::CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if let Some(cluster) = self.cluster {
            let [x, y, z] = narrow(cluster)?;
            attributes[count].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[count].value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            count += 1;
        }
        if early {
            attributes[count].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attributes[count].value.programmaticStreamSerializationAllowed = 1;
            count += 1;
        }
        let config = sys::CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: self.shared_memory as u32,
            hStream: self.stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as u32,
        };
        // SAFETY: the kernel's module is loaded, its parameters are as the caller vouches, and the attributes that count
        // live through the call. The older call serves drivers without the newer one.
        let result = unsafe {
            match count {
                0 => sys::cuLaunchKernel(
                    self.kernel.function(),
                    grid[0],
                    grid[1],
                    grid[2],
                    block[0],
                    block[1],
                    block[2],
                    self.shared_memory as u32,
                    self.stream,
                    self.parameters,
                    self.extra,
                ),
                _ => sys::cuLaunchKernelEx(&config, self.kernel.function(), self.parameters, self.extra),
            }
        };
        check_in(result, call, || self.describe())?;
        LAST.set(Some(self.kernel));
        stream::set_behind_kernel(true);
        if stream::capturing() {
            CAPTURED.set(CAPTURED.get() + 1);
        } else {
            count_launches(1);
        }
        Ok(())
    }

    /// Lifts the kernel's default limits where this launch is beyond them.
    fn allow(&self, shared_memory_limit: i32) -> Result<(), Error> {
        let set = |attribute: Attribute, value: i32| {
            // SAFETY: the kernel's module is loaded.
            let result = unsafe { sys::cuFuncSetAttribute(self.kernel.function(), attribute, value) };
            check_in(result, "cuFuncSetAttribute", || {
                format!("{}; a block may have at most {shared_memory_limit} bytes", self.describe())
            })
        };
        let bytes = self.shared_memory;
        if bytes > self.kernel.shared_memory.load(Ordering::Relaxed) {
            set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
            self.kernel.shared_memory.fetch_max(bytes, Ordering::Relaxed);
        }
        let large = self.cluster.is_some_and(|[x, y, z]| x.saturating_mul(y).saturating_mul(z) > PORTABLE_CLUSTER);
        if large && self.kernel.large_clusters.swap(1, Ordering::Relaxed) == 0 {
            set(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        }
        Ok(())
    }
}

/// Launches a kernel on a stream. A grid with a zero in it launches nothing.
///
/// # Safety
/// `kernel` comes from `mgpuModuleGetFunction`; `parameters` holds a pointer for each parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuLaunchKernel(
    kernel: *const c_void,
    grid_x: i64,
    grid_y: i64,
    grid_z: i64,
    block_x: i64,
    block_y: i64,
    block_z: i64,
    shared_memory: i32,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    _parameter_count: u64,
) {
    // SAFETY: as the caller vouches; kernels live as long as the process.
    unsafe {
        let launch = Launch {
            kernel: &*kernel.cast::<Kernel>(),
            cluster: None,
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_memory,
            stream: stream.cast(),
            parameters,
            extra,
        };
        must(launch.run_traced());
    }
}

/// [`mgpuLaunchKernel`] with the blocks of the grid grouped into clusters.
///
/// # Safety
/// As for [`mgpuLaunchKernel`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuLaunchClusterKernel(
    kernel: *const c_void,
    cluster_x: i64,
    cluster_y: i64,
    cluster_z: i64,
    grid_x: i64,
    grid_y: i64,
    grid_z: i64,
    block_x: i64,
    block_y: i64,
    block_z: i64,
    shared_memory: i32,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) {
    // SAFETY: as the caller vouches; kernels live as long as the process.
    unsafe {
        let launch = Launch {
            kernel: &*kernel.cast::<Kernel>(),
            cluster: Some([cluster_x, cluster_y, cluster_z]),
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_memory,
            stream: stream.cast(),
            parameters,
            extra,
        };
        must(launch.run_traced());
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuLaunchKernel, mgpuLaunchClusterKernel]
}
