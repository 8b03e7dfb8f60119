//! Runs a module in the LLVM dialect in this process: JIT, memref descriptors, tensors in and out, on the CPU or with
//! kernels that the module holds as `gpu.binary`.
//!
//! It knows MLIR only as the type of a signature and the input of the translation to LLVM IR, and rewrites none.

mod artefact;
mod call;
mod entry;
mod jit;
mod layout;
mod llvm;
mod signature;
#[cfg(test)]
mod tests;
mod value;

pub use artefact::Artefact;
pub use call::{conform, describe};
pub use llvm::{host_cpu, vector_bits, version};
pub use signature::{Argument, Output, Signature, ValueType};
pub use value::{DeviceTensor, Value, gpu_chip};

use crate::{Phases, did_you_mean};
use anyhow::{Context as _, Result, bail, ensure};
use std::{collections::BTreeMap, ffi::c_void};
use tinymlir_passes::ir::{Context, Module, Op};
use tinymlir_runtime::cuda::{self, Graph, Memory};

/// Machine code and the functions in it. Dropping it runs the module's destructors and unmaps the code.
pub struct Executable {
    jit: jit::Jit,
    phases: Phases,
    functions: BTreeMap<String, Function>,
    /// Where arrays go that its kernels read; `None` when it has none.
    memory: Option<Memory>,
}

struct Function {
    entry: unsafe extern "C" fn(*const *mut c_void),
    /// `Err` says why the function cannot be called.
    signature: Result<Signature, String>,
}

impl Executable {
    /// Loads compiled code and runs its constructors; arrays that its kernels read go to `memory`. Fails when it holds kernels
    /// and there is no GPU. `phases` is what came before, with its times.
    pub fn load(artefact: &Artefact, memory: Memory, mut phases: Phases) -> Result<Executable> {
        let gpu = artefact.head.gpu;
        if gpu {
            gpu_chip()?;
        }
        let (jit, functions) = phases.time("link", || link(artefact))?;
        let mut executable = Executable { jit, phases, functions, memory: gpu.then_some(memory) };
        executable.run_structors(entry::INITIALIZE)?;
        if gpu {
            executable.phases.time("driver", cuda::load_pending)?; // what the constructors recorded
        }
        Ok(executable)
    }

    /// How long the parts of compiling and loading took.
    pub fn phases(&self) -> &Phases {
        &self.phases
    }

    /// Where arrays are copied that its kernels read, unless they are where a GPU reaches them already; `None` when it has
    /// no kernels.
    pub fn memory(&self) -> Option<Memory> {
        self.memory
    }

    /// The names of the functions that can be called, sorted.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// What a function takes and returns. Fails when there is no such public function or it cannot be called.
    pub fn signature(&self, name: &str) -> Result<&Signature> {
        self.function(name).map(|(_, signature)| signature)
    }

    /// Calls a function. The caller's host tensors stay as they are, whatever the function writes.
    ///
    /// With kernels, arguments on the host are copied to the GPU for the call, and results stay there.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Vec<Value>> {
        self.call_in_place(name, &mut arguments.to_vec())
    }

    /// Calls a function and updates its writable arguments; a tensor whose memory no one shares is not copied.
    ///
    /// A result that is such an argument shares its memory: drop it before the next call, or that call copies.
    pub fn call_in_place(&self, name: &str, arguments: &mut [Value]) -> Result<Vec<Value>> {
        let (function, signature) = self.function(name)?;
        // SAFETY: `Artefact::compile` checked the signature against the code.
        unsafe { call::call(function.entry, signature, arguments, self.memory) }
    }

    /// Records a call on the GPU, without running it, to be repeated with the same arrays: one launch for all its kernels.
    ///
    /// Every array must be on the GPU, and the function must have been called before. It is for functions whose host code
    /// reads nothing that their kernels write: such host code runs now and not again.
    pub fn capture(&self, name: &str, arguments: &[Value]) -> Result<Captured> {
        let (_, signature) = self.function(name)?;
        for (i, (value, argument)) in arguments.iter().zip(&signature.arguments).enumerate() {
            let stays = matches!(value, Value::Device(_)) && !argument.host;
            ensure!(stays, "{} is not on the GPU alone, so the call cannot be recorded", describe(i, argument));
        }
        let mut arguments = arguments.to_vec();
        let (graph, results) = Graph::capture(|| self.call_in_place(name, &mut arguments))?;
        Ok(Captured { graph, arguments, results: results? })
    }

    fn function(&self, name: &str) -> Result<(&Function, &Signature)> {
        let function = self.functions.get(name).with_context(|| match self.functions.len() {
            0 => format!("there is no function `{name}`: the module has no public function with a body"),
            _ => format!(
                "there is no public function `{name}`; there is {}{}",
                self.functions().collect::<Vec<_>>().join(", "),
                did_you_mean(name, self.functions())
            ),
        })?;
        match &function.signature {
            Ok(signature) => Ok((function, signature)),
            Err(reason) => bail!("`{name}` cannot be called: {reason}"),
        }
    }

    fn run_structors(&self, symbol: &str) -> Result<()> {
        let address = self.jit.lookup(symbol)?;
        // SAFETY: entry::add gave the symbol this type.
        unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn()>(address)() };
        Ok(())
    }
}

/// Code in this process, and where each function's is.
fn link(artefact: &Artefact) -> Result<(jit::Jit, BTreeMap<String, Function>)> {
    let jit = jit::Jit::new(&artefact.object)?;
    let mut functions = BTreeMap::new();
    for (name, signature) in &artefact.head.functions {
        let address = jit.lookup(&entry::symbol(name))?;
        // SAFETY: entry::add gave the symbol this type.
        let entry = unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn(*const *mut c_void)>(address) };
        functions.insert(name.clone(), Function { entry, signature: signature.clone() });
    }
    Ok((jit, functions))
}

/// A recorded call and the arrays that it reads and writes.
pub struct Captured {
    graph: Graph,
    arguments: Vec<Value>,
    results: Vec<Value>,
}

impl Captured {
    /// Queues the call again. What it writes to its arguments and results is there after the next wait.
    pub fn launch(&self) -> Result<()> {
        Ok(self.graph.launch()?)
    }

    /// The arrays that the call takes; those it may write to are updated by each launch.
    pub fn arguments(&self) -> &[Value] {
        &self.arguments
    }

    /// The arrays that the call returns, overwritten by each launch.
    pub fn results(&self) -> &[Value] {
        &self.results
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // The symbol is always defined; if it were not, there would be nothing to run.
        let _ = self.run_structors(entry::FINALIZE);
    }
}

/// LLVM IR as text, before LLVM's own optimisation.
pub fn llvm_ir(context: &Context, module: &Module) -> Result<String> {
    let machine = llvm::Machine::host(0)?;
    let llvm_context = llvm::Context::new();
    Ok(translate(context, module, &llvm_context, &machine)?.text())
}

fn translate<'c>(
    context: &Context,
    module: &Module,
    llvm_context: &'c llvm::Context,
    machine: &llvm::Machine,
) -> Result<llvm::Module<'c>> {
    let (ir, messages) =
        tinymlir_passes::with_diagnostics(context, || llvm::Module::translate(module, llvm_context, machine));
    ir.map_err(|error| if messages.is_empty() { error } else { diagnostics(messages) })
}

/// Diagnostics of MLIR as an error. The word `error:`, which tools put before every message, is dropped where there is no
/// place before it.
pub(crate) fn diagnostics(text: String) -> anyhow::Error {
    match text.strip_prefix("error: ") {
        Some(rest) => anyhow::anyhow!("{rest}"),
        None => anyhow::anyhow!(text),
    }
}

/// Refuses a module that holds an operation which is neither lowered nor translated as it is.
fn check_lowered(module: Op) -> Result<()> {
    const CAST: &str = "builtin.unrealized_conversion_cast";
    let kernels_compiled = module.body().iter().any(|op| op.is("gpu.binary"));
    let translated = |op: &Op| {
        let name = op.name();
        name.starts_with("llvm.")
            || ["builtin.module", "gpu.module", "gpu.binary"].contains(&name.as_str())
            || (kernels_compiled && name == "gpu.launch_func")
            || op.parent_named("gpu.module").is_some()
    };
    let left: Vec<Op> = module.walk().into_iter().filter(|op| !translated(op)).collect();
    // A cast is left because of another operation.
    let Some(op) = left.iter().find(|op| !op.is(CAST)).or(left.first()) else { return Ok(()) };
    let place = op.loc().file().map(|(f, l, c)| format!("{f}:{l}:{c}: ")).unwrap_or_default();
    let name = op.name();
    let target = if name.starts_with("gpu.") { " (on the CPU; a GPU target lowers it)" } else { "" };
    bail!("{place}error: '{name}' op cannot be run: no pass lowered it to the LLVM dialect{target}")
}
