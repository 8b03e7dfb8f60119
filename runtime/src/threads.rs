//! The threads that share the work of compiled code: one pool, which also splits the products of a BLAS.
//!
//! A parallel loop is cut into pieces that threads take one after the other; which thread takes which changes nothing but
//! the time. Between loops workers spin for a while, since a model's step is hundreds of loops of some ten microseconds, and
//! then sleep. A parallel loop inside of another one runs where it is, and so does one that begins while the pool is busy.

use crate::{Symbol, host::fail, symbol_table};
use std::{
    cell::{Cell, UnsafeCell},
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::*},
    },
    thread,
    time::{Duration, Instant},
};

/// The variable that says how many threads there are, where nothing else does.
const VARIABLE: &str = "TINYMLIR_THREADS";
/// How long a worker looks for work before it sleeps, and of that without letting others have its processor.
const AWAKE: Duration = Duration::from_micros(500);
const SPINS: u32 = 2000;
/// Pieces for each thread where they are not too small, so that a thread that was held up leaves its share to others.
const PIECES: i64 = 4;

/// What a parallel loop runs: the pieces from `begin` to before `end`.
type Task = unsafe extern "C" fn(context: *mut u8, begin: i64, end: i64);

#[derive(Clone, Copy)]
struct Job {
    task: Task,
    context: *mut u8,
    count: i64,
    piece: i64,
    pieces: usize,
}

struct Pool {
    /// Pieces that nobody has taken. Positive only while `job` is valid.
    left: AtomicUsize,
    /// Pieces that are done; the job is over when all are.
    done: AtomicUsize,
    job: UnsafeCell<Option<Job>>,
    /// Held by the thread whose loop the pool runs; the number of workers.
    leader: Mutex<usize>,
    /// Workers from this number on take nothing.
    limit: AtomicUsize,
    sleeping: Mutex<usize>,
    sleepers: AtomicUsize,
    wake: Condvar,
}

// SAFETY: `job` is written by the holder of `leader` while no piece is left or in work, and read by those who took a piece.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool {
    left: AtomicUsize::new(0),
    done: AtomicUsize::new(0),
    job: UnsafeCell::new(None),
    leader: Mutex::new(0),
    limit: AtomicUsize::new(0),
    sleeping: Mutex::new(0),
    sleepers: AtomicUsize::new(0),
    wake: Condvar::new(),
};

/// How many threads there are to be; zero where nobody has asked yet.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is inside of a parallel loop.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Sets how many threads parallel loops and products run on from now on, the caller's included; at least one.
pub fn set_threads(count: usize) {
    THREADS.store(count.max(1), Relaxed);
}

/// How many threads that is: as set, else as `TINYMLIR_THREADS` says, else one for each processor that this process may use.
pub fn threads() -> usize {
    let set = THREADS.load(Relaxed);
    if set > 0 {
        return set;
    }
    let processors = || thread::available_parallelism().map_or(1, |n| n.get());
    let count = match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(count) if count > 0 => count,
            _ => fail(&format!("{VARIABLE} is '{text}': give a number of threads, 1 or more")),
        },
        _ => processors(),
    };
    set_threads(count);
    count
}

/// Calls `task(context, begin, end)` for ranges that together are `0..count`, whole multiples of `grain` but for
/// the last one, on several threads, and returns when all are done.
///
/// # Safety
/// The task may be called with such ranges on any thread, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirParallelFor(task: Task, context: *mut u8, count: i64, grain: i64) {
    if count <= 0 {
        return;
    }
    let workers = threads() as i64;
    let grain = grain.max(1);
    // Whole grains, as many as make that many pieces.
    let up = |a: i64, b: i64| (a - 1) / b + 1;
    let piece = up(up(count, (workers * PIECES).min(up(count, grain))), grain) * grain;
    let pieces = up(count, piece);
    let alone = || {
        // SAFETY: as the caller vouches.
        unsafe { task(context, 0, count) }
    };
    if workers == 1 || pieces == 1 || INSIDE.get() {
        return alone();
    }
    let Ok(mut started) = POOL.leader.try_lock() else { return alone() };
    POOL.start(&mut started, workers as usize - 1);
    let job = Job { task, context, count, piece, pieces: pieces as usize };
    // SAFETY: this thread leads, and the last job is over: nobody reads.
    unsafe { *POOL.job.get() = Some(job) };
    POOL.done.store(0, Relaxed);
    POOL.left.store(job.pieces, SeqCst);
    if POOL.sleepers.load(SeqCst) > 0 {
        let _guard = POOL.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        POOL.wake.notify_all();
    }
    while POOL.work() {}
    let mut spins = 0;
    while POOL.done.load(Acquire) < job.pieces {
        pause(&mut spins);
    }
}

/// Waits a moment; lets others have the processor after many.
fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
}

impl Pool {
    /// Sees to it that there are that many workers.
    fn start(&'static self, started: &mut usize, workers: usize) {
        if self.limit.load(Relaxed) != workers {
            self.limit.store(workers, SeqCst);
        }
        while *started < workers {
            let number = *started;
            let name = format!("tinymlir-{number}");
            // Compiled code may keep large arrays on the stack.
            let worker = thread::Builder::new().name(name).stack_size(64 << 20).spawn(move || self.serve(number));
            if let Err(error) = worker {
                fail(&format!("cannot start a thread: {error} (ask for fewer threads)"));
            }
            *started += 1;
        }
    }

    /// Takes a piece and computes it; whether there was one.
    fn work(&self) -> bool {
        let mut left = self.left.load(Acquire);
        loop {
            if left == 0 {
                return false;
            }
            match self.left.compare_exchange_weak(left, left - 1, AcqRel, Acquire) {
                Ok(_) => break,
                Err(now) => left = now,
            }
        }
        // SAFETY: the job is not over while this piece is not done, so that nobody writes.
        let Some(job) = (unsafe { *self.job.get() }) else { return false };
        let begin = (job.pieces - left) as i64 * job.piece;
        INSIDE.set(true);
        // SAFETY: the leader's caller vouches for ranges within the count.
        unsafe { (job.task)(job.context, begin, (begin + job.piece).min(job.count)) };
        INSIDE.set(false);
        self.done.fetch_add(1, Release);
        true
    }

    fn serve(&self, number: usize) {
        let (mut spins, mut since) = (0, Instant::now());
        loop {
            if number < self.limit.load(Relaxed) && self.work() {
                (spins, since) = (0, Instant::now());
                continue;
            }
            pause(&mut spins);
            // The clock is looked at now and then only.
            if spins < SPINS || since.elapsed() < AWAKE {
                continue;
            }
            let mut guard = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
            self.sleepers.fetch_add(1, SeqCst);
            while self.left.load(SeqCst) == 0 || number >= self.limit.load(SeqCst) {
                guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            self.sleepers.fetch_sub(1, SeqCst);
            drop(guard);
            (spins, since) = (0, Instant::now());
        }
    }
}

/// [`tinymlirParallelFor`] for a closure.
pub(crate) fn parallel_for(count: i64, grain: i64, body: &(dyn Fn(i64, i64) + Sync)) {
    unsafe extern "C" fn call(context: *mut u8, begin: i64, end: i64) {
        // SAFETY: the context is the closure below, alive until the loop is over.
        let body = unsafe { *context.cast::<&(dyn Fn(i64, i64) + Sync)>() };
        body(begin, end)
    }
    let mut body = body;
    // SAFETY: the closure may be called on any thread.
    unsafe { tinymlirParallelFor(call, (&raw mut body).cast(), count, grain) }
}

/// The part of [`crate::symbols`] that belongs to parallel loops.
pub(crate) fn symbols() -> Vec<Symbol> {
    symbol_table![tinymlirParallelFor]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_index_is_visited_once_whatever_the_threads() {
        for count in [1i64, 2, 3, 7, 64, 65, 1000, 4099] {
            for grain in [0, 1, 5, 64, 5000] {
                for threads in [1, 2, 3, 7] {
                    set_threads(threads);
                    let seen: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                    parallel_for(count, grain, &|begin, end| {
                        assert!(begin % grain.max(1) == 0 && (end == count || end - begin >= grain));
                        // A loop inside runs where it is.
                        parallel_for(end - begin, 1, &|from, to| {
                            (begin + from..begin + to).for_each(|i| {
                                seen[i as usize].fetch_add(1, Relaxed);
                            })
                        });
                    });
                    assert!(seen.iter().all(|n| n.load(Relaxed) == 1), "{count} {grain} {threads}");
                }
            }
        }
    }

    #[test]
    fn loops_of_several_threads_do_not_meet() {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..2000 {
                        let sum = AtomicUsize::new(0);
                        parallel_for(100 + round % 7, 3, &|begin, end| {
                            sum.fetch_add((begin..end).sum::<i64>() as usize, Relaxed);
                        });
                        let n = 100 + round as usize % 7;
                        assert_eq!(sum.into_inner(), n * (n - 1) / 2);
                    }
                });
            }
        });
    }

    #[test]
    fn workers_that_sleep_wake() {
        set_threads(3);
        for _ in 0..20 {
            thread::sleep(4 * AWAKE);
            let sum = AtomicUsize::new(0);
            parallel_for(50, 1, &|begin, end| {
                thread::sleep(Duration::from_micros(50));
                sum.fetch_add((end - begin) as usize, Relaxed);
            });
            assert_eq!(sum.into_inner(), 50);
        }
    }
}
