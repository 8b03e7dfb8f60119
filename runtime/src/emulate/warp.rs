//! What the lanes of a warp do together, by the definitions of the PTX ISA.

use super::{Thread, Wait, matrix};
use crate::{Symbol, symbol_table};

/// An operation of a warp, and a lane's part in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Together {
    /// `bar.warp.sync`.
    Sync,
    /// `shfl.sync`: the mode (0 up, 1 down, 2 bfly, 3 idx), the value, and operands b and c.
    Shuffle { mode: u32, value: u32, lane: u32, clamp: u32 },
    /// `vote.sync`: 0 any, 1 all, 2 uni, 3 ballot.
    Vote { mode: u32, bit: bool },
    /// `redux.sync`: 0 add, 1 and, 2 or, 3 xor, 4 min, 5 max, 6 umin, 7 umax.
    Reduce { mode: u32, value: u32 },
    /// `mma.sync`.
    Multiply(matrix::Multiply),
    /// `ldmatrix`.
    Load(matrix::Load),
}

use Together::*;

impl Together {
    /// As PTX names it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Sync => "bar.warp.sync",
            Shuffle { .. } => "shfl.sync",
            Vote { .. } => "vote.sync",
            Reduce { .. } => "redux.sync",
            Multiply(_) => "mma.sync",
            Load(_) => "ldmatrix",
        }
    }

    /// Whether every lane of a warp must exist and take part.
    pub(super) fn whole(&self) -> bool {
        matches!(self, Multiply(_) | Load(_))
    }

    /// Whether two lanes take part in the same operation.
    pub(super) fn joins(&self, other: &Together) -> bool {
        match (self, other) {
            (Sync, Sync) => true,
            (Shuffle { mode: a, .. }, Shuffle { mode: b, .. }) => a == b,
            (Vote { mode: a, .. }, Vote { mode: b, .. }) => a == b,
            (Reduce { mode: a, .. }, Reduce { mode: b, .. }) => a == b,
            (Multiply(a), Multiply(b)) => a.joins(b),
            (Load(a), Load(b)) => a.joins(b),
            _ => false,
        }
    }
}

/// What each lane gets; the lanes that take part all do the same.
pub(super) fn answer(lanes: &[Option<Together>; 32]) -> [u64; 32] {
    let mut answers = [0; 32];
    if let Some(Multiply(_) | Load(_)) = lanes[0] {
        answer_matrices(lanes);
        return answers;
    }
    let bits = |lane: &Option<Together>| matches!(lane, Some(Vote { bit: true, .. }));
    let ballot = (0..32).filter(|lane| bits(&lanes[*lane])).fold(0u64, |set, lane| set | 1 << lane);
    let all = (0..32).filter(|lane| lanes[*lane].is_some()).fold(0u64, |set, lane| set | 1 << lane);
    let values = lanes.iter().flatten().filter_map(|lane| match lane {
        Reduce { mode, value } => Some((*mode, *value)),
        _ => None,
    });
    let reduced = values.reduce(|(mode, a), (_, b)| (mode, reduce(mode, a, b))).map_or(0, |(_, value)| value);
    for lane in 0..32 {
        answers[lane] = match lanes[lane] {
            Some(Shuffle { .. }) => shuffle(lanes, lane as u32),
            Some(Vote { mode: 0, .. }) => u64::from(ballot != 0),
            Some(Vote { mode: 1, .. }) => u64::from(ballot == all),
            Some(Vote { mode: 2, .. }) => u64::from(ballot == all || ballot == 0),
            Some(Vote { .. }) => ballot,
            Some(Reduce { .. }) => reduced.into(),
            Some(Sync | Multiply(_) | Load(_)) | None => 0,
        };
    }
    answers
}

/// Matrix instructions write their registers; all lanes of a warp take part in them.
fn answer_matrices(lanes: &[Option<Together>; 32]) {
    match lanes[0] {
        Some(Multiply(first)) => matrix::multiply(&std::array::from_fn(|lane| match lanes[lane] {
            Some(Multiply(part)) => part,
            _ => first,
        })),
        Some(Load(first)) => matrix::load(&std::array::from_fn(|lane| match lanes[lane] {
            Some(Load(part)) => part,
            _ => first,
        })),
        _ => {}
    }
}

fn reduce(mode: u32, a: u32, b: u32) -> u32 {
    match mode {
        0 => a.wrapping_add(b),
        1 => a & b,
        2 => a | b,
        3 => a ^ b,
        4 => (a as i32).min(b as i32) as u32,
        5 => (a as i32).max(b as i32) as u32,
        6 => a.min(b),
        _ => a.max(b),
    }
}

/// The value that a lane gets, and whether its source is inside of its segment, in bit 32. A source that does not take part gives poison.
fn shuffle(lanes: &[Option<Together>; 32], lane: u32) -> u64 {
    let Some(Shuffle { mode, lane: b, clamp: c, .. }) = lanes[lane as usize] else { return 0 };
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let (most, least) = (lane & segment | clamp & !segment, lane & segment);
    let (source, inside) = match mode {
        0 => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        1 => (lane + b, lane + b <= most),
        2 => (lane ^ b, lane ^ b <= most),
        _ => (least | b & !segment, least | b & !segment <= most),
    };
    let source = if inside { source } else { lane };
    match lanes.get(source as usize).copied().flatten() {
        Some(Shuffle { value, .. }) => u64::from(value) | u64::from(inside) << 32,
        _ => u64::from(u32::MAX) | u64::from(inside) << 32,
    }
}

/// # Safety
/// The thread is the one that runs (so for all below).
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedBarrier(thread: *mut Thread, id: u32, count: u32) {
    // SAFETY: as the caller vouches (so for all below).
    unsafe { (*thread).wait(Wait::Barrier { id, count }) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedWarp(thread: *mut Thread, mask: u32) {
    // SAFETY: as above.
    unsafe { (*thread).wait(Wait::Warp { mask, together: Sync }) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedShuffle(
    thread: *mut Thread,
    mode: u32,
    mask: u32,
    value: u32,
    lane: u32,
    clamp: u32,
) -> u64 {
    // SAFETY: as above.
    unsafe { (*thread).wait(Wait::Warp { mask, together: Shuffle { mode, value, lane, clamp } }) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedVote(thread: *mut Thread, mode: u32, mask: u32, bit: bool) -> u64 {
    // SAFETY: as above.
    unsafe { (*thread).wait(Wait::Warp { mask, together: Vote { mode, bit } }) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedReduce(thread: *mut Thread, mode: u32, mask: u32, value: u32) -> u64 {
    // SAFETY: as above.
    unsafe { (*thread).wait(Wait::Warp { mask, together: Reduce { mode, value } }) }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![
        tinymlirEmulatedBarrier,
        tinymlirEmulatedWarp,
        tinymlirEmulatedShuffle,
        tinymlirEmulatedVote,
        tinymlirEmulatedReduce,
    ]
}
