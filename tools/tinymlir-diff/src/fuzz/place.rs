//! Where a copy of the process is, in memory that it shares: the mutant, the pass, and what came of those before.

use std::sync::atomic::{AtomicU64, Ordering};
use tinymlir_passes::ir::{Observer, Op};

/// Where a copy is, for the process that waits for it.
#[repr(C)]
pub(super) struct Place {
    pub(super) mutant: AtomicU64,
    /// Those of [`super::Counts`]: tried, valid, passed.
    pub(super) counts: [AtomicU64; 3],
    /// The name of the pass that runs; zeros while none does.
    pass: [AtomicU64; 8],
}

impl Place {
    /// Notes the pass that runs; none with an empty name.
    pub(super) fn set_pass(&self, name: &str) {
        let mut bytes = name.bytes().chain(std::iter::repeat(0));
        for word in &self.pass {
            let part = std::array::from_fn(|_| bytes.next().unwrap_or(0));
            word.store(u64::from_le_bytes(part), Ordering::Relaxed);
        }
    }

    /// The name of the pass that ran last, as far as it was noted.
    pub(super) fn pass(&self) -> String {
        let bytes = self.pass.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        let name: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        if name.is_empty() { "parsing".into() } else { String::from_utf8_lossy(&name).into_owned() }
    }
}

/// Notes which pass runs, those of upstream's inside of ours too, and which one failed first.
pub(super) struct Watcher<'a> {
    pub(super) place: &'a Place,
    pub(super) running: Vec<String>,
    pub(super) failed: Option<String>,
}

impl Observer for Watcher<'_> {
    fn wants_remarks(&self) -> bool {
        false
    }

    fn before(&mut self, pass: &str, _op: Op) {
        self.place.set_pass(pass);
        self.running.push(pass.into());
    }

    fn after(&mut self, pass: &str, _op: Op, succeeded: bool) {
        if !succeeded {
            self.failed.get_or_insert_with(|| pass.into());
        }
        self.running.pop();
        self.place.set_pass(self.running.last().map_or("", String::as_str));
    }
}
