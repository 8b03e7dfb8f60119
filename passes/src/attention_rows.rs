//! The loop over blocks of rows that computes an [`AttentionChain`] on the host.
//!
//! For each batch and block of rows: products of queries and keys into a scratch array by one CBLAS call, scores and exponentials
//! row by row in place, and their product with the values by another call, divided by the sum when it is stored. Keys that are
//! masked for every row of a block, and after which no other follows, are left out.

use crate::{
    attention_chain::{AttentionChain, Operand, Scores, Stage},
    ir::{Op, Type, Value},
    kernels::set_body,
    threads::ParallelLoop,
};
use std::collections::HashMap;

/// Scores of a block, unless those are of too few rows: what stays in a core's cache beside keys and values.
const SCRATCH: i64 = 1 << 17;
/// Rows of a block, at least and at most: fewer repack keys and values too often, more multiply more masked keys.
const ROWS: [i64; 2] = [8, 64];
/// Keys that are asked together whether any of them counts.
pub const GROUP: i64 = 64;
/// Multiplications of a product that are a thread's at least: some microseconds.
const LEAST: i64 = 1 << 18;

/// The names of loops by what they do, so that equal ones are one function.
pub type Functions = HashMap<String, String>;

pub fn join<T>(list: &[T], text: impl Fn(&T) -> String) -> String {
    list.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A buffer that is handed to the loop.
pub struct Parameter<'a> {
    pub name: String,
    pub stage: &'a Stage,
    pub operand: &'a Operand,
}

/// For the loop dimensions of a stage the names of where they are; the first place for those that have none.
pub struct Places(HashMap<usize, String>);

impl Places {
    pub fn of(&self, dim: Option<usize>) -> &str {
        dim.and_then(|d| self.0.get(&d)).map_or("%c0", |name| name)
    }

    pub fn set(&mut self, dim: usize, name: &str) {
        self.0.insert(dim, name.to_string());
    }
}

impl Parameter<'_> {
    pub fn ty(&self) -> Type {
        self.operand.buffer.ty()
    }

    fn axis(&self, dim: usize) -> Option<usize> {
        self.operand.axes.iter().position(|d| *d == Some(dim))
    }

    fn stride(&self, dim: usize) -> Option<i64> {
        self.ty().memref().and_then(|m| m.strides[self.axis(dim)?])
    }

    /// Text that takes it apart: the address `NAME_base`, `NAME_offset`, and the strides of its axes.
    pub fn metadata(&self) -> String {
        let (name, ty, rank) = (&self.name, self.ty(), self.operand.axes.len());
        let parts = format!(", %{name}_size:{rank}, %{name}_stride:{rank}");
        format!(
            "%{name}_buffer, %{name}_offset{parts} = memref.extract_strided_metadata %{name} : {ty} -> memref<{}>, index{}\n\
             %{name}_base = memref.extract_aligned_pointer_as_index %{name} : {ty} -> index\n",
            ty.element().map(|e| e.to_string()).unwrap_or_default(),
            ", index".repeat(2 * rank),
        )
    }

    /// `%NAME_at`: the address of the element at `places`.
    pub fn pointer(&self, places: &Places) -> String {
        let name = &self.name;
        let (mut text, mut at) = (String::new(), format!("%{name}_offset"));
        for (axis, dim) in self.operand.axes.iter().enumerate() {
            let place = places.of(*dim);
            if place != "%c0" {
                text += &format!(
                    "%{name}_step{axis} = arith.muli {place}, %{name}_stride#{axis} : index\n\
                     %{name}_to{axis} = arith.addi {at}, %{name}_step{axis} : index\n"
                );
                at = format!("%{name}_to{axis}");
            }
        }
        text + &format!(
            "%{name}_bytes = arith.muli {at}, %bytes : index\n%{name}_place = arith.addi %{name}_base, %{name}_bytes : index\n"
        ) + &pointer(&format!("{name}_at"), &format!("%{name}_place"))
    }

    /// How CBLAS is told of it as a matrix of `rows` by `columns`: the flag for a transposition, and text for `%NAME_ld`.
    pub fn matrix(&self, rows: usize, columns: usize) -> (&'static str, String) {
        let (flag, leading) =
            if self.stride(columns) == Some(1) { ("%straight", rows) } else { ("%transposed", columns) };
        let axis = self.axis(leading).unwrap_or(0);
        let name = &self.name;
        (flag, format!("%{name}_ld = arith.index_cast %{name}_stride#{axis} : index to i32\n"))
    }
}

/// `%name`: an address as a pointer.
pub fn pointer(name: &str, address: &str) -> String {
    format!(
        "%{name}_int = arith.index_cast {address} : index to i64\n%{name} = llvm.inttoptr %{name}_int : i64 to !llvm.ptr\n"
    )
}

/// A chain with what its loop is handed.
pub struct Rows<'a> {
    pub chain: &'a AttentionChain,
    /// `q`, `k`, `v` and `o`, then `x0` and so on: what the scores read beside the product.
    pub parameters: Vec<Parameter<'a>>,
}

impl<'a> Rows<'a> {
    pub fn of(chain: &'a AttentionChain) -> Rows<'a> {
        let (products, context, last) = (&chain.products, &chain.context, chain.last_stage());
        let parameter = |name: &str, stage, operand| Parameter { name: name.into(), stage, operand };
        let mut parameters = vec![
            parameter("q", products, &products.operands[0]),
            parameter("k", products, &products.operands[1]),
            parameter("v", context, &context.operands[0]),
            parameter("o", last, chain.out()),
        ];
        for stage in chain.scores.iter().map(|s| &s.stage) {
            let extras = stage.operands.iter().enumerate();
            parameters.extend(extras.map(|(i, operand)| parameter(&format!("x{i}"), stage, operand)));
        }
        Rows { chain, parameters }
    }

    /// The texts of the launching function and of that of a range. Fails, with the reason, where sizes by which batches are taken
    /// apart are not those of an operand.
    pub fn texts(&self) -> Result<[String; 2], String> {
        Ok([self.before()?, self.body()?])
    }

    /// Whether keys may be left out.
    pub fn skips(&self) -> bool {
        self.chain.scores.as_ref().is_some_and(|s| s.masked().is_some())
    }

    /// Puts a call of the loop before the operation `at`.
    pub fn emit(&self, module: Op, at: Op, texts: [String; 2], functions: &mut Functions) -> Result<(), String> {
        let name = self.define(module, texts, functions)?;
        let inputs: Vec<(&str, Value)> = self.parameters.iter().map(|p| (p.name.as_str(), p.operand.buffer)).collect();
        let types = join(&self.parameters, |p| p.ty().to_string());
        let call =
            format!("func.call @{name}({}) : ({types}) -> ()", join(&self.parameters, |p| format!("%{}", p.name)));
        at.build_before(&inputs, &format!("func.func private @{name}({types})"), &call).map(|_| ())
    }

    pub fn extras(&self) -> &[Parameter<'a>] {
        &self.parameters[4..]
    }

    /// `%name`: the size of a loop dimension of a stage.
    pub fn size(&self, name: &str, stage: &Stage, dim: usize) -> Result<String, String> {
        if let Some(size) = stage.sizes[dim] {
            return Ok(format!("%{name} = arith.constant {size} : index\n"));
        }
        let parameters = self.parameters.iter().filter(|p| p.stage.op == stage.op);
        let found = parameters.filter_map(|p| p.axis(dim).map(|axis| (p, axis))).next();
        let (p, axis) = found.ok_or("a batch's size is not that of an operand")?;
        let (ty, operand) = (p.ty(), &p.name);
        Ok(format!(
            "%{name}_axis = arith.constant {axis} : index\n%{name} = memref.dim %{operand}, %{name}_axis : {ty}\n"
        ))
    }

    /// Text that takes the number `%b` of a batch apart, and the places of a stage's dimensions.
    pub fn places(&self, prefix: &str, stage: &Stage, row: &str, column: &str) -> Result<(String, Places), String> {
        let mut places = HashMap::from([(stage.roles.row, row.to_string()), (stage.roles.column, column.to_string())]);
        let (mut text, mut rest) = (String::new(), "%b".to_string());
        for (i, dim) in stage.roles.batch.iter().enumerate().rev() {
            if i > 0 {
                let (size, next) = (format!("{prefix}_batches{i}"), format!("%{prefix}_rest{i}"));
                text += &self.size(&size, stage, *dim)?;
                text += &format!(
                    "%{prefix}_b{i} = arith.remui {rest}, %{size} : index\n{next} = arith.divui {rest}, %{size} : index\n"
                );
                rest = next;
                places.insert(*dim, format!("%{prefix}_b{i}"));
            } else {
                places.insert(*dim, rest.clone());
            }
        }
        Ok((text, Places(places)))
    }

    /// The sizes that both functions need, and the number of batches: `%rows`, `%keys`, `%depth`, `%width`, `%batches`.
    pub fn sizes(&self) -> Result<String, String> {
        let (products, roles) = (&self.chain.products, &self.chain.products.roles);
        let mut text = String::from("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n");
        let dims =
            [("rows", products, roles.row), ("keys", products, roles.column), ("depth", products, self.chain.depth)];
        for (name, stage, dim) in dims.into_iter().chain([("width", &self.chain.context, self.chain.width)]) {
            text += &self.size(name, stage, dim)?;
        }
        Ok(text)
    }

    /// The launching function's part: `%block` rows at a time, `%blocks` of them for each batch, `%count` in all.
    fn before(&self) -> Result<String, String> {
        let (products, roles) = (&self.chain.products, &self.chain.products.roles);
        let mut text = self.sizes()?;
        let mut batches = "%c1".to_string();
        for (i, dim) in roles.batch.iter().enumerate() {
            text += &self.size(&format!("size{i}"), products, *dim)?;
            text += &format!("%batches{i} = arith.muli {batches}, %size{i} : index\n");
            batches = format!("%batches{i}");
        }
        Ok(text
            + &format!(
                "%scratch = arith.constant {SCRATCH} : index\n%least = arith.constant {} : index\n%most = arith.constant {} : index\n\
                 %some_keys = arith.maxui %keys, %c1 : index\n%fit = arith.divui %scratch, %some_keys : index\n\
                 %enough = arith.maxui %fit, %least : index\n%block = arith.minui %enough, %most : index\n\
                 %blocks = arith.ceildivui %rows, %block : index\n%count = arith.muli {batches}, %blocks : index\n",
                ROWS[0], ROWS[1]
            ))
    }

    /// Pieces of the loop that are too small for a thread, where sizes are known.
    fn grain(&self) -> i64 {
        let (sizes, roles) = (&self.chain.products.sizes, &self.chain.products.roles);
        let known = |dim: usize| sizes[dim].map(|size| size.max(1));
        let work =
            known(roles.row).zip(known(roles.column)).zip(known(self.chain.depth)).map(|((rows, keys), depth)| {
                let block = (SCRATCH / keys).clamp(ROWS[0], ROWS[1]).min(rows);
                block * keys * depth
            });
        work.map_or(1, |work| (LEAST / work).max(1))
    }

    /// The loop's functions: added to the module unless it holds equal ones.
    fn define(&self, module: Op, [before, body]: [String; 2], functions: &mut Functions) -> Result<String, String> {
        let name = module.unique_symbol("attention_rows");
        let (mut key, mut declarations, mut bodies) = (format!("{before}{body}"), String::new(), vec![]);
        for p in &self.parameters {
            key += &format!("{}: {}\n", p.name, p.ty());
        }
        let asked = self.chain.scores.as_ref().and_then(|s| s.masked());
        let scored = self.chain.scores.as_ref().map(|s| (s, s.stage.op.blocks(0)[0].terminator().operands()));
        let of_product = scored.iter().map(|(s, results)| ("score", true, *s, results.clone()));
        let of_mask = scored.iter().zip(asked).map(|((s, _), (condition, _))| ("mask", false, *s, vec![condition]));
        for (suffix, product, scores, results) in of_product.chain(of_mask) {
            let symbol = module.unique_symbol(&format!("{name}_{suffix}"));
            let (function, declaration) = self.element_function(module, &symbol, scores, &results, product)?;
            key += &function.to_string().replacen(&format!("@{symbol}("), "@(", 1);
            declarations += &declaration;
            bodies.push((format!("@{}(", suffix.to_uppercase()), symbol, function));
        }
        let declaration = format!("func.func private @{}{}\n", self.gemm(), self.gemm_type());
        module.declare(&declaration)?;
        if let Some(known) = functions.get(&key) {
            bodies.iter().for_each(|(_, _, function)| function.erase());
            return Ok(known.clone());
        }
        let mut text = body;
        for (placeholder, symbol, _) in &bodies {
            text = text.replace(placeholder, &format!("@{symbol}("));
        }
        let parameters: Vec<(String, Type)> = self.parameters.iter().map(|p| (p.name.clone(), p.ty())).collect();
        let index = Type::parse(module.ctx(), "index").ok_or("internal error: no type index")?;
        let shape = ParallelLoop {
            name: &name,
            parameters: &parameters,
            before: &before,
            shared: &[("block".to_string(), index), ("blocks".to_string(), index)],
            grain: self.grain(),
            body: &text,
            declarations: &(declarations + &declaration),
            ..Default::default()
        };
        shape.define(module)?;
        functions.insert(key, name.clone());
        Ok(name)
    }

    /// A function of the scores' body as far as it makes `results`, with its declaration. Its arguments are the product, where
    /// `product` says so, the places of the loops, and what is read beside it.
    fn element_function(
        &self,
        module: Op,
        symbol: &str,
        scores: &Scores,
        results: &[Value],
        product: bool,
    ) -> Result<(Op, String), String> {
        let (element, result) = (&self.chain.element, results[0].ty());
        let loops = scores.stage.sizes.len();
        let mut types = vec![element.clone(); usize::from(product)];
        types.extend(vec!["index".to_string(); loops]);
        types.extend(self.extras().iter().map(|p| p.ty().to_string()));
        let arguments: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
        let value = if result.is("i1") { "false".to_string() } else { format!("0.0 : {element}") };
        let function = module.define(&format!(
            "func.func private @{symbol}({}) -> {result} attributes {{passthrough = [\"alwaysinline\"]}} {{\n\
             %d = arith.constant {value}\nreturn %d : {result}\n}}",
            arguments.join(", ")
        ))?;
        let block = scores.stage.op.blocks(0)[0];
        set_body(module, symbol, block, results, |arguments, end| {
            let (first, rest) = arguments.split_at(usize::from(product));
            let (places, arrays) = rest.split_at(loops);
            let zero = format!("%zero = arith.constant 0.0 : {element}\nreturn %zero : {element}");
            let value = match first {
                [value] => *value,
                _ => end.build_before(&[], "", &zero)?[0],
            };
            let mut bound = vec![(scores.product, value)];
            for index in block.ops().into_iter().filter(|o| o.is("linalg.index")) {
                let dim = index.attr("dim").and_then(|a| a.as_int()).unwrap_or(0) as usize;
                bound.push((index.result(0), places[dim]));
            }
            let names: Vec<String> = (0..loops).map(|i| format!("i{i}")).collect();
            for ((place, array), p) in scores.places.iter().zip(arrays).zip(self.extras()) {
                let mut inputs = vec![("x", *array)];
                inputs.extend(names.iter().map(String::as_str).zip(places.iter().copied()));
                let at = join(&p.operand.axes, |dim| dim.map_or("%first".into(), |d| format!("%i{d}")));
                let element = p.ty().element().map(|e| e.to_string()).unwrap_or_default();
                let load = format!(
                    "%first = arith.constant 0 : index\n%v = memref.load %x[{at}] : {}\nreturn %v : {element}",
                    p.ty()
                );
                bound.push((block.arguments()[*place], end.build_before(&inputs, "", &load)?[0]));
            }
            Ok(bound)
        })?;
        Ok((function, format!("func.func private @{symbol}({}) -> {result}\n", types.join(", "))))
    }
}
