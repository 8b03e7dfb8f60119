//! What compiling gives: machine code and how to call it, as bytes that can be kept.

use super::{Signature, check_lowered, entry, llvm, translate};
use crate::Phases;
use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tinymlir_passes::ir::{Context, Module, Op};

/// A compiled module, not yet loaded.
pub struct Artefact {
    pub(super) head: Head,
    /// A relocatable object file.
    pub(super) object: Vec<u8>,
}

/// All but the code.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    /// The functions that have an entry point; `Err` says why one cannot be called.
    pub functions: BTreeMap<String, Result<Signature, String>>,
    /// Whether it launches kernels.
    pub gpu: bool,
    /// What compiling warned of.
    warnings: String,
}

impl Artefact {
    /// Compiles a module in the LLVM dialect at LLVM's optimisation level `level` (0 to 3).
    ///
    /// Fails when an operation is not lowered, when the translation fails, and when the module refers to functions that
    /// nothing defines, naming them. `warnings` are kept beside the code; the times of the parts are added to `phases`.
    pub fn compile(
        context: &Context,
        module: &Module,
        level: u8,
        warnings: String,
        phases: &mut Phases,
    ) -> Result<Artefact> {
        check_lowered(Op::of(module))?;
        let functions = Op::of(module).body();
        let public: BTreeSet<String> = (functions.iter().filter(|f| f.is("llvm.func") && !f.is_private()))
            .filter_map(|f| f.symbol())
            .filter(|name| !name.starts_with("_mlir_ciface_"))
            .collect();
        let recorded: BTreeMap<String, Signature> =
            functions.iter().filter_map(|f| Signature::of(*f)).map(|s| (s.name.clone(), s)).collect();

        // Beside kernels the host's code is straight: it launches them. The passes of level 1 fold it, and the rest of a
        // higher level would take longer than lowering the kernels.
        let gpu = functions.iter().any(|op| op.is("gpu.binary"));
        let (level, code_level) = if gpu { (level.min(1), 0) } else { (level, level) };
        let machine = llvm::Machine::host(code_level)?;
        let llvm_context = llvm::Context::new();
        let ir = phases.time("LLVM IR", || translate(context, module, &llvm_context, &machine))?;
        let entries = entry::add(&ir, &public)?;
        phases.time("LLVM passes", || ir.optimise(level, &machine))?;
        let unresolved = entry::unresolved(&ir);
        if !unresolved.is_empty() {
            let place = |name: &String| {
                let op = functions.iter().find(|f| f.symbol().as_ref() == Some(name))?;
                op.loc().file().map(|(file, line, column)| format!("{file}:{line}:{column}: error: "))
            };
            let names: Vec<_> = unresolved.iter().map(|n| format!("@{n}")).collect();
            let place = unresolved.iter().find_map(place).unwrap_or_default();
            bail!("{place}the module uses what neither it nor the runtime defines: {}", names.join(", "));
        }
        let signature = |entry: &entry::Entry| match recorded.get(&entry.name) {
            Some(signature) if signature.matches(entry) => Ok(signature.clone()),
            Some(signature) => Err(format!("its recorded signature {signature} is not that of its code")),
            None => Signature::of_scalars(entry).ok_or_else(|| {
                "it is in the LLVM dialect without a `tinymlir.signature`, and takes or returns more than scalars"
                    .into()
            }),
        };
        let head = Head {
            functions: entries.iter().map(|entry| (entry.name.clone(), signature(entry))).collect(),
            gpu,
            warnings,
        };
        let object = phases.time("machine code", || ir.object(&machine))?;
        Ok(Artefact { head, object })
    }

    /// What compiling warned of.
    pub fn warnings(&self) -> &str {
        &self.head.warnings
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let head = serde_json::to_vec(&self.head)?;
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend(&self.object);
        Ok(bytes)
    }

    /// The inverse of [`Artefact::to_bytes`], for bytes whose origin is trusted: they hold code that will run.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artefact> {
        let (length, rest) = bytes.split_first_chunk().context("an artefact is cut off")?;
        let length = usize::try_from(u64::from_le_bytes(*length))?;
        ensure!(length <= rest.len(), "an artefact is cut off");
        let (head, object) = rest.split_at(length);
        Ok(Artefact { head: serde_json::from_slice(head)?, object: object.to_vec() })
    }
}
