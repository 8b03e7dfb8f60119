//! Runs programs through the compiler and compares them with the interpreter.

use crate::{
    generate,
    interpret::{self, Array, Tolerance},
    isolate,
    program::Program,
};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tinymlir::{
    compile::{Options, compile},
    engine,
};

/// How programs are compiled.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Target and optimisation level.
    pub options: Options,
    /// What the target may differ by.
    pub tolerance: Tolerance,
    /// Whether to miscompile on purpose: the operands of every float subtraction are swapped.
    pub inject: bool,
}

/// What came of some programs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Elements that were compared.
    pub compared: u64,
    /// Elements that could be anything.
    pub unknown: u64,
    /// Programs, by their position, that computed something else, and what.
    pub differing: Vec<(usize, String)>,
    /// Why nothing was computed.
    pub error: Option<String>,
}

/// The module of some programs, functions `p0`, `p1`, ...
pub fn text(programs: &[Program], inject: bool) -> Result<String> {
    let functions: Vec<String> =
        programs.iter().enumerate().map(|(i, p)| p.text(&format!("p{i}"))).collect::<Result<_>>()?;
    let body: String = functions.iter().flat_map(|f| f.lines()).map(|line| format!("  {line}\n")).collect();
    let text = format!("module {{\n{body}}}\n");
    Ok(if inject { with_swapped_subtractions(&text) } else { text })
}

/// `a - b` becomes `b - a`.
fn with_swapped_subtractions(text: &str) -> String {
    text.lines().map(|line| swapped(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

fn swapped(line: &str) -> Option<String> {
    let (result, rest) = line.split_once(" = arith.subf ")?;
    let (operands, ty) = rest.split_once(" : ")?;
    let (a, b) = operands.split_once(", ")?;
    Some(format!("{result} = arith.subf {b}, {a} : {ty}"))
}

/// Compiles the programs as one module in this process, runs each and compares.
fn run_here(programs: &[Program], setting: &Setting) -> Outcome {
    let mut outcome = Outcome::default();
    if let Err(error) = try_run(programs, setting, &mut outcome) {
        outcome.error = Some(format!("{error:#}"));
    }
    outcome
}

fn try_run(programs: &[Program], setting: &Setting, outcome: &mut Outcome) -> Result<()> {
    let text = text(programs, setting.inject)?;
    let executable = compile(text.as_str(), &setting.options)?;
    for (i, program) in programs.iter().enumerate() {
        let Some(values) = interpret::run(program, setting.tolerance) else {
            anyhow::bail!("program {i} has no meaning");
        };
        let arguments: Vec<engine::Value> = program.inputs().iter().map(|&id| values[id].to_tensor().into()).collect();
        let results = executable.call(&format!("p{i}"), &arguments)?;
        ensure!(results.len() == program.results.len(), "program {i} has {} results", results.len());
        for (n, (got, &id)) in results.iter().zip(&program.results).enumerate() {
            let expected: &Array = &values[id];
            outcome.unknown += expected.unknown() as u64;
            outcome.compared += (expected.len() - expected.unknown()) as u64;
            if let Some(difference) = expected.differs(&got.to_tensor()?) {
                outcome.differing.push((i, format!("result {n}, {}: {difference}", expected.ty)));
                break;
            }
        }
    }
    Ok(())
}

/// Starts the programs in a copy of this process.
pub fn start(programs: &[Program], setting: &Setting) -> Result<isolate::Child<Outcome>> {
    let limit = Duration::from_secs(120 + 10 * programs.len() as u64);
    isolate::start(limit, || run_here(programs, setting))
}

/// Waits for programs; a crash is an outcome with an error.
pub fn wait(child: isolate::Child<Outcome>) -> Result<Outcome> {
    Ok(child.wait()?.unwrap_or_else(|(death, text)| {
        let separator = if text.is_empty() { "" } else { ": " };
        Outcome { error: Some(format!("{death}{separator}{text}")), ..Outcome::default() }
    }))
}

/// Why a program is wrong, or nothing.
pub fn fault(program: &Program, setting: &Setting) -> Result<Option<String>> {
    let outcome = wait(start(std::slice::from_ref(program), setting)?)?;
    Ok(outcome.error.or_else(|| outcome.differing.into_iter().next().map(|(_, text)| text)))
}

/// Waits for a batch that starts at program `first` and adds what it finds to `total`; when the batch as a whole fails, its
/// halves are run, down to the programs that make it fail. `report` gets each faulty program's number and fault.
pub fn settle(
    child: isolate::Child<Outcome>,
    programs: &[Program],
    first: u64,
    setting: &Setting,
    total: &mut Outcome,
    report: &mut dyn FnMut(u64, &Program, String) -> Result<()>,
) -> Result<()> {
    let outcome = wait(child)?;
    match outcome.error {
        Some(error) if programs.len() == 1 => return report(first, &programs[0], error),
        Some(_) => {
            let (low, high) = programs.split_at(programs.len() / 2);
            settle(start(low, setting)?, low, first, setting, total, report)?;
            return settle(start(high, setting)?, high, first + low.len() as u64, setting, total, report);
        }
        None => {}
    }
    total.compared += outcome.compared;
    total.unknown += outcome.unknown;
    for (i, text) in outcome.differing {
        report(first + i as u64, &programs[i], text)?;
    }
    Ok(())
}

/// Programs `range` of a seed.
pub fn programs(seed: u64, range: std::ops::Range<u64>) -> Vec<Program> {
    range.map(|index| generate::program(seed, index)).collect()
}
