//! What a module is compiled for, and how far.

use super::{Precision, Reductions};
use crate::{did_you_mean, engine};
use std::{fmt, str::FromStr};
use tinymlir_runtime::cuda;

/// The processor that a module is compiled for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The CPU that runs this program.
    #[default]
    Cpu,
    /// An NVIDIA GPU, with the CPU as its host.
    Gpu {
        /// As NVPTX names it, such as `sm_90`; without one, that of the card here, or `sm_80` where there is none or it is emulated.
        chip: Option<String>,
        /// Where buffers lie.
        memory: Memory,
        /// Which kernels.
        schedule: Schedule,
        /// How fast kernels may round products of f32.
        precision: Precision,
        /// In which order fast kernels add up what several blocks compute.
        reductions: Reductions,
        /// Whether kernels run on the CPU, thread by thread.
        emulate: bool,
    },
}

/// Which kernels a module for the GPU has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// One tiled kernel for the products of each rank and element type; any chip.
    #[default]
    Simple,
    /// Those that the selection table has for the chip and the shapes.
    Fast,
}

impl Schedule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Schedule::Simple => "simple",
            Schedule::Fast => "fast",
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        match text {
            "simple" => Ok(Schedule::Simple),
            "fast" => Ok(Schedule::Fast),
            _ => Err(format!("a schedule is simple or fast, not `{text}`{}", did_you_mean(text, ["simple", "fast"]))),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Target::Cpu => write!(f, "CPU ({})", engine::host_cpu().split(',').next().unwrap_or_default()),
            Target::Gpu { schedule, precision, reductions, emulate, .. } => {
                let chip = self.chip().unwrap_or_default();
                let atomic = if *reductions == Reductions::Atomic { ", atomic reductions" } else { "" };
                let emulated = if *emulate { ", emulated" } else { "" };
                write!(f, "{chip}, {} kernels, {}{atomic}{emulated}", schedule.name(), precision.name())
            }
        }
    }
}

impl Target {
    /// The chip that kernels are compiled for, `None` for a target without kernels.
    pub fn chip(&self) -> Option<String> {
        match self {
            Target::Cpu => None,
            Target::Gpu { chip: Some(chip), .. } => Some(chip.clone()),
            // Its kernels do without warpgroups, which are not emulated.
            Target::Gpu { emulate: true, .. } => Some("sm_80".to_owned()),
            // With what only this chip has: its warpgroups' products.
            Target::Gpu { .. } => Some(match engine::gpu_chip() {
                Ok(chip) if chip == "sm_90" => "sm_90a".to_owned(),
                Ok(chip) => chip,
                Err(_) => "sm_80".to_owned(),
            }),
        }
    }

    /// Where arrays lie that a GPU reads; `None` for a target without one.
    pub fn memory(&self) -> Option<cuda::Memory> {
        match self {
            Target::Cpu | Target::Gpu { emulate: true, .. } => None,
            Target::Gpu { memory: Memory::Managed, .. } => Some(cuda::Memory::Managed),
            Target::Gpu { memory: Memory::Device, .. } => Some(cuda::Memory::Device),
        }
    }
}

/// Where a module for the GPU keeps its buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// In memory that host and GPU share.
    #[default]
    Managed,
    /// Those that only kernels touch on the GPU, the others in shared memory.
    Device,
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Memory, String> {
        match text {
            "managed" => Ok(Memory::Managed),
            "device" => Ok(Memory::Device),
            _ => Err(format!("memory is managed or device, not `{text}`{}", did_you_mean(text, ["managed", "device"]))),
        }
    }
}

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// What for.
    pub target: Target,
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// Whether compiled modules are looked for and kept in the user's artefact cache.
    pub cache: bool,
    /// Whether tables of what each pass took go to standard error.
    pub mlir_timing: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { target: Target::Cpu, opt_level: 3, cache: false, mlir_timing: false }
    }
}

/// A module's form on the way down. Each is valid input of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// As given: tensors.
    Tensor,
    /// Tensors, fused.
    Optimized,
    /// Memrefs, with deallocation.
    Bufferized,
    /// Memrefs, with kernels in `gpu.module`s (GPU targets only).
    Outlined,
    /// The LLVM dialect.
    Lowered,
    /// LLVM IR.
    Llvm,
    /// The kernels' PTX (GPU targets only).
    Ptx,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 7] = {
        use Stage::*;
        [Tensor, Optimized, Bufferized, Outlined, Lowered, Llvm, Ptx]
    };

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Tensor => "tensor",
            Stage::Optimized => "optimized",
            Stage::Bufferized => "bufferized",
            Stage::Outlined => "outlined",
            Stage::Lowered => "lowered",
            Stage::Llvm => "llvm",
            Stage::Ptx => "ptx",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        Stage::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| {
            let names = Stage::ALL.map(|s| s.name());
            format!("there is no stage `{text}`; there is {}{}", names.join(", "), did_you_mean(text, names))
        })
    }
}
