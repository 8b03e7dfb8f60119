//! Loops that the runtime runs on several threads: a function for a range of the loop, and one that launches it.

use crate::ir::{Op, Type};

/// A loop over `0..%count`, as text of two functions. What is left out is empty.
#[derive(Default)]
pub struct ParallelLoop<'a> {
    /// The symbol of the function that launches the loop; the ranges' one has `_range` appended.
    pub name: &'a str,
    /// Parameters of both: names without `%` and types.
    pub parameters: &'a [(String, Type)],
    /// What the launching function does first; defines `%count`, an index.
    pub before: &'a str,
    /// What the ranges' function takes beside the parameters: values that `before` defines, with their types.
    pub shared: &'a [(String, Type)],
    /// Iterations that are too few to be a thread's.
    pub grain: i64,
    /// The ranges' function, which sees the parameters, what is shared, and the indices `%begin` and `%end`.
    pub body: &'a str,
    /// What the launching function does when the loop is over.
    pub after: &'a str,
    /// Declarations of the functions that the texts call.
    pub declarations: &'a str,
}

/// The declaration of the runtime's function.
const RUNTIME: &str = "func.func private @tinymlirParallelFor(!llvm.ptr, !llvm.ptr, i64, i64)";

/// The type that a value of this one is in the LLVM dialect, where it can be handed to another thread.
pub(crate) fn lowered(ty: Type) -> Result<String, String> {
    if let Some(memref) = ty.memref() {
        if memref.space.is_some() {
            return Err(format!("a buffer of type {ty} is in another memory space"));
        }
        let rank = memref.shape.len();
        let arrays = if rank == 0 { String::new() } else { format!(", array<{rank} x i64>, array<{rank} x i64>") };
        return Ok(format!("!llvm.struct<(ptr, ptr, i64{arrays})>"));
    }
    match ty.to_string().as_str() {
        "index" => Ok("i64".into()),
        text if ["f16", "bf16", "f32", "f64", "!llvm.ptr"].contains(&text) => Ok(text.into()),
        text if text.starts_with("complex<") => {
            let part = text.trim_start_matches("complex<").trim_end_matches('>');
            Ok(format!("!llvm.struct<({part}, {part})>"))
        }
        // One dimension of fixed size.
        text if text.starts_with("vector<") && text.matches('x').count() == 1 && !text.contains('[') => Ok(text.into()),
        text if text.strip_prefix('i').is_some_and(|bits| bits.parse::<u32>().is_ok()) => Ok(text.into()),
        text => Err(format!("a value of type {text} cannot be handed to another thread")),
    }
}

impl ParallelLoop<'_> {
    /// Adds the functions to the module; the launching one and the ranges' one. Names must be new to it.
    pub fn define(&self, module: Op) -> Result<[Op; 2], String> {
        let Self { name, before, body, after, grain, declarations, .. } = self;
        let all: Vec<&(String, Type)> = self.parameters.iter().chain(self.shared).collect();
        let fields: Vec<String> = all.iter().map(|(_, ty)| lowered(*ty)).collect::<Result<_, _>>()?;
        let context = format!("!llvm.struct<({})>", fields.join(", "));
        let (mut pack, mut unpack) = (String::new(), String::new());
        for (i, ((value, ty), field)) in all.iter().zip(&fields).enumerate() {
            let (from, to) = (if i == 0 { "empty".into() } else { format!("packed{}", i - 1) }, format!("packed{i}"));
            if ty.to_string() == *field {
                pack += &format!("%{to} = llvm.insertvalue %{value}, %{from}[{i}] : {context}\n");
                unpack += &format!("%{value} = llvm.extractvalue %packed[{i}] : {context}\n");
            } else {
                pack += &format!(
                    "%field{i} = builtin.unrealized_conversion_cast %{value} : {ty} to {field}\n\
                     %{to} = llvm.insertvalue %field{i}, %{from}[{i}] : {context}\n"
                );
                unpack += &format!(
                    "%field{i} = llvm.extractvalue %packed[{i}] : {context}\n\
                     %{value} = builtin.unrealized_conversion_cast %field{i} : {field} to {ty}\n"
                );
            }
        }
        let last = if all.is_empty() { "empty".to_string() } else { format!("packed{}", all.len() - 1) };
        let parameters: Vec<String> = self.parameters.iter().map(|(name, ty)| format!("%{name}: {ty}")).collect();
        let text = format!(
            "module {{\n{RUNTIME}\n{declarations}\
             func.func private @{name}({}) attributes {{passthrough = [\"noinline\"]}} {{\n\
             {before}\
             %tasks = arith.index_cast %count : index to i64\n%grain = arith.constant {grain} : i64\n\
             %one_context = llvm.mlir.constant(1 : i64) : i64\n\
             %context = llvm.alloca %one_context x {context} : (i64) -> !llvm.ptr\n\
             %empty = llvm.mlir.poison : {context}\n{pack}\
             llvm.store %{last}, %context : {context}, !llvm.ptr\n\
             %range = func.constant @{name}_range : (!llvm.ptr, i64, i64) -> ()\n\
             %task = builtin.unrealized_conversion_cast %range : (!llvm.ptr, i64, i64) -> () to !llvm.ptr\n\
             func.call @tinymlirParallelFor(%task, %context, %tasks, %grain) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()\n\
             {after}return\n}}\n\
             func.func private @{name}_range(%context: !llvm.ptr, %first: i64, %last: i64) {{\n\
             %packed = llvm.load %context : !llvm.ptr -> {context}\n{unpack}\
             %begin = arith.index_cast %first : i64 to index\n%end = arith.index_cast %last : i64 to index\n\
             {body}return\n}}\n}}",
            parameters.join(", ")
        );
        let parsed = Op::parse(module.ctx(), &text, "tinymlir-parallel-loop")
            .ok_or_else(|| format!("internal error: cannot build\n{text}"))?;
        module.declare(RUNTIME)?;
        let [launch, range] = [name.to_string(), format!("{name}_range")]
            .map(|symbol| parsed.lookup(&symbol).map(|function| module.append_clone(function)));
        parsed.destroy();
        launch
            .zip(range)
            .map(|(launch, range)| [launch, range])
            .ok_or_else(|| "internal error: no parallel loop".into())
    }
}
