//! Watching passes: which one runs on what, the remarks they emit, and where operations stand in printed text.

use super::{Loc, Op, printed, to_string};
use mlir_sys::*;
use std::{
    ffi::{c_int, c_void},
    marker::PhantomData,
};

/// What a remark says of the substitution that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// It was made.
    Passed,
    /// It was not made.
    Missed,
    /// Neither: a fact.
    Analysis,
}

/// What a pass says of something that it did or did not do.
pub struct Remark {
    /// Whether it was done.
    pub kind: RemarkKind,
    /// The pass's argument.
    pub pass: String,
    /// The function around the operation.
    pub function: String,
    /// One line; starts with the operation's name in quotes.
    pub message: String,
    /// Facts by name.
    pub parts: Vec<(String, String)>,
    /// The operation's.
    pub loc: Loc,
}

/// Who watches. Passes run one at a time on the thread that started them while someone does.
pub trait Observer {
    /// Whether [`Observer::before`] and [`Observer::after`] are wanted.
    fn wants_passes(&self) -> bool {
        true
    }
    /// Whether [`Observer::remark`] is wanted.
    fn wants_remarks(&self) -> bool {
        true
    }
    /// A pass manager is about to run: what was seen so far may be gone.
    fn begin(&mut self) {}
    /// A pass is about to run on an operation. A pass that runs others is still running when they do.
    fn before(&mut self, _pass: &str, _op: Op) {}
    /// A pass has run.
    fn after(&mut self, _pass: &str, _op: Op, _succeeded: bool) {}
    /// A pass of ours has something to say.
    fn remark(&mut self, _remark: Remark) {}
}

/// The shim's view of an observer.
#[repr(C)]
pub(super) struct RawObserver {
    this: *mut c_void,
    passes: bool,
    remarks: bool,
    before: unsafe extern "C" fn(*mut c_void, MlirStringRef, MlirOperation),
    after: unsafe extern "C" fn(*mut c_void, MlirStringRef, MlirOperation, bool),
    remark: unsafe extern "C" fn(
        *mut c_void,
        c_int,
        MlirLocation,
        MlirStringRef,
        MlirStringRef,
        *const MlirStringRef,
        usize,
    ),
}

impl RawObserver {
    /// `holder` is a place that holds the observer for as long as passes are watched.
    pub(super) fn new(holder: *mut &mut dyn Observer) -> RawObserver {
        // SAFETY: the caller's.
        let observer = unsafe { &mut **holder };
        observer.begin();
        RawObserver {
            this: holder.cast(),
            passes: observer.wants_passes(),
            remarks: observer.wants_remarks(),
            before,
            after,
            remark,
        }
    }
}

/// Runs `body` on the observer; a panic must not unwind into C++.
///
/// # Safety
/// `this` comes from [`RawObserver::new`].
unsafe fn with(this: *mut c_void, body: impl FnOnce(&mut dyn Observer)) {
    // SAFETY: MLIR calls observers one at a time, and none calls MLIR in a way that calls back.
    let observer = unsafe { &mut **this.cast::<&mut dyn Observer>() };
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(observer))).is_err() {
        eprintln!("error: internal error while watching the passes");
        std::process::exit(1);
    }
}

unsafe extern "C" fn before(this: *mut c_void, pass: MlirStringRef, op: MlirOperation) {
    // SAFETY: the shim hands back the observer.
    unsafe { with(this, |observer| observer.before(&to_string(pass), Op(op))) }
}

unsafe extern "C" fn after(this: *mut c_void, pass: MlirStringRef, op: MlirOperation, succeeded: bool) {
    // SAFETY: as above.
    unsafe { with(this, |observer| observer.after(&to_string(pass), Op(op), succeeded)) }
}

unsafe extern "C" fn remark(
    this: *mut c_void,
    kind: c_int,
    loc: MlirLocation,
    pass: MlirStringRef,
    function: MlirStringRef,
    parts: *const MlirStringRef,
    count: usize,
) {
    // SAFETY: `parts` holds a key and a value `count` times.
    let parts = unsafe { if count == 0 { &[] } else { std::slice::from_raw_parts(parts, 2 * count) } };
    let mut parts: Vec<_> = parts.chunks_exact(2).map(|p| (to_string(p[0]), to_string(p[1]))).collect();
    let message = if parts.is_empty() { String::new() } else { parts.remove(0).1 };
    let kind = match kind {
        0 => RemarkKind::Passed,
        1 => RemarkKind::Missed,
        _ => RemarkKind::Analysis,
    };
    let remark = Remark { kind, pass: to_string(pass), function: to_string(function), message, parts, loc: Loc(loc) };
    // SAFETY: as above.
    unsafe { with(this, |observer| observer.remark(remark)) }
}

/// Watches a pass manager until it is dropped.
pub(super) struct Watch<'a> {
    context: MlirContext,
    remarks: bool,
    holder: *mut &'a mut dyn Observer,
    borrowed: PhantomData<&'a mut dyn Observer>,
}

impl<'a> Watch<'a> {
    /// The manager must not run after this is dropped.
    pub(super) fn new(context: MlirContext, manager: MlirPassManager, observer: &'a mut dyn Observer) -> Watch<'a> {
        let holder = Box::into_raw(Box::new(observer));
        let raw = RawObserver::new(holder.cast());
        // SAFETY: both live; the shim copies what it is given.
        unsafe { tmObserve(manager, &raw) };
        Watch { context, remarks: raw.remarks, holder, borrowed: PhantomData }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // SAFETY: the engine goes before the observer that it calls; the box is this one's.
        unsafe {
            if self.remarks {
                tmUnobserve(self.context);
            }
            drop(Box::from_raw(self.holder));
        }
    }
}

/// Printed text, and the operations that start on each of its lines.
pub struct Placed {
    /// What MLIR prints, with long constants left out.
    pub text: String,
    /// Operations and their lines from 0, in textual order.
    pub ops: Vec<(Op, usize)>,
}

impl Op {
    /// Prints it, with `loc(...)` behind everything where `locations`, and says where each operation inside stands.
    pub fn placed(self, locations: bool) -> Placed {
        unsafe extern "C" fn place(out: *mut c_void, op: MlirOperation, line: u32) {
            // SAFETY: `out` is the pair below.
            let (_, ops) = unsafe { &mut *out.cast::<(String, Vec<(Op, usize)>)>() };
            ops.push((Op(op), (line as usize).saturating_sub(1)));
        }
        unsafe extern "C" fn append(part: MlirStringRef, out: *mut c_void) {
            // SAFETY: as above.
            unsafe { &mut *out.cast::<(String, Vec<(Op, usize)>)>() }.0.push_str(&to_string(part));
        }
        let mut out = (String::new(), Vec::new());
        // SAFETY: a live operation; `out` lives through the call.
        unsafe { tmPrintPlaced(self.0, locations, Some(append), (&raw mut out).cast(), place) };
        let (text, mut ops) = out;
        ops.sort_by_key(|(_, line)| *line);
        Placed { text, ops }
    }
    /// The operation that holds all others around it.
    pub fn outermost(self) -> Op {
        std::iter::successors(Some(self), |op| op.parent()).last().unwrap_or(self)
    }
}

impl Loc {
    /// Every file position in it: file, line and column from 1.
    pub fn positions(self) -> Vec<(String, u32, u32)> {
        unsafe extern "C" fn visit(out: *mut c_void, file: MlirStringRef, line: u32, column: u32) {
            // SAFETY: `out` is the list below.
            unsafe { &mut *out.cast::<Vec<(String, u32, u32)>>() }.push((to_string(file), line, column));
        }
        let mut out = Vec::new();
        // SAFETY: a live location; `out` lives through the call.
        unsafe { tmLocationPositions(self.0, (&raw mut out).cast(), visit) };
        out
    }
    /// What MLIR prints for it.
    pub fn whole(self) -> String {
        // SAFETY: a live location.
        printed(|append, out| unsafe { mlirLocationPrint(self.0, append, out) })
    }
    /// One location that holds these.
    pub fn fused(ctx: super::Ctx, locs: &[Loc]) -> Loc {
        let raw: Vec<_> = locs.iter().map(|l| l.0).collect();
        // SAFETY: live locations of the context; no metadata.
        Loc(unsafe { mlirLocationFusedGet(ctx.0, raw.len() as isize, raw.as_ptr(), mlirAttributeGetNull()) })
    }
}

unsafe extern "C" {
    fn tmObserve(manager: MlirPassManager, observer: *const RawObserver);
    fn tmUnobserve(context: MlirContext);
    fn tmPrintPlaced(
        op: MlirOperation,
        debug_info: bool,
        append: MlirStringCallback,
        out: *mut c_void,
        place: unsafe extern "C" fn(*mut c_void, MlirOperation, u32),
    );
    fn tmLocationPositions(
        loc: MlirLocation,
        out: *mut c_void,
        visit: unsafe extern "C" fn(*mut c_void, MlirStringRef, u32, u32),
    );
}
