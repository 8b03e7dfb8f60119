//! CUDA graphs of calls into compiled code, and timing by events.

use std::time::Duration;

use cudarc::driver::sys::{self, CUevent, CUgraph, CUgraphExec, CUresult, CUstreamCaptureMode};

use super::driver::{Error, check, check_in, driver};
use super::{launch, memory, must, stream};

/// The kernels, copies and fills of one call, to be repeated with the same pointers by one launch.
///
/// Memory that the call allocated or freed stays with the graph until it is dropped; results that
/// the call returned keep their addresses and are overwritten by each launch.
#[derive(Debug)]
pub struct Graph {
    executable: usize,
    number: u64,
    kernels: u64,
}

impl Graph {
    /// Records what `call` queues on this thread's stream, without running it.
    ///
    /// Waits inside the call do nothing, and host code in it runs now and only now: it must not read
    /// what its kernels write. Modules must have been loaded and kernels launched before, so one
    /// ordinary call comes first.
    pub fn capture<R>(call: impl FnOnce() -> R) -> Result<(Self, R), Error> {
        if stream::capturing() {
            return Err(Error::new("a graph is being captured already"));
        }
        let stream = stream::stream()?;
        stream::wait(stream)?;
        // Other threads go on as they are.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is this thread's own.
        check(unsafe { sys::cuStreamBeginCapture_v2(stream, mode) }, "cuStreamBeginCapture")?;
        let number = memory::begin_capture(stream);
        stream::set_behind_kernel(false);
        stream::set_capturing(true);
        launch::take_captured();
        let result = call();
        stream::set_capturing(false);
        stream::set_behind_kernel(false);
        memory::end_capture(stream);
        let mut graph = Graph { executable: 0, number, kernels: launch::take_captured() };
        let mut recorded: CUgraph = std::ptr::null_mut();
        // SAFETY: the capture was begun above.
        let ended = unsafe { sys::cuStreamEndCapture(stream, &mut recorded) };
        check_in(ended, "cuStreamEndCapture", launch::last_kernel)?;
        let mut executable: CUgraphExec = std::ptr::null_mut();
        // SAFETY: the graph was just recorded; what is instantiated does not refer to it.
        let (instantiated, destroyed) =
            unsafe { (sys::cuGraphInstantiateWithFlags(&mut executable, recorded, 0), sys::cuGraphDestroy(recorded)) };
        check(instantiated, "cuGraphInstantiate")?;
        graph.executable = executable as usize;
        check(destroyed, "cuGraphDestroy")?;
        Ok((graph, result))
    }

    /// Queues the recorded work on this thread's stream.
    pub fn launch(&self) -> Result<(), Error> {
        let stream = stream::stream()?;
        stream::set_behind_kernel(false);
        // SAFETY: instantiated above and not destroyed since.
        let result = unsafe { sys::cuGraphLaunch(self.executable as CUgraphExec, stream) };
        check(result, "cuGraphLaunch")?;
        launch::count_launches(self.kernels);
        Ok(())
    }

    /// How many kernels one launch of the graph runs.
    pub fn kernels(&self) -> u64 {
        self.kernels
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        must(stream::synchronize());
        if self.executable != 0 && driver().is_ok() {
            // SAFETY: instantiated at capture and destroyed once.
            let result = unsafe { sys::cuGraphExecDestroy(self.executable as CUgraphExec) };
            if result != CUresult::CUDA_ERROR_DEINITIALIZED {
                must(check(result, "cuGraphExecDestroy"));
            }
        }
        memory::drop_graph(self.number);
    }
}

/// An event with timing, destroyed when dropped.
struct Timer(CUevent);

impl Timer {
    fn start() -> Result<Self, Error> {
        let stream = stream::stream()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: the context is current and the handle's place is valid.
        check(unsafe { sys::cuEventCreate(&mut event, 0) }, "cuEventCreate")?;
        let timer = Timer(event);
        stream::set_behind_kernel(false);
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuEventRecord(event, stream) }, "cuEventRecord")?;
        Ok(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: created above. A failure here leaks an event, and whatever caused it is reported
        // by the calls around it.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// How long the device takes for what `call` queues on this thread's stream; waits for it.
pub fn time<R>(call: impl FnOnce() -> R) -> Result<(R, Duration), Error> {
    let start = Timer::start()?;
    let result = call();
    let end = Timer::start()?;
    stream::synchronize()?;
    let mut milliseconds = 0.0;
    // SAFETY: both events have been recorded and waited for.
    check(unsafe { sys::cuEventElapsedTime(&mut milliseconds, start.0, end.0) }, "cuEventElapsedTime")?;
    Ok((result, Duration::from_secs_f64(f64::from(milliseconds) / 1e3)))
}
