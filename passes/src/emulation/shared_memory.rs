//! Where a block's shared memory has the globals of its kernel.

use crate::ir::{Failed, Op, PassCx};
use std::collections::{HashMap, HashSet};

/// More bytes than any chip's blocks have.
const MOST_SHARED: u64 = 1 << 20;

/// Where each global in shared memory lies in a block's, and how much a kernel needs.
pub(crate) struct SharedMemory {
    pub offsets: HashMap<String, u64>,
    pub bytes: HashMap<String, u64>,
}

impl SharedMemory {
    /// Of a gpu.module. What a kernel or a function that it calls refers to does not overlap.
    pub fn of(cx: &PassCx, holder: Op) -> Result<SharedMemory, Failed> {
        let functions: HashMap<String, Op> =
            holder.body().into_iter().filter(|f| f.is("llvm.func")).filter_map(|f| Some((f.symbol()?, f))).collect();
        let reached: HashMap<&String, HashSet<String>> =
            functions.iter().map(|(name, function)| (name, references(*function, &functions))).collect();
        let mut bytes: HashMap<String, u64> = HashMap::new();
        let mut offsets = HashMap::new();
        for global in holder.body().into_iter().filter(|g| g.is("llvm.mlir.global")) {
            let (Some(name), Some(3)) = (global.symbol(), global.attr("addr_space").and_then(|a| a.as_int())) else {
                continue;
            };
            let size = global.attr("global_type").and_then(|t| array_bytes(&t.to_string()));
            let Some(size) = size.filter(|size| *size <= MOST_SHARED) else {
                return Err(
                    cx.error(global, "cannot be emulated: its size is not known, or more than a block's shared memory")
                );
            };
            if size == 0 {
                continue; // of a size that the launch gives
            }
            let alignment = global.attr("alignment").and_then(|a| a.as_int()).unwrap_or(16).max(16) as u64;
            let users: Vec<&String> = reached.iter().filter(|(_, r)| r.contains(&name)).map(|(f, _)| *f).collect();
            let end = users.iter().filter_map(|f| bytes.get(*f)).max().copied().unwrap_or(0);
            let offset = end.next_multiple_of(alignment);
            bytes.extend(users.into_iter().map(|f| (f.clone(), offset + size)));
            offsets.insert(name, offset);
        }
        Ok(SharedMemory { offsets, bytes })
    }
}

/// The globals that a function refers to, by itself or through what it calls.
fn references(function: Op, functions: &HashMap<String, Op>) -> HashSet<String> {
    let (mut seen, mut left, mut globals) = (HashSet::new(), vec![function], HashSet::new());
    while let Some(function) = left.pop() {
        for op in function.find(&["llvm.call", "llvm.mlir.addressof"]) {
            let name = if op.is("llvm.call") { "callee" } else { "global_name" };
            let Some(symbol) = op.attr(name).and_then(|a| a.as_symbol()) else { continue };
            match functions.get(&symbol) {
                Some(callee) if seen.insert(symbol.clone()) => left.push(*callee),
                Some(_) => {}
                None => drop(globals.insert(symbol)),
            }
        }
    }
    globals
}

/// The bytes of an array type of LLVM, `!llvm.array<4 x array<8 x f32>>`, or of an element.
fn array_bytes(text: &str) -> Option<u64> {
    let text = text.trim_start_matches("!llvm.");
    if let Some(rest) = text.strip_prefix("array<") {
        let (count, element) = rest.strip_suffix('>')?.split_once(" x ")?;
        return count.parse::<u64>().ok()?.checked_mul(array_bytes(element)?);
    }
    if let Some(rest) = text.strip_prefix("vector<") {
        let (count, element) = rest.strip_suffix('>')?.split_once('x')?;
        return count.parse::<u64>().ok()?.checked_mul(array_bytes(element.trim())?);
    }
    let bits: u64 = text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    Some(bits.div_ceil(8))
}
