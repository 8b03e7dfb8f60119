//! A cluster: blocks that run side by side, their shared memory, of which each sees the others', and the barrier of all their threads.

use super::{Kernel, Thread, Wait, block::Block, memory, stop};
use crate::{Symbol, symbol_table};
use std::{
    cell::Cell,
    ffi::{CStr, c_char, c_void},
};

/// What a launch gives; sizes count blocks and threads, the cluster's blocks.
pub(super) struct Launch {
    pub kernel: Kernel,
    pub name: *const c_char,
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub cluster: [i64; 3],
    pub static_bytes: i64,
    pub dynamic_bytes: i64,
    pub arguments: *const c_void,
}

// SAFETY: what the pointers lead to is there for all threads until the launch is over, and only read.
unsafe impl Sync for Launch {}

impl Launch {
    /// How many clusters the grid is.
    pub(super) fn clusters(&self) -> [i64; 3] {
        std::array::from_fn(|i| self.grid[i] / self.cluster[i])
    }

    /// The bytes of shared memory of a block.
    pub(super) fn shared_bytes(&self) -> usize {
        (self.static_bytes + self.dynamic_bytes) as usize
    }
}

/// Where `index` is in a box of these sizes, x fastest.
pub(super) fn place_in([x, y, _]: [i64; 3], index: i64) -> [i64; 3] {
    [index % x, index / x % y, index / x / y]
}

/// Where the shared memory of a block begins, and what lies between the ends of one and the beginnings of others at least.
const ALIGNMENT: usize = 1024;

/// How far a block is.
#[derive(Clone, Copy, PartialEq)]
enum Progress {
    Waiting,
    Running,
    Ended,
}

/// The blocks of a cluster, as each of them sees the others.
pub(super) struct Members {
    memory: Vec<u8>,
    /// The bytes of a block's shared memory, and those from the beginning of one to that of the next.
    bytes: usize,
    stride: usize,
    progress: Vec<Cell<Progress>>,
}

impl Members {
    fn new(count: usize, bytes: usize) -> Members {
        let stride = (bytes + ALIGNMENT).next_multiple_of(ALIGNMENT);
        let memory = vec![memory::POISON; count * stride + ALIGNMENT];
        Members { memory, bytes, stride, progress: vec![Cell::new(Progress::Waiting); count] }
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.progress.len()
    }

    /// Where the shared memory of a block begins.
    pub(super) fn shared(&self, rank: usize) -> *mut u8 {
        let start = self.memory.as_ptr().cast_mut();
        start.wrapping_add(start.align_offset(ALIGNMENT) + rank * self.stride)
    }

    /// The block whose shared memory an address is in or just behind, and how far from its beginning.
    fn find(&self, address: *const u8) -> Option<(usize, usize)> {
        let offset = (address as usize).checked_sub(self.shared(0) as usize)?;
        let found = (offset / self.stride, offset % self.stride);
        (found.0 < self.count()).then_some(found)
    }
}

/// A cluster that runs.
pub(super) struct Cluster<'a> {
    blocks: Vec<Block<'a>>,
    reverse: bool,
    /// Where all threads find it.
    members: Box<Members>,
}

impl<'a> Cluster<'a> {
    /// Cluster `index` of the grid, x fastest.
    pub(super) fn new(launch: &'a Launch, index: i64, reverse: bool) -> Cluster<'a> {
        let count = launch.cluster.iter().product::<i64>() as usize;
        let members = Box::new(Members::new(count, launch.shared_bytes()));
        let at = place_in(launch.clusters(), index);
        let blocks = (0..count).map(|rank| Block::new(launch, at, rank, &members, reverse)).collect();
        Cluster { blocks, reverse, members }
    }

    /// Runs every block to its end, or the program to its.
    pub(super) fn run(mut self) {
        loop {
            for i in 0..self.blocks.len() {
                let i = if self.reverse { self.blocks.len() - 1 - i } else { i };
                let progress = &self.members.progress[i];
                if progress.get() != Progress::Ended {
                    progress.set(Progress::Running);
                    if self.blocks[i].run() {
                        progress.set(Progress::Ended);
                    }
                }
            }
            if self.members.progress.iter().all(|progress| progress.get() == Progress::Ended) {
                return;
            }
            if !self.open_barrier() {
                self.stuck();
            }
        }
    }

    /// Every thread, as its block and its place in it.
    fn threads(&self) -> Vec<(usize, usize)> {
        self.blocks.iter().enumerate().flat_map(|(b, block)| (0..block.count()).map(move |i| (b, i))).collect()
    }

    /// Lets those go on that wait at the barrier of the cluster and for whom all have arrived; whether there was one.
    fn open_barrier(&mut self) -> bool {
        let threads = self.threads();
        let arrived = threads.iter().map(|(b, i)| self.blocks[*b].arrived(*i)).min().unwrap_or(0);
        let mut any = false;
        for (b, i) in threads {
            if let Some(Wait::Cluster { phase }) = self.blocks[b].wait(i)
                && *phase <= arrived
            {
                self.blocks[b].answer(i, 0);
                any = true;
            }
        }
        any
    }

    /// Ends the program: no thread can run. Says what the first one that waits waits for, and where the first one is that waits
    /// for something else; a thread that waits for others of its block comes before one that waits for the cluster.
    fn stuck(&self) -> ! {
        let describe = |(b, i): (usize, usize)| match self.blocks[b].wait(i) {
            Some(Wait::Barrier { id, count: 0 }) => format!("waits at barrier {id}"),
            Some(Wait::Barrier { id, count }) => format!("waits at barrier {id} for {count} threads"),
            Some(Wait::Warp { mask, together }) => format!("waits at {} among lanes {mask:#010x}", together.name()),
            Some(Wait::Cluster { .. }) => "waits at the barrier of the cluster".into(),
            None if self.members.progress[b].get() == Progress::Ended && self.blocks.len() > 1 => {
                "has ended with its block".into()
            }
            None => "has ended".into(),
        };
        let threads = self.threads();
        let waits = |(b, i): (usize, usize), inside: bool| match self.blocks[b].wait(i) {
            Some(Wait::Cluster { .. }) => !inside,
            Some(_) => true,
            None => false,
        };
        let found = |inside: bool| threads.iter().copied().find(|thread| waits(*thread, inside));
        let (inside, first) = match found(true) {
            Some(first) => (true, first),
            None => (false, found(false).unwrap_or_default()),
        };
        let fact = describe(first);
        let among: Vec<_> = threads.into_iter().filter(|(b, _)| !inside || *b == first.0).collect();
        let others: Vec<_> = among.iter().copied().filter(|thread| describe(*thread) != fact).collect();
        let place = |(b, i): (usize, usize)| self.blocks[b].place(i);
        let rest = match others.first() {
            None => "as does every other thread".into(),
            Some(other) => {
                let place = place(*other);
                let mark = if inside { ", thread " } else { ", block " };
                let at = place.find(mark).map_or("", |at| &place[at + 2..]);
                let at = at.strip_prefix("thread ").unwrap_or(at);
                format!("where {} of {} threads do not: {at} {}", others.len(), among.len(), describe(*other))
            }
        };
        stop(&format!("{} {fact} forever, {rest}", place(first)))
    }
}

/// Arrives at the barrier of the cluster.
///
/// # Safety
/// The thread is the one that runs (so for all below).
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedClusterArrive(thread: *mut Thread) {
    // SAFETY: as the caller vouches (so for all below).
    let thread = unsafe { &mut *thread };
    if thread.arrived > thread.waited {
        stop(&format!("{} arrives at the barrier of the cluster again before it has waited there", thread.place()));
    }
    thread.arrived += 1;
}

/// Waits at the barrier of the cluster until all of its threads have arrived.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedClusterWait(thread: *mut Thread) {
    // SAFETY: as above.
    let thread = unsafe { &mut *thread };
    if thread.arrived == thread.waited {
        stop(&format!("{} waits at the barrier of the cluster where it has not arrived", thread.place()));
    }
    thread.waited += 1;
    thread.wait(Wait::Cluster { phase: thread.waited });
}

/// `mapa`: the address in block `rank` of the cluster that corresponds to one in shared memory.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedMap(thread: *mut Thread, address: *const u8, rank: u32) -> *mut u8 {
    // SAFETY: as above; a cluster lives as long as its threads.
    let (thread, members) = unsafe { (&*thread, &*(*thread).cluster) };
    if rank as usize >= members.count() {
        let place = thread.place();
        stop(&format!("{place}: mapa asks for block {rank} of the cluster, which has {}", members.count()));
    }
    match members.find(address) {
        Some((_, offset)) => members.shared(rank as usize).wrapping_add(offset),
        None => stop(&format!("{}: mapa is of an address that is not in shared memory", thread.place())),
    }
}

/// Checks an access to the cluster's shared memory, which `what` names.
///
/// # Safety
/// The text ends with a zero byte.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedRemoteAccess(
    thread: *mut Thread,
    what: *const c_char,
    address: *const u8,
    bytes: i64,
    alignment: i64,
) {
    // SAFETY: as above; a cluster lives as long as its threads.
    let (place, members) = unsafe { (&*thread, &*(*thread).cluster) };
    let refuse = |fact: &str| -> ! {
        // SAFETY: as the caller vouches.
        let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
        stop(&format!("{}: {what} is {fact}", place.place()))
    };
    if !(address as usize).is_multiple_of(alignment as usize) {
        refuse(&format!("at {:#x}, which is not a multiple of {alignment}", address as usize));
    }
    let Some((rank, offset)) = members.find(address) else { refuse("outside of the cluster's shared memory") };
    if offset + bytes as usize > members.bytes {
        let end = offset as i64 + bytes;
        let size = members.bytes;
        refuse(&format!(
            "of bytes {offset} to {end} of the shared memory of block {rank} of the cluster, which has {size}"
        ));
    }
    let state = match members.progress[rank].get() {
        Progress::Running => return,
        Progress::Waiting => "may not have begun (wait at the barrier of the cluster before)",
        Progress::Ended => "has ended (let it wait at the barrier of the cluster for the last access)",
    };
    refuse(&format!("in the shared memory of block {rank} of the cluster, which {state}"))
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![
        tinymlirEmulatedClusterArrive,
        tinymlirEmulatedClusterWait,
        tinymlirEmulatedMap,
        tinymlirEmulatedRemoteAccess,
    ]
}
