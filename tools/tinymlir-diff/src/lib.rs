//! Differential testing of the compiler, and fuzzing of its passes.
//!
//! [`generate`] makes random programs of the frontend's operations, [`interpret`] computes what they mean, [`check`] compiles
//! and compares them in batches, [`shrink`] makes what differs small, [`report`] writes it. [`mutate`] changes valid modules and
//! [`fuzz`] runs them through the passes.

pub mod check;
pub mod fuzz;
pub mod generate;
pub mod interpret;
pub mod interval;
pub mod isolate;
pub mod mutate;
pub mod program;
pub mod report;
pub mod shrink;
