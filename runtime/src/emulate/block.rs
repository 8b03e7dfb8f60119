//! A block: its threads as fibers, and who of them waits for whom.

use super::{
    CURRENT, LANE, Thread, Wait,
    cluster::{Launch, Members, place_in},
    memory, stop, warp,
};
use corosensei::{Coroutine, CoroutineResult, stack::DefaultStack};
use std::{
    cell::{RefCell, UnsafeCell},
    ptr,
};

/// Of each fiber. What kernels keep in local memory must fit beside their calls of libm.
const STACK_BYTES: usize = 256 << 10;
/// The lanes of a warp.
const WARP: usize = 32;

type Fiber = Coroutine<u64, (), (), DefaultStack>;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    /// May run, and is given its answer.
    Ready,
    /// For what its [`Thread`] says.
    Waiting,
    Ended,
}

/// A block that runs.
pub(super) struct Block<'a> {
    launch: &'a Launch,
    reverse: bool,
    threads: Vec<UnsafeCell<Thread>>,
    states: Vec<State>,
    answers: Vec<u64>,
    /// None before the thread begins and after it ends.
    fibers: Vec<Option<Fiber>>,
}

thread_local! {
    /// Stacks that no fiber has.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

fn stack() -> DefaultStack {
    STACKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| match DefaultStack::new(STACK_BYTES) {
        Ok(stack) => stack,
        Err(error) => stop(&format!("there is no memory for the stacks of an emulated block: {error}")),
    })
}

impl<'a> Block<'a> {
    /// Block `rank` of a cluster, x fastest.
    pub(super) fn new(
        launch: &'a Launch,
        cluster: [i64; 3],
        rank: usize,
        members: &Members,
        reverse: bool,
    ) -> Block<'a> {
        let count = launch.block.iter().product::<i64>() as usize;
        let own = place_in(launch.cluster, rank as i64);
        let at: [i64; 3] = std::array::from_fn(|i| cluster[i] * launch.cluster[i] + own[i]);
        let start = members.shared(rank);
        let thread = |i: usize| {
            let mut ids = [0; 32];
            let id = place_in(launch.block, i as i64);
            let sizes = [id, at, launch.block, launch.grid, cluster, launch.clusters(), own, launch.cluster];
            sizes.iter().flatten().zip(&mut ids).for_each(|(size, id)| *id = *size as u32);
            let rest = [i % WARP, i / WARP, rank, members.count()];
            rest.iter().zip(&mut ids[LANE..]).for_each(|(value, id)| *id = *value as u32);
            UnsafeCell::new(Thread {
                ids,
                shared: start,
                end: start.wrapping_add(launch.shared_bytes()),
                dynamic: start.wrapping_add(launch.static_bytes as usize),
                kernel: launch.name,
                yielder: ptr::null(),
                wait: Wait::Barrier { id: 0, count: 0 },
                copies: memory::Copies::default(),
                cluster: members,
                arrived: 0,
                waited: 0,
            })
        };
        Block {
            launch,
            reverse,
            threads: (0..count).map(thread).collect(),
            states: vec![State::Ready; count],
            answers: vec![0; count],
            fibers: (0..count).map(|_| None).collect(),
        }
    }

    /// Runs every thread to its end, or until none can go on without other blocks or at all; whether all have ended.
    pub(super) fn run(&mut self) -> bool {
        let warps = self.states.len().div_ceil(WARP);
        loop {
            for i in 0..warps {
                self.run_warp(if self.reverse { warps - 1 - i } else { i });
            }
            if !self.open_barriers() {
                return self.states.iter().all(|state| *state == State::Ended);
            }
        }
    }

    /// How many threads there are.
    pub(super) fn count(&self) -> usize {
        self.states.len()
    }

    /// Where a thread is, for messages.
    pub(super) fn place(&self, i: usize) -> String {
        // SAFETY: no fiber runs.
        unsafe { (*self.threads[i].get()).place() }
    }

    /// How often a thread has arrived at the barrier of the cluster.
    pub(super) fn arrived(&self, i: usize) -> u64 {
        // SAFETY: no fiber runs.
        unsafe { (*self.threads[i].get()).arrived }
    }

    /// What a thread waits for, if it does.
    pub(super) fn wait(&self, i: usize) -> Option<&Wait> {
        // SAFETY: no fiber runs while the block is borrowed: running one takes it mutably.
        (self.states[i] == State::Waiting).then(|| unsafe { &(*self.threads[i].get()).wait })
    }

    /// Lets a thread go on.
    pub(super) fn answer(&mut self, i: usize, answer: u64) {
        (self.states[i], self.answers[i]) = (State::Ready, answer);
    }

    /// Runs the threads of a warp until each has ended or waits for other warps.
    fn run_warp(&mut self, warp: usize) {
        let lanes = warp * WARP..self.states.len().min((warp + 1) * WARP);
        loop {
            for i in lanes.clone() {
                let i = if self.reverse { lanes.start + lanes.end - 1 - i } else { i };
                if self.states[i] == State::Ready {
                    self.states[i] = self.run_thread(i);
                }
            }
            if !self.answer_warp(lanes.start, lanes.len()) {
                return;
            }
        }
    }

    /// Lets a thread run until it waits or ends.
    fn run_thread(&mut self, i: usize) -> State {
        let thread = self.threads[i].get();
        let (kernel, arguments) = (self.launch.kernel, self.launch.arguments);
        let fiber = self.fibers[i].get_or_insert_with(|| {
            Coroutine::with_stack(stack(), move |yielder, _| {
                // SAFETY: the thread outlives the fiber, and nothing else refers to it while the fiber runs; the kernel
                // finds its arguments there.
                unsafe {
                    (*thread).yielder = yielder;
                    kernel(arguments)
                }
            })
        });
        let outer = CURRENT.replace(thread);
        let result = fiber.resume(self.answers[i]);
        CURRENT.set(outer);
        match result {
            CoroutineResult::Yield(()) => State::Waiting,
            CoroutineResult::Return(()) => {
                if let Some(fiber) = self.fibers[i].take() {
                    STACKS.with_borrow_mut(|stacks| stacks.push(fiber.into_stack()));
                }
                State::Ended
            }
        }
    }

    /// Answers each operation of a warp that all its lanes have reached; whether there was one.
    fn answer_warp(&mut self, first: usize, count: usize) -> bool {
        let mut any = false;
        let exist = if count == WARP { u32::MAX } else { (1 << count) - 1 };
        for i in 0..count {
            let Some(&Wait::Warp { mask, together }) = self.wait(first + i) else { continue };
            // A matrix instruction is of a whole warp.
            let exist = if together.whole() { u32::MAX } else { exist };
            let mask = mask & exist;
            if mask & (1 << i) == 0 {
                let place = self.place(first + i);
                stop(&format!("{place}: {} among lanes {mask:#010x}, of which the thread's is none", together.name()));
            }
            let mut lanes = [None; WARP];
            for lane in (0..count).filter(|lane| mask & (1 << lane) != 0) {
                if let Some(Wait::Warp { mask: theirs, together: other }) = self.wait(first + lane)
                    && theirs & exist == mask
                    && other.joins(&together)
                {
                    lanes[lane] = Some(*other);
                }
            }
            if lanes.iter().flatten().count() < mask.count_ones() as usize {
                continue;
            }
            let answers = warp::answer(&lanes);
            for lane in (0..count).filter(|lane| mask & (1 << lane) != 0) {
                self.answer(first + lane, answers[lane]);
            }
            any = true;
        }
        any
    }

    /// Opens each barrier that as many threads have reached as it is for; whether there was one.
    fn open_barriers(&mut self) -> bool {
        let mut any = false;
        for i in 0..self.states.len() {
            let Some(&Wait::Barrier { id, count }) = self.wait(i) else { continue };
            let here = |i: &usize| match self.wait(*i) {
                Some(Wait::Barrier { id: other, count: size }) => (*other, *size) == (id, count),
                _ => false,
            };
            let wanted = if count == 0 { self.states.len() } else { count as usize };
            let those: Vec<usize> = (0..self.states.len()).filter(here).collect();
            if those.len() >= wanted {
                those.into_iter().for_each(|i| self.answer(i, 0));
                any = true;
            }
        }
        any
    }
}
