//! What a report shows: the module's text at each stage, what every pass did to it, remarks, and what was found in the module.

use crate::{
    costs::{Cost, costs},
    diff::{Hunk, hunks, unified},
    kernels::{Launch, launches},
    plan::{Plan, plans},
    remarks::Record,
    state::{Sources, State, line, state},
};
use std::time::Instant;
use tinymlir_passes::ir::Op;

/// A pass's diff is cut after so many lines.
const LONGEST_DIFF: usize = 3000;
/// Between stages whole texts of passes are kept until there are so many lines.
const MOST_LINES: usize = 300_000;

/// A whole text.
pub struct Snapshot {
    /// The stage, or the pass that made it.
    pub title: String,
    /// `mlir`, `llvm` or `ptx`.
    pub language: &'static str,
    /// The text.
    pub text: State,
    /// What changed since the snapshot before; `None` where there is none to compare with.
    pub hunks: Option<Vec<Hunk>>,
}

/// What a pass did.
pub struct Step {
    /// Its argument.
    pub pass: String,
    /// The passes that ran it, outer first.
    pub outer: Vec<String>,
    /// The snapshot that its result went into.
    pub snapshot: usize,
    /// Its unified diff, by [`unified`]'s signs; empty where it changed nothing.
    pub diff: Vec<(char, String)>,
    /// Lines of the diff that were left out.
    pub cut: usize,
    /// Seconds, those of the passes that it ran included.
    pub seconds: f64,
}

/// All of it.
#[derive(Default)]
pub struct Recording {
    /// In order; the first is the module as it was parsed.
    pub snapshots: Vec<Snapshot>,
    /// In order.
    pub steps: Vec<Step>,
    /// In order, each with the number of its source positions.
    pub remarks: Vec<(Record, u32)>,
    /// Source positions by number.
    pub sources: Sources,
    /// The work of each operation on buffers, before kernels took them over.
    pub costs: Vec<Cost>,
    /// The kernels that the host launches.
    pub launches: Vec<Launch>,
    /// The buffers of each function.
    pub plans: Vec<Plan>,
    /// The kernels' PTX.
    pub ptx: Vec<String>,
    lines: usize,
}

impl Recording {
    /// Whether there is anything to show.
    pub fn has_begun(&self) -> bool {
        !self.snapshots.is_empty()
    }

    /// A pass changed the module, or did not.
    pub fn step(&mut self, pass: &str, outer: Vec<String>, old: &State, new: &State, hunks: &[Hunk], started: Instant) {
        let diff: Vec<(char, String)> =
            unified(old, new, hunks).into_iter().map(|(sign, text)| (sign, text.into_owned())).collect();
        let cut = diff.len().saturating_sub(LONGEST_DIFF);
        let kept = diff.into_iter().take(LONGEST_DIFF).collect();
        let seconds = started.elapsed().as_secs_f64();
        self.steps.push(Step {
            pass: pass.to_owned(),
            outer,
            snapshot: self.snapshots.len(),
            diff: kept,
            cut,
            seconds,
        });
    }

    /// A stage is reached: keeps the text, and what can be found in it.
    pub fn snapshot(&mut self, title: &str, module: Op) {
        let text = state(module, &mut self.sources);
        self.keep(title, text);
        self.examine(module);
    }

    /// The module before the first pass; one more of them where a file holds several.
    pub fn input(&mut self, module: Op, text: &State) {
        self.snapshots.push(Snapshot { title: "input".into(), language: "mlir", text: text.clone(), hunks: None });
        self.examine(module);
    }

    /// The module as it is after a pass, where there is room for it.
    pub fn snapshot_of_pass(&mut self, pass: &str, module: Op, text: &State) {
        self.examine(module);
        self.lines += text.len();
        if self.lines <= MOST_LINES {
            self.keep(pass, text.clone());
        }
    }

    /// Text that is no MLIR.
    pub fn foreign(&mut self, title: &str, language: &'static str, text: &str) {
        let text = text.lines().map(|text| line(text, 0)).collect();
        self.snapshots.push(Snapshot { title: title.to_owned(), language, text, hunks: None });
    }

    fn keep(&mut self, title: &str, text: State) {
        let before = self.snapshots.last().filter(|s| s.language == "mlir");
        let hunks = before.map(|before| hunks(&before.text, &text));
        self.snapshots.push(Snapshot { title: title.to_owned(), language: "mlir", text, hunks });
    }

    /// Looks where the buffers are. Planned memory stays in the picture when it was lowered further.
    pub fn plan(&mut self, module: Op) {
        for plan in plans(module, &self.costs, &mut self.sources) {
            match self.plans.iter_mut().find(|p| p.function == plan.function) {
                Some(known) if plan.has_arena() => *known = plan,
                Some(_) => {}
                None => self.plans.push(plan),
            }
        }
    }

    fn examine(&mut self, module: Op) {
        let costs = costs(module, &mut self.sources);
        if costs.len() >= self.costs.len() && !costs.is_empty() {
            self.costs = costs;
            self.plans.clear();
        }
        self.plan(module);
        let launches = launches(module, &mut self.sources);
        if !launches.is_empty() {
            self.launches = launches;
        }
        let ptx = tinymlir_passes::embedded_code(module);
        if !ptx.is_empty() {
            self.ptx = ptx;
        }
    }
}
