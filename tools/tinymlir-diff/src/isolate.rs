//! Runs a closure in a forked copy of this process, which may crash, hang or exit as it likes.
//!
//! The caller must be single-threaded: only the forking thread lives on in the copy.

use anyhow::{Context as _, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    marker::PhantomData,
    os::fd::{AsRawFd, FromRawFd},
    time::{Duration, Instant},
};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Death {
    /// By this signal.
    Signal(i32),
    /// With this status, before the closure came back.
    Exit(i32),
    /// It was ended after the time limit.
    Timeout,
}

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Death::Signal(libc::SIGSEGV) => f.write_str("segmentation fault"),
            Death::Signal(libc::SIGABRT) => f.write_str("abort"),
            Death::Signal(libc::SIGPROF) => f.write_str("time limit"),
            Death::Signal(n) => write!(f, "signal {n}"),
            Death::Exit(status) => write!(f, "exit status {status}"),
            Death::Timeout => f.write_str("time limit"),
        }
    }
}

/// A running copy.
pub struct Child<T> {
    pid: libc::pid_t,
    output: File,
    errors: File,
    deadline: Instant,
    result: PhantomData<T>,
}

/// Starts `body` in a copy that may take `limit`.
pub fn start<T: Serialize + DeserializeOwned>(limit: Duration, body: impl FnOnce() -> T) -> Result<Child<T>> {
    let mut pipe = [0; 2];
    // SAFETY: an array of two descriptors.
    let made = unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) };
    anyhow::ensure!(made == 0, "cannot make a pipe: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptors are new and owned here alone.
    let (output, mut input) = unsafe { (File::from_raw_fd(pipe[0]), File::from_raw_fd(pipe[1])) };
    // SAFETY: a NUL-terminated name; a new descriptor or -1, which is checked.
    let errors = unsafe { libc::memfd_create(c"errors".as_ptr(), libc::MFD_CLOEXEC) };
    anyhow::ensure!(errors >= 0, "cannot make a file in memory: {}", std::io::Error::last_os_error());
    // SAFETY: as above.
    let errors = unsafe { File::from_raw_fd(errors) };
    std::io::stdout().flush().context("cannot write to standard output")?;
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()).context("cannot fork"),
        0 => {
            // SAFETY: both are open descriptors.
            unsafe { libc::dup2(errors.as_raw_fd(), libc::STDERR_FILENO) };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let bytes = serde_json::to_vec(&body()).map_err(std::io::Error::from)?;
                input.write_all(&bytes)
            }));
            let status = if matches!(done, Ok(Ok(()))) { 0 } else { 101 };
            // SAFETY: ends the copy without running what the original registered.
            unsafe { libc::_exit(status) }
        }
        pid => Ok(Child { pid, output, errors, deadline: Instant::now() + limit, result: PhantomData }),
    }
}

impl<T: DeserializeOwned> Child<T> {
    /// What `body` returned, or how the copy died and what it had written to standard error.
    pub fn wait(mut self) -> Result<std::result::Result<T, (Death, String)>> {
        let mut bytes = Vec::new();
        let mut timeout = false;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let mut poll = libc::pollfd { fd: self.output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor that lives through the call.
            let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis().min(60_000) as i32) };
            if ready == 0 && left.is_zero() {
                timeout = true;
                break;
            }
            if ready > 0 {
                let mut part = [0; 65536];
                match self.output.read(&mut part).context("cannot read from a copy of this process")? {
                    0 => break,
                    n => bytes.extend_from_slice(&part[..n]),
                }
            }
        }
        if timeout {
            // SAFETY: the copy has not been waited for, so the number is its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        }
        let mut status = 0;
        // SAFETY: our own child; the status lives through the call.
        let pid = unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
        anyhow::ensure!(pid == self.pid, "cannot wait for a copy of this process: {}", std::io::Error::last_os_error());
        let death = if timeout {
            Death::Timeout
        } else if libc::WIFSIGNALED(status) {
            Death::Signal(libc::WTERMSIG(status))
        } else if libc::WEXITSTATUS(status) != 0 || bytes.is_empty() {
            Death::Exit(libc::WEXITSTATUS(status))
        } else {
            return Ok(Ok(serde_json::from_slice(&bytes).context("cannot read a copy's result")?));
        };
        let mut text = Vec::new();
        self.errors.seek(SeekFrom::Start(0)).context("cannot read a copy's errors")?;
        (&self.errors).take(1 << 16).read_to_end(&mut text).context("cannot read a copy's errors")?;
        Ok(Err((death, String::from_utf8_lossy(&text).trim().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_returns_crashes_or_hangs() {
        let limit = Duration::from_secs(60);
        assert_eq!(start(limit, || vec![1, 2]).unwrap().wait().unwrap(), Ok(vec![1, 2]));
        let death = start(limit, || -> u8 { std::process::abort() }).unwrap().wait().unwrap().unwrap_err().0;
        assert_eq!(death, Death::Signal(libc::SIGABRT));
        let sleep = || std::thread::sleep(Duration::from_secs(600));
        let death = start(Duration::from_millis(50), sleep).unwrap().wait().unwrap().unwrap_err().0;
        assert_eq!(death, Death::Timeout);
    }
}
