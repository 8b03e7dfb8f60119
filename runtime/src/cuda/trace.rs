//! When each kernel, copy and fill ran, by events around it on its stream.
//!
//! Recording is off unless [`start_trace`] was called, and then costs two events a launch: kernels run one after the other
//! as before, a few microseconds further apart. Launches inside of a graph that is being captured are not recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUevent, CUstream};

use super::driver::{Error, check};
use super::stream;

/// One kernel, copy or fill that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The kernel's name, `memcpy` or `memset`.
    pub name: String,
    /// What there is to say of it: sizes of grid and block of a kernel, the bytes of a copy.
    pub details: Vec<(&'static str, String)>,
    /// From [`start_trace`] to its start.
    pub start: Duration,
    /// How long it took, by the card's clock.
    pub time: Duration,
}

/// A recorded pair of events.
struct Pending {
    name: String,
    details: Vec<(&'static str, String)>,
    events: [usize; 2],
}

struct Trace {
    /// The event that times count from, and when the host had seen it pass.
    origin: usize,
    since: Instant,
    pending: Vec<Pending>,
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

/// Whether launches are being recorded.
pub fn tracing() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Records every launch, copy and fill of compiled code from here on; what was recorded before is dropped.
pub fn start_trace() -> Result<(), Error> {
    take_trace()?;
    stream::synchronize()?;
    let origin = event(stream::stream()?)?;
    stream::synchronize()?;
    *lock() = Some(Trace { origin, since: Instant::now(), pending: Vec::new() });
    ACTIVE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Waits for what was recorded, ends recording and returns it in the order of the launches, with the moment that times
/// count from; nothing where [`start_trace`] was not called.
pub fn take_trace() -> Result<Option<(Instant, Vec<Span>)>, Error> {
    ACTIVE.store(false, Ordering::Relaxed);
    let Some(trace) = lock().take() else { return Ok(None) };
    stream::synchronize()?;
    let mut spans = Vec::with_capacity(trace.pending.len());
    for Pending { name, details, events: [start, end] } in trace.pending {
        // Another thread's stream may still be at work.
        // SAFETY: `record` created and recorded the event.
        check(unsafe { sys::cuEventSynchronize(end as CUevent) }, "cuEventSynchronize")?;
        spans.push(Span { name, details, start: elapsed(trace.origin, start)?, time: elapsed(start, end)? });
        destroy(start)?;
        destroy(end)?;
    }
    destroy(trace.origin)?;
    Ok(Some((trace.since, spans)))
}

/// Runs `launch`, which queues something on `stream`, between two events where launches are being recorded.
pub(super) fn record(
    stream: CUstream,
    what: impl FnOnce() -> (String, Vec<(&'static str, String)>),
    launch: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    if !tracing() || stream::capturing() {
        return launch();
    }
    let start = event(stream)?;
    launch()?;
    let end = event(stream)?;
    if let Some(trace) = lock().as_mut() {
        let (name, details) = what();
        trace.pending.push(Pending { name, details, events: [start, end] });
    }
    Ok(())
}

fn lock() -> std::sync::MutexGuard<'static, Option<Trace>> {
    TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event with timing, recorded behind what the stream holds.
fn event(stream: CUstream) -> Result<usize, Error> {
    let mut event = std::ptr::null_mut();
    // SAFETY: the context is current, since there is a stream, and the handle's place is valid.
    check(unsafe { sys::cuEventCreate(&mut event, 0) }, "cuEventCreate")?;
    stream::set_behind_kernel(false);
    // SAFETY: both handles are valid.
    check(unsafe { sys::cuEventRecord(event, stream) }, "cuEventRecord")?;
    Ok(event as usize)
}

fn destroy(event: usize) -> Result<(), Error> {
    // SAFETY: created by `event` and destroyed once.
    check(unsafe { sys::cuEventDestroy_v2(event as CUevent) }, "cuEventDestroy")
}

fn elapsed(from: usize, to: usize) -> Result<Duration, Error> {
    let mut milliseconds = 0.0;
    // SAFETY: both events have been recorded and waited for.
    let result = unsafe { sys::cuEventElapsedTime(&mut milliseconds, from as CUevent, to as CUevent) };
    check(result, "cuEventElapsedTime")?;
    Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
}
