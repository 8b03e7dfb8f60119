//! Finding and loading a CBLAS library.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::{Gemm, Kernels, builtin};
use crate::host::fail;

/// The variable that names a library or its path, or [`BUILTIN`].
const VARIABLE: &str = "TINYMLIR_BLAS";
/// The value of [`VARIABLE`] that asks for the built-in loops, without a warning.
const BUILTIN: &str = "builtin";

/// Tried in this order. `libblas.so.3` comes last: it may be the reference implementation.
const CANDIDATES: [&str; 9] = [
    "libopenblas.so.0",
    "libopenblas.so",
    "libopenblasp.so.0",
    "libmkl_rt.so.2",
    "libmkl_rt.so",
    "libblis.so.4",
    "libcblas.so.3",
    "libcblas.so",
    "libblas.so.3",
];

/// What serves the `cblas_` functions of this process: a library, or the built-in loops.
///
/// `TINYMLIR_BLAS` names a library as `dlopen` takes it, or is `builtin`; a library so named that
/// cannot be used ends the program. Otherwise the usual names of OpenBLAS, MKL, BLIS and CBLAS are
/// tried. Libraries with 64-bit integers are refused.
pub struct Blas {
    name: String,
    path: Option<PathBuf>,
    version: Option<String>,
    why_builtin: Option<String>,
    pub(super) single: Kernels<f32>,
    pub(super) double: Kernels<f64>,
    /// Keeps the code mapped.
    _library: Option<Library>,
}

impl Blas {
    /// The name it was loaded by, or `builtin`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the library lies, if there is one and the loader says.
    pub fn path(&self) -> Option<&std::path::Path> {
        self.path.as_deref()
    }

    /// The library's own description of its version and build, if it gives one.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Why the built-in loops serve; none where a library does.
    pub fn why_builtin(&self) -> Option<&str> {
        self.why_builtin.as_deref()
    }

    /// The built-in loops.
    pub(super) fn builtin(why: &str) -> Self {
        Blas {
            name: BUILTIN.into(),
            path: None,
            version: None,
            why_builtin: Some(why.into()),
            single: builtin::kernels(),
            double: builtin::kernels(),
            _library: None,
        }
    }

    /// Loads the library `name`, as `dlopen` takes it; the error says what is wrong with it.
    pub(super) fn open(name: &str) -> Result<Self, String> {
        // SAFETY: loading a library runs its constructors; these are BLAS libraries, or what the
        // user named. Local scope keeps its symbols from replacing anyone's, ours included.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| e.to_string())?;
        // SAFETY: the CBLAS standard gives these names these signatures, with 32-bit integers
        // except in the builds refused below; the others are as OpenBLAS, MKL and BLIS document.
        unsafe {
            let version = version(&library);
            if version.as_ref().is_some_and(|text| text.contains("USE64BITINT")) {
                return Err("it has 64-bit integers: choose a build with 32-bit integers".into());
            }
            let one_thread = set_one_thread(&library);
            let single = Kernels {
                gemm: required::<Gemm<f32>>(&library, "cblas_sgemm")?,
                gemv: required(&library, "cblas_sgemv")?,
                dot: required(&library, "cblas_sdot")?,
                one_thread,
            };
            let double = Kernels {
                gemm: required(&library, "cblas_dgemm")?,
                gemv: required(&library, "cblas_dgemv")?,
                dot: required(&library, "cblas_ddot")?,
                one_thread,
            };
            Ok(Blas {
                name: name.into(),
                path: path_of(single.gemm as *const c_void),
                version,
                why_builtin: None,
                single,
                double,
                _library: Some(library),
            })
        }
    }

    /// What `choice`, the value of [`VARIABLE`], asks for.
    pub(super) fn choose(choice: Option<&str>) -> Result<Self, String> {
        match choice {
            Some(BUILTIN) => Ok(Blas::builtin("TINYMLIR_BLAS asks for them")),
            Some(name) => Blas::open(name)
                .map_err(|why| format!("cannot use the BLAS library that {VARIABLE} names, '{name}': {why}")),
            None => Ok(Blas::first_of(&CANDIDATES)),
        }
    }

    /// The first library of `names` that can be used, else the built-in loops.
    pub(super) fn first_of(names: &[&str]) -> Self {
        let mut reasons = Vec::new();
        for name in names {
            match Blas::open(name) {
                Ok(blas) => return blas,
                // That a name does not exist is no news; anything else is.
                Err(why) if why.contains("No such file") => {}
                Err(why) => reasons.push(format!("{name}: {why}")),
            }
        }
        reasons.insert(0, format!("no CBLAS library under any of its usual names ({}, ...)", names[0]));
        Blas::builtin(&reasons.join("; "))
    }
}

impl fmt::Display for Blas {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(why) = &self.why_builtin {
            return write!(f, "built-in loops ({why})");
        }
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => write!(f, "{}", self.name)?,
        }
        self.version.as_ref().map_or(Ok(()), |version| write!(f, " ({version})"))
    }
}

/// # Safety
/// `symbol`, if the library has it, is a function of type `T`.
unsafe fn optional<T: Copy>(library: &Library, symbol: &str) -> Option<T> {
    // SAFETY: as the caller vouches.
    unsafe { library.get::<T>(symbol.as_bytes()) }.ok().map(|function| *function)
}

/// # Safety
/// As for [`optional`].
unsafe fn required<T: Copy>(library: &Library, symbol: &str) -> Result<T, String> {
    // SAFETY: as the caller vouches.
    unsafe { optional(library, symbol) }
        .ok_or_else(|| format!("it has no {symbol}: it is no CBLAS library with 32-bit integers"))
}

/// Tells the library to use its caller's thread alone; whether it can be told. One that cannot keeps its own threads.
///
/// # Safety
/// The symbols, where present, are OpenBLAS's, MKL's or BLIS's own.
unsafe fn set_one_thread(library: &Library) -> bool {
    type SetInt = unsafe extern "C" fn(c_int);
    type SetLong = unsafe extern "C" fn(i64);
    // SAFETY: the signatures are as those libraries document.
    unsafe {
        if let Some(set) =
            optional::<SetInt>(library, "openblas_set_num_threads").or_else(|| optional(library, "MKL_Set_Num_Threads"))
        {
            set(1);
        } else if let Some(set) = optional::<SetLong>(library, "bli_thread_set_num_threads") {
            set(1);
        } else {
            return false;
        }
    }
    true
}

/// # Safety
/// The symbols, where present, are OpenBLAS's, MKL's or BLIS's own.
unsafe fn version(library: &Library) -> Option<String> {
    type Text = unsafe extern "C" fn() -> *const c_char;
    type Fill = unsafe extern "C" fn(*mut c_char, c_int);
    let mut buffer = [0 as c_char; 256];
    // SAFETY: the signatures are as those libraries document; MKL truncates to the length given.
    // Each string is NUL-terminated.
    unsafe {
        let text = if let Some(get) = optional::<Text>(library, "openblas_get_config")
            .or_else(|| optional::<Text>(library, "bli_info_get_version_str"))
        {
            get()
        } else {
            optional::<Fill>(library, "MKL_Get_Version_String")?(buffer.as_mut_ptr(), buffer.len() as c_int - 1);
            buffer.as_ptr()
        };
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().trim().to_owned())
    }
}

/// The file that `function` was loaded from.
fn path_of(function: *const c_void) -> Option<PathBuf> {
    // SAFETY: Dl_info is plain pointers, which dladdr fills in when it succeeds.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(function, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(PathBuf::from(CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()))
    }
}

/// The BLAS of this process, loaded on first use.
///
/// Exits with a message where `TINYMLIR_BLAS` names a library that cannot be used, and warns once
/// on stderr where no library was found.
pub fn blas() -> &'static Blas {
    static BLAS: OnceLock<Blas> = OnceLock::new();
    BLAS.get_or_init(|| {
        let choice = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
        let blas = Blas::choose(choice.as_deref()).unwrap_or_else(|why| fail(&why));
        if choice.is_none()
            && let Some(why) = &blas.why_builtin
        {
            eprintln!(
                "warning: matrix products use built-in loops on one thread: {why} \
                 (install libopenblas0 or set {VARIABLE} to a library's path)"
            );
        }
        blas
    })
}
