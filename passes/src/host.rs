//! Host code that calls a template's launching function on views of buffers.

use crate::{
    ir::{Attr, Op, Value},
    memory::is_aligned,
};

/// An operand: its buffer, first element, and elements between neighbours along batch, row and column of its role.
#[derive(Clone)]
pub struct Operand {
    pub buffer: Value,
    pub offset: i64,
    pub strides: [i64; 3],
}

impl Operand {
    /// With rows and columns exchanged.
    pub fn transposed(self) -> Operand {
        let [batch, row, column] = self.strides;
        Operand { strides: [batch, column, row], ..self }
    }
    /// Whether rows of f32 can be read 16 bytes at a time.
    pub fn reads_vectors(&self, sizes: [i64; 3]) -> bool {
        self.reads_groups(sizes, 4)
    }
    /// Whether rows can be read this number of elements, of 16 bytes at most, at a time.
    pub fn reads_groups(&self, sizes: [i64; 3], group: i64) -> bool {
        let [batch, row, column] = self.strides;
        let multiple = |size: i64, stride: i64| size == 1 || stride % group == 0;
        column == 1
            && multiple(sizes[0], batch)
            && multiple(sizes[1], row)
            && self.offset % group == 0
            && is_aligned(self.buffer)
    }
}

/// Host code under construction.
#[derive(Default)]
pub struct Text {
    pub body: String,
    pub declarations: String,
}

impl Text {
    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.body += text;
        self.body.push('\n');
    }
    /// Adds the constant `%name`, an index.
    pub fn constant(&mut self, name: &str, value: i64) {
        self.line(&format!("%{name} = arith.constant {value} : index"));
    }
    /// Takes operand `%name` apart: the names of its base buffer and of its first element's place.
    pub fn operand(&mut self, name: &str, operand: &Operand) -> (String, String) {
        let ty = operand.buffer.ty();
        let rank = ty.shape().map_or(0, |s| s.len());
        let parts = if rank == 0 { String::new() } else { format!(", %{name}_n:{rank}, %{name}_step:{rank}") };
        let index = ", index".repeat(2 * rank);
        let element = ty.element().map(|e| e.to_string()).unwrap_or_default();
        self.line(&format!("%{name}_base, %{name}_at{parts} = memref.extract_strided_metadata %{name} : {ty} -> memref<{element}>, index{index}"));
        self.constant(&format!("{name}_offset"), operand.offset);
        (format!("%{name}_base"), format!("%{name}_offset"))
    }
    /// A view of the base with these strides and sizes, as `ty` says; sizes and strides are values.
    pub fn view(&mut self, name: &str, base: &(String, String), strides: &[i64], sizes: &[i64], ty: &str) {
        let mut values = |kind: &str, list: &[i64], fixed_last: bool| {
            let mut out = vec![];
            for (i, value) in list.iter().enumerate() {
                if fixed_last && i + 1 == list.len() {
                    out.push("1".to_string());
                    continue;
                }
                self.line(&format!("%{name}_{kind}{i} = arith.constant {value} : index"));
                out.push(format!("%{name}_{kind}{i}"));
            }
            out.join(", ")
        };
        let sizes = values("size", sizes, false);
        let strides = values("stride", strides, ty.contains(", 1], offset"));
        let (buffer, offset) = base;
        // The shape is all question marks: the element type stands after the last `x`.
        let element = ty.split(',').next().and_then(|shape| shape.rsplit('x').next()).unwrap_or_default();
        self.line(&format!("%{name} = memref.reinterpret_cast {buffer} to offset: [{offset}], sizes: [{sizes}], strides: [{strides}] : memref<{element}> to {ty}"));
    }
    /// The same of one that writes its arguments of these numbers and no other.
    pub fn call_writing(&mut self, symbol: &str, arguments: &[&str], types: &[String], writes: &[usize]) {
        let (arguments, types) = (arguments.join(", "), types.join(", "));
        let places = writes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        self.line(&format!(
            "func.call @{symbol}({arguments}) {{tinymlir.writes = array<i64: {places}>}} : ({types}) -> ()"
        ));
        self.declarations += &format!("func.func private @{symbol}({types})\n");
    }
    /// Adds a call of a function of the module.
    pub fn call(&mut self, symbol: &str, arguments: &[&str], types: &[String]) {
        let (arguments, types) = (arguments.join(", "), types.join(", "));
        self.line(&format!("func.call @{symbol}({arguments}) : ({types}) -> ()"));
        self.declarations += &format!("func.func private @{symbol}({types})\n");
    }
}

/// Buffers for what kernels leave for one another: one for each function, as large as its largest need. Launches follow
/// one another, so that they can share it.
#[derive(Default)]
pub struct Workspaces {
    /// The function, the constant that is the size, the buffer.
    known: Vec<(Op, Op, Value)>,
}

impl Workspaces {
    /// The buffer of the function around an operation, for so many elements.
    pub fn of(&mut self, op: Op, elements: i64) -> Result<Value, String> {
        let function = op.parent_named("func.func").ok_or("internal error: a product outside of any function")?;
        let size = Attr::parse(op.ctx(), &format!("{elements} : index")).ok_or("internal error: a size")?;
        if let Some((_, constant, buffer)) = self.known.iter().find(|(f, _, _)| *f == function) {
            if constant.attr("value").and_then(|v| v.as_int()).is_none_or(|now| now < elements) {
                constant.set_attr("value", size);
            }
            return Ok(*buffer);
        }
        let first = *function.body().first().ok_or("internal error: an empty function")?;
        let text = format!(
            "%n = arith.constant {elements} : index\n%w = memref.alloc(%n) {{alignment = 64 : i64}} : memref<?xf32>\nreturn %w, %n : memref<?xf32>, index"
        );
        let made = first.build_before(&[], "", &text)?;
        let [buffer, size] = made[..] else { return Err("internal error: no workspace".into()) };
        for end in function.find(&["func.return"]) {
            end.build_before(&[("w", buffer)], "", "memref.dealloc %w : memref<?xf32>")?;
        }
        self.known.push((function, size.def().ok_or("internal error: no size")?, buffer));
        Ok(buffer)
    }
}
