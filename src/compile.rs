//! From a module at any level to a stage of the pipeline, or to something that runs.
//!
//! Only names pipelines of `tinymlir-passes` and runs them; a pipeline leaves alone what is lowered already, so that a
//! module at tensor, memref or LLVM level, or of functions at several, goes through all of them. What was compiled is kept
//! in the artefact cache where the options say so.

use crate::{
    Phases,
    cache::{Cache, Key},
    engine::{self, Artefact, Executable},
};
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use tinymlir_passes::ir::{Context, Module, Observer, Op};
use tinymlir_report::Watch;
use tinymlir_runtime::cuda;

mod options;

pub use options::{Memory, Options, Schedule, Stage, Target};
pub use tinymlir_passes::choice::{Precision, Reductions};

/// Text or bytecode of a module, and what messages call it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The module.
    pub bytes: &'a [u8],
    /// The file's name in locations and messages.
    pub name: &'a str,
}

impl<'a> From<&'a str> for Source<'a> {
    fn from(text: &'a str) -> Source<'a> {
        Source { bytes: text.as_bytes(), name: "-" }
    }
}

/// Reads a file, or standard input for `-`: what [`Source::bytes`] wants.
pub fn read_source(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A module at `stage`, as text. Fails on a stage that the target does not have, and with the diagnostics of the passes.
pub fn lower_to<'a>(source: impl Into<Source<'a>>, stage: Stage, options: &Options) -> Result<String> {
    lower_to_watched(source, stage, options, None)
}

/// [`lower_to`], with someone who sees what the passes do.
pub fn lower_to_watched<'a>(
    source: impl Into<Source<'a>>,
    stage: Stage,
    options: &Options,
    mut watch: Option<&mut Watch>,
) -> Result<String> {
    let context = tinymlir_passes::context();
    let mut module = parse(&context, source.into())?;
    warn(&lower(&context, &mut module, stage, options, &mut Phases::default(), &mut watch)?);
    if let Some(watch) = watch.filter(|_| stage > Stage::Lowered) {
        show_code(&context, &module, options, watch)?;
    }
    match stage {
        Stage::Llvm => engine::llvm_ir(&context, &module),
        Stage::Ptx => Ok(ptx(&module)),
        _ => Ok(module.to_string()),
    }
}

/// What the report shows behind the last stage of MLIR.
fn show_code(context: &Context, module: &Module, options: &Options, watch: &mut Watch) -> Result<()> {
    if watch.reports() {
        watch.foreign_stage(Stage::Llvm.name(), "llvm", &engine::llvm_ir(context, module)?);
        if let Target::Gpu { emulate: false, .. } = options.target {
            watch.foreign_stage(Stage::Ptx.name(), "ptx", &ptx(module));
        }
    }
    Ok(())
}

/// Compiles a module for the target and loads it.
///
/// Every public function with a body can be called. Fails with the diagnostics of the passes, each with its position, and
/// before that when the target is a GPU and there is none.
pub fn compile<'a>(source: impl Into<Source<'a>>, options: &Options) -> Result<Executable> {
    compile_watched(source, options, None)
}

/// [`compile`], with someone who sees what the passes do; code in the cache is not used then.
pub fn compile_watched<'a>(
    source: impl Into<Source<'a>>,
    options: &Options,
    mut watch: Option<&mut Watch>,
) -> Result<Executable> {
    let source = source.into();
    if options.target.memory().is_some() {
        engine::gpu_chip()?;
    }
    let mut phases = Phases::default();
    let artefact = artefact(source, options, &mut phases, &mut watch)?;
    warn(artefact.warnings());
    Executable::load(&artefact, options.target.memory().unwrap_or(cuda::Memory::Managed), phases)
}

/// Compiles a module for the target, keeps the code in the artefact cache where the options say so, and loads nothing: it needs no
/// GPU. How long the parts took.
pub fn compile_only<'a>(source: impl Into<Source<'a>>, options: &Options) -> Result<Phases> {
    let mut phases = Phases::default();
    warn(artefact(source.into(), options, &mut phases, &mut None)?.warnings());
    Ok(phases)
}

/// The module's code: what the cache holds, or compiled.
fn artefact(
    source: Source,
    options: &Options,
    phases: &mut Phases,
    watch: &mut Option<&mut Watch>,
) -> Result<Artefact> {
    let cache = if options.cache && watch.is_none() { Cache::open().zip(key(source, options)) } else { None };
    if let Some((cache, key)) = &cache {
        let kept = phases.time("cache", || Artefact::from_bytes(&cache.get(key)?).ok());
        if let Some(artefact) = kept {
            return Ok(artefact);
        }
    }
    let context = phases.time("dialects", tinymlir_passes::context);
    let mut module = phases.time("parse", || parse(&context, source))?;
    let warnings = lower(&context, &mut module, Stage::Lowered, options, phases, watch)?;
    if let Some(watch) = watch {
        show_code(&context, &module, options, watch)?;
    }
    // Kernels are unrolled for a card; a higher level would take longer than running them here.
    let emulated = matches!(options.target, Target::Gpu { emulate: true, .. });
    let level = if emulated { options.opt_level.min(1) } else { options.opt_level };
    let artefact = Artefact::compile(&context, &module, level, warnings, phases)?;
    if let Some((cache, key)) = &cache {
        phases.time("keep", || artefact.to_bytes().map(|bytes| cache.put(key, &bytes)))?;
    }
    Ok(artefact)
}

/// Everything that the compiled code depends on beside this program.
fn key(source: Source, options: &Options) -> Option<Key> {
    let mut key = Key::new()?;
    key.add(source.bytes);
    key.add(source.name.as_bytes()); // in the messages of failed checks
    key.add(format!("{:?}", Options { cache: true, mlir_timing: false, ..options.clone() }).as_bytes());
    for part in [engine::version(), engine::host_cpu()] {
        key.add(part.as_bytes());
    }
    key.add(options.target.chip().unwrap_or_default().as_bytes());
    for variable in ["TINYMLIR_CUDA_TOOLKIT", "TINYMLIR_CACHE", "XDG_CACHE_HOME", "HOME", "CUDA_HOME"] {
        key.add(std::env::var_os(variable).unwrap_or_default().as_encoded_bytes());
    }
    Some(key)
}

fn warn(warnings: &str) {
    if !warnings.is_empty() {
        eprintln!("{warnings}");
    }
}

fn parse<'c>(context: &'c Context, source: Source) -> Result<Module<'c>> {
    tinymlir_passes::parse(context, source.bytes, source.name).map_err(engine::diagnostics)
}

/// Runs the pipelines that lead to `stage`, and returns their warnings.
fn lower(
    context: &Context,
    module: &mut Module,
    stage: Stage,
    options: &Options,
    phases: &mut Phases,
    watch: &mut Option<&mut Watch>,
) -> Result<String> {
    if let Some(watch) = watch {
        watch.stage(Stage::Tensor.name(), Op::of(module));
    }
    let mut pipelines =
        vec![(Stage::Optimized, "tinymlir-optimize".to_owned()), (Stage::Bufferized, "tinymlir-bufferize".to_owned())];
    match &options.target {
        Target::Cpu if matches!(stage, Stage::Outlined | Stage::Ptx) => bail!("the CPU target has no stage `{stage}`"),
        Target::Cpu => {
            pipelines.push((Stage::Lowered, format!("tinymlir-lower-cpu{{vector-bits={}}}", engine::vector_bits())))
        }
        Target::Gpu { emulate: true, .. } if stage == Stage::Ptx => bail!("emulated kernels have no stage `{stage}`"),
        Target::Gpu { memory, schedule, precision, reductions, emulate, .. } => {
            let memory = match memory {
                Memory::Managed => "managed",
                Memory::Device => "device",
            };
            let (schedule, precision) = (schedule.name(), precision.name());
            let chip = options.target.chip().unwrap_or_default();
            if schedule == Schedule::Fast.name() {
                pipelines[0].1 += tinymlir_passes::tinymlir_gpu_outline::narrowing(precision, &chip);
            }
            pipelines.push((
                Stage::Outlined,
                format!(
                    "tinymlir-gpu-outline{{memory={memory} schedule={schedule} chip={chip} precision={precision} reductions={}}}",
                    reductions.name()
                ),
            ));
            let lowered = match emulate {
                true => format!("tinymlir-lower-gpu{{chip={chip} format=nvvm}},tinymlir-emulate-gpu"),
                false => format!("tinymlir-lower-gpu{{chip={chip}}}"),
            };
            pipelines.push((Stage::Lowered, lowered));
        }
    }
    let mut warnings = Vec::new();
    for (reached, pipeline) in pipelines.into_iter().take_while(|(reached, _)| *reached <= stage) {
        let pipeline = format!("builtin.module({pipeline})");
        let text = phases.time(reached.name(), || {
            let observer = watch.as_deref_mut().map(|watch| watch as &mut dyn Observer);
            tinymlir_passes::run_pipeline_watched(context, module, &pipeline, observer, options.mlir_timing)
        });
        if let (Some(watch), Ok(_)) = (&mut *watch, &text) {
            watch.stage(reached.name(), Op::of(module));
        }
        warnings.extend(Some(text.map_err(engine::diagnostics)?).filter(|text| !text.is_empty()));
    }
    Ok(warnings.join("\n"))
}

/// The kernels' code: each `gpu.binary` of a lowered module, one after the other; a comment where there is none, as of a module
/// whose results have no elements.
fn ptx(module: &Module) -> String {
    let texts = tinymlir_passes::embedded_code(Op::of(module));
    if texts.is_empty() { "// no kernels\n".into() } else { texts.join("\n") }
}
