//! Modules and their kernels: PTX and cubins that compiled code embeds.
//!
//! A module's constructor only records where its code lies. [`load_pending`] loads what has been
//! recorded and can fail cleanly; a module that nobody loaded so is loaded by its first kernel's
//! lookup. Kernels are looked up once; compiled code asks before every launch.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUfunction, CUjit_option, CUmodule, CUresult};

use super::driver::{Error, check_in, driver, failure, started};
use super::{must, status, stream};
use crate::host::fail;
use crate::{Symbol, symbol_table};

/// What compiled code holds as its module.
struct Module {
    code: usize,
    /// The optimisation level for the driver's PTX compiler; none for a cubin.
    level: Option<i32>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The driver's handle, or 0.
    handle: usize,
    /// Its code is gone; only a concurrent [`load_pending`] may still see it.
    unloaded: bool,
    /// By the address of the name, a global of the compiled module that holds this one.
    kernels: HashMap<usize, &'static Kernel>,
}

/// What compiled code holds as a kernel. Few, and kept for the life of the process, so that a
/// failure that surfaces late can still name them.
pub(super) struct Kernel {
    function: usize,
    pub name: String,
    /// The dynamic shared memory that the kernel has been allowed so far.
    pub shared_memory: AtomicI32,
    /// Whether clusters of more than the portable size have been allowed.
    pub large_clusters: AtomicI32,
    /// Whether it may start while the kernel before it runs: it waits itself before it touches what that one may write.
    pub dependent: bool,
}

impl Kernel {
    pub fn function(&self) -> CUfunction {
        self.function as CUfunction
    }
}

/// The symbol that the pass `tinymlir-dependent-launches` defines in the modules whose kernels wait for their predecessor
/// (`griddepcontrol.wait`), so that they can be launched before it ends.
const DEPENDENT: &CStr = c"tinymlir_dependent_launches";

static PENDING: Mutex<Vec<Arc<Module>>> = Mutex::new(Vec::new());
pub(super) static KERNELS: AtomicU64 = AtomicU64::new(0);

fn pending() -> MutexGuard<'static, Vec<Arc<Module>>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(code: *const c_void, level: Option<i32>) -> *mut c_void {
    let module = Arc::new(Module { code: code as usize, level, state: Mutex::default() });
    pending().push(module.clone());
    Arc::into_raw(module).cast_mut().cast()
}

/// The names behind `.entry` in PTX text, the first few.
fn entries(ptx: &str) -> String {
    let names: Vec<_> = ptx
        .split(".entry")
        .skip(1)
        .map(|rest| rest.trim_start().split(|c: char| c == '(' || c.is_whitespace()).next().unwrap_or_default())
        .collect();
    match names[..] {
        [] => String::new(),
        [one] => format!("kernel @{one}, "),
        [first, ..] => format!("kernel @{first} and {} more, ", names.len() - 1),
    }
}

impl Module {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address and the bytes of a global of the loaded module, if it has that.
    ///
    /// PTX that does not name it is not asked for it: no lookup fails then, which tools that watch the driver report as an
    /// error.
    fn global(&self, module: CUmodule, name: &CStr) -> Result<Option<(u64, usize)>, Error> {
        // SAFETY: the code is a constant of the compiled module, PTX of which ends in NUL.
        let ptx = self.level.map(|_| unsafe { CStr::from_ptr(self.code as *const c_char) }.to_string_lossy());
        if ptx.is_some_and(|text| !text.contains(&*name.to_string_lossy())) {
            return Ok(None);
        }
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the places are valid and the name is NUL-terminated.
        match unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            other => check_in(other, "cuModuleGetGlobal", || format!("{name:?}")).map(|()| Some((address, bytes))),
        }
    }

    /// Whether the code promises, by defining the symbol [`DEPENDENT`], that all its kernels wait for their predecessor, and
    /// `TINYMLIR_DEPENDENT_LAUNCHES=0` does not ask for launches one after the other.
    fn is_dependent(&self, module: CUmodule) -> Result<bool, Error> {
        let off = std::env::var_os("TINYMLIR_DEPENDENT_LAUNCHES").is_some_and(|value| value == "0");
        Ok(!off && self.global(module, DEPENDENT)?.is_some())
    }

    /// The driver's handle, loading the code if it has not been.
    fn load(&self, state: &mut State) -> Result<CUmodule, Error> {
        let driver = driver()?;
        if state.handle != 0 {
            return Ok(state.handle as CUmodule);
        }
        let mut log = vec![0u8; 16384];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
        ];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            log.len() as *mut c_void,
            self.level.unwrap_or(0).clamp(0, 4) as usize as *mut c_void,
        ];
        // The level is for PTX alone.
        let count = if self.level.is_some() { 3 } else { 2 };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the options are as the driver documents them, numbers passed as pointers; the code
        // is a constant of the compiled module, PTX of which ends in NUL.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                self.code as *const c_void,
                count,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if result != CUresult::CUDA_SUCCESS {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
            let names = match self.level {
                // SAFETY: as above.
                Some(_) => entries(&unsafe { CStr::from_ptr(self.code as *const c_char) }.to_string_lossy()),
                None => String::new(),
            };
            let context = format!("{names}{}", driver.device.chip());
            return Err(failure(result, "cuModuleLoadDataEx", &context, log.trim()));
        }
        status::prepare(|name| self.global(handle, name))?;
        state.handle = handle as usize;
        Ok(handle)
    }

    fn kernel(&self, name: *const c_char) -> Result<&'static Kernel, Error> {
        let mut state = self.state();
        if let Some(kernel) = state.kernels.get(&(name as usize)) {
            return Ok(kernel);
        }
        let module = self.load(&mut state)?;
        // SAFETY: compiled code passes NUL-terminated names.
        let text = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded.
        let result = unsafe { sys::cuModuleGetFunction(&mut function, module, name) };
        check_in(result, "cuModuleGetFunction", || format!("kernel @{text}"))?;
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel {
            function: function as usize,
            name: text,
            shared_memory: AtomicI32::new(0),
            large_clusters: AtomicI32::new(0),
            dependent: self.is_dependent(module)?,
        }));
        KERNELS.fetch_add(1, Ordering::Relaxed);
        state.kernels.insert(name as usize, kernel);
        Ok(kernel)
    }
}

/// Loads every module that constructors have recorded, in parallel; the first failure is returned
/// with the driver's log.
///
/// Constructors of compiled code run when its engine is initialised: call this right after.
pub fn load_pending() -> Result<(), Error> {
    let modules = std::mem::take(&mut *pending());
    if modules.is_empty() {
        return Ok(());
    }
    driver()?;
    let load = |module: &Module| {
        let mut state = module.state();
        if state.unloaded { Ok(()) } else { module.load(&mut state).map(|_| ()) }
    };
    if let [one] = &modules[..] {
        return load(one);
    }
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(modules.len());
    let next = AtomicU64::new(0);
    let work = || {
        while let Some(module) = modules.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            load(module)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Error::new("loading a GPU module panicked"))))
            .fold(Ok(()), Result::and)
    })
}

/// Records a cubin or fat binary.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuModuleLoad(code: *const c_void, _bytes: u64) -> *mut c_void {
    record(code, None)
}

/// Records PTX, NUL-terminated, for the driver to compile at the optimisation level given.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuModuleLoadJIT(ptx: *const c_void, level: i32) -> *mut c_void {
    record(ptx, Some(level))
}

/// Unloads a module. Null, which an engine passes when its constructors never ran, is ignored.
///
/// # Safety
/// `module` is null or was returned by one of the functions above, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuModuleUnload(module: *mut c_void) {
    if module.is_null() {
        return;
    }
    // SAFETY: as the caller vouches.
    let module = unsafe { Arc::from_raw(module.cast::<Module>().cast_const()) };
    pending().retain(|other| !Arc::ptr_eq(other, &module));
    let mut state = module.state();
    state.unloaded = true;
    let handle = std::mem::take(&mut state.handle);
    drop(state);
    if handle == 0 || !started() {
        return;
    }
    must(driver().and_then(|_| stream::synchronize()));
    // SAFETY: loaded above and not unloaded since.
    let result = unsafe { sys::cuModuleUnload(handle as CUmodule) };
    // At the very end of a process the driver may have gone first.
    if result != CUresult::CUDA_ERROR_DEINITIALIZED {
        must(check_in(result, "cuModuleUnload", String::new));
    }
}

/// The kernel `name` of a module, loading the module if need be.
///
/// # Safety
/// `module` comes from one of the functions above; `name` is NUL-terminated and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuModuleGetFunction(module: *mut c_void, name: *const c_char) -> *const c_void {
    if module.is_null() {
        fail("a kernel was launched before its module's constructor ran (initialise the engine first)");
    }
    // SAFETY: as the caller vouches.
    let kernel = must(unsafe { &*module.cast::<Module>() }.kernel(name));
    std::ptr::from_ref(kernel).cast()
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuModuleLoad, mgpuModuleLoadJIT, mgpuModuleUnload, mgpuModuleGetFunction]
}
