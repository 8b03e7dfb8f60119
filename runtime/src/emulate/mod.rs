//! Kernels on the CPU, thread by thread, as `tinymlir-emulate-gpu` compiles them: for their numbers, not for speed.
//!
//! Clusters run one after the other on each thread of the pool, a launch without them as clusters of one block. Each thread of a
//! block is a fiber, which runs until it must wait for others: at a barrier, or at an operation of its warp. A block runs until it can go
//! on no more without the others of its cluster, and then the next one does. All that wait for one another go on together, so that a
//! barrier that is missing shows as numbers that are wrong, the more so as shared memory is full of NaN when a block begins, and what is
//! copied asynchronously arrives when it is waited for and not before.
//!
//! What a card would hang on or leave undefined ends the program with the kernel's name: threads that wait for threads that
//! have ended or wait elsewhere, an access outside of shared memory, one that is not aligned, and one to the shared memory of
//! another block of the cluster that has not begun or has ended.

mod block;
mod cluster;
mod matrix;
mod memory;
mod print;
mod warp;

use crate::{
    Symbol,
    host::{fail, with_values},
    symbol_table, threads,
};
use cluster::Cluster;
use corosensei::Yielder;
use std::{
    cell::Cell,
    ffi::{CStr, c_char, c_void},
    ptr,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// The most shared memory that a block of any chip has.
const SHARED_BYTES: i64 = 227 << 10;
const MAX_THREADS: i64 = 1024;
/// The most blocks that a cluster has on a chip that is asked for more than the portable size.
const MAX_CLUSTER: i64 = 16;

/// Whether threads run from the last to the first.
static REVERSE: AtomicBool = AtomicBool::new(false);

/// In which order the threads of a block run between two barriers. A kernel whose results depend on it lacks a barrier.
pub fn set_reverse(reverse: bool) {
    REVERSE.store(reverse, Relaxed);
}

/// What a thread of a kernel knows of itself; compiled code reads the first fields at the places that
/// `tinymlir-emulate-gpu` knows.
#[repr(C)]
pub(crate) struct Thread {
    /// tid, ctaid, ntid, nctaid, clusterid, nclusterid, cluster_ctaid, cluster_nctaid, three each; the lane, the warp, the block's
    /// rank in its cluster and the cluster's size.
    ids: [u32; 32],
    /// The block's shared memory, and its end.
    shared: *mut u8,
    end: *mut u8,
    /// Where shared memory begins whose size the launch gives.
    dynamic: *mut u8,
    kernel: *const c_char,
    yielder: *const Yielder<u64, ()>,
    /// What it waits for, while it waits.
    wait: Wait,
    copies: memory::Copies,
    cluster: *const cluster::Members,
    /// How often it has arrived at the barrier of its cluster, and how often waited there.
    arrived: u64,
    waited: u64,
}

/// Where the fields of [`Thread`] stand that each thread of a launch has for itself.
const LANE: usize = 24;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// A barrier of the block, for as many threads; 0 means all.
    Barrier { id: u32, count: u32 },
    /// An operation that the lanes of a warp in a mask do together.
    Warp { mask: u32, together: warp::Together },
    /// The barrier of the cluster, where all of its threads must have arrived so many times.
    Cluster { phase: u64 },
}

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(ptr::null_mut()) };
}

impl Thread {
    /// Where the thread is, for messages.
    fn place(&self) -> String {
        let [x, y, z, bx, by, bz, ..] = self.ids;
        // SAFETY: the launch's name lives as long as the compiled code.
        let kernel = unsafe { CStr::from_ptr(self.kernel) }.to_string_lossy();
        format!("kernel @{kernel}, block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})")
    }

    /// Lets the other threads run until what this one waits for has come; what that gave.
    fn wait(&mut self, wait: Wait) -> u64 {
        self.wait = wait;
        // SAFETY: the yielder was set when the fiber began, on whose stack this runs.
        unsafe { (*self.yielder).suspend(()) }
    }
}

/// Ends the program: the first of several threads that fail speaks.
fn stop(message: &str) -> ! {
    static FIRST: Mutex<()> = Mutex::new(());
    let _guard = FIRST.lock();
    fail(message)
}

/// A kernel: what takes its arguments, 16 bytes each, from where they were stored for it.
type Kernel = unsafe extern "C" fn(arguments: *const c_void);

/// Runs a kernel and returns when it is over. A grid with a zero in it runs nothing. A launch without clusters has a zero for their sizes,
/// as has `own` where the kernel is compiled for no cluster's size.
///
/// # Safety
/// The kernel takes its arguments from `arguments`, and its name is a NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirEmulatedLaunch(
    kernel: Kernel,
    name: *const c_char,
    grid_x: i64,
    grid_y: i64,
    grid_z: i64,
    block_x: i64,
    block_y: i64,
    block_z: i64,
    cluster_x: i64,
    cluster_y: i64,
    cluster_z: i64,
    own_x: i64,
    own_y: i64,
    own_z: i64,
    static_bytes: i64,
    dynamic_bytes: i64,
    arguments: *const c_void,
) {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let (given, own) = ([cluster_x, cluster_y, cluster_z], [own_x, own_y, own_z]);
    let cluster = match (given, own) {
        ([0, 0, 0], [0, 0, 0]) => [1, 1, 1],
        ([0, 0, 0], own) => own,
        (given, _) => given,
    };
    // SAFETY: as the caller vouches.
    let text = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let size = |[x, y, z]: [i64; 3]| format!("{x}x{y}x{z}");
    let clusters = if cluster == [1, 1, 1] { String::new() } else { format!(", cluster {}", size(cluster)) };
    let refuse = |fact: &str| -> ! {
        stop(&format!("kernel @{text}, grid {}, block {}{clusters}: {fact}", size(grid), size(block)))
    };
    if grid.contains(&0) {
        return;
    }
    let most = [[i64::from(i32::MAX), 65535, 65535], [1024, 1024, 64]];
    if [grid, block].iter().zip(most).any(|(s, most)| s.iter().zip(most).any(|(s, most)| !(1..=most).contains(s))) {
        refuse("a card has no such sizes");
    }
    if block_x * block_y * block_z > MAX_THREADS {
        refuse("a block has at most 1024 threads");
    }
    if static_bytes + dynamic_bytes > SHARED_BYTES {
        refuse(&format!("{} bytes of shared memory are more than a block has", static_bytes + dynamic_bytes));
    }
    if cluster.iter().any(|s| !(1..=MAX_CLUSTER).contains(s)) || cluster.iter().product::<i64>() > MAX_CLUSTER {
        refuse(&format!("a cluster has 1 to {MAX_CLUSTER} blocks"));
    }
    if own != [0, 0, 0] && own != cluster {
        refuse(&format!("the kernel is compiled for clusters of {}", size(own)));
    }
    if grid.iter().zip(cluster).any(|(grid, cluster)| grid % cluster != 0) {
        refuse("the grid is not of whole clusters");
    }
    let launch = cluster::Launch { kernel, name, grid, block, cluster, static_bytes, dynamic_bytes, arguments };
    threads::parallel_for(launch.clusters().iter().product(), 1, &|begin, end| {
        for index in begin..end {
            Cluster::new(&launch, index, REVERSE.load(Relaxed)).run();
        }
    });
}

/// The thread that runs.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tinymlirEmulatedThread() -> *mut Thread {
    CURRENT.get()
}

/// A failed assertion in a kernel: message `index` of those in `messages`, each ended by a zero byte.
///
/// # Safety
/// There are as many messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tinymlirEmulatedFail(messages: *const c_char, index: i64, first: i64, second: i64) -> ! {
    // SAFETY: as the caller vouches.
    let message = unsafe {
        let mut message = messages;
        for _ in 0..index {
            message = message.add(CStr::from_ptr(message).count_bytes() + 1);
        }
        CStr::from_ptr(message).to_string_lossy()
    };
    stop(&with_values(&message, first, second))
}

/// The part of [`crate::symbols`] that emulated kernels call.
pub(crate) fn symbols() -> Vec<Symbol> {
    let mut table = symbol_table![tinymlirEmulatedLaunch, tinymlirEmulatedThread, tinymlirEmulatedFail];
    table.extend(cluster::symbols());
    table.extend(matrix::symbols());
    table.extend(memory::symbols());
    table.extend(print::symbols());
    table.extend(warp::symbols());
    table
}
