//! A product that a fast kernel takes over, with the fill before it and the elementwise operation after it: what the
//! templates of products have in common. `tinymlir-tuned-matmul` and `warpgroups.rs` choose the template.

use crate::{
    device::source,
    epilogue::{self, Epilogue, Target},
    host::{Operand, Text},
    ir::{Op, PassCx},
    memory::erase_unread,
    schedule::SLABS_AT_ONCE,
};

/// A product as a kernel computes it.
pub struct Work {
    pub op: Op,
    /// Batches, M, N, K.
    pub size: [i64; 4],
    pub a: Operand,
    pub b: Operand,
    /// Where the result goes: C, or what the epilogue writes.
    pub target: Target,
    /// The fill with zero that the kernel makes unnecessary.
    pub fill: Option<Op>,
    pub epilogue: Option<Epilogue>,
    /// The number of parts of K that are summed up apart.
    pub splits: i64,
    /// Of how many of the last rows alone; none where it is all of them.
    pub tail: Option<i64>,
}

/// The names, in a launching function's text, of a product's buffers and first elements.
pub struct Bases {
    pub a: (String, String),
    pub b: (String, String),
    pub c: (String, String),
    pub x: (String, String),
    pub y: (String, String),
}

/// C of a product of that size as it stands, for a store without an epilogue.
pub fn whole(c: &Operand, [batch, m, n, _]: [i64; 4]) -> Target {
    Target {
        buffer: c.buffer,
        offset: c.offset,
        batch: (batch, c.strides[0]),
        row: (m, c.strides[1]),
        group: (1, 0),
        inner: (n, c.strides[2]),
    }
}

/// The fill of C that a kernel may take over, and the operation after the product that it then may: without the fill the
/// sum is not the product's alone.
pub fn neighbours(op: Op, c: &Operand, inputs: [&Operand; 2], size: [i64; 4]) -> (Option<Op>, Option<Epilogue>) {
    let [batch, m, n, _] = size;
    let fill = epilogue::zero_fill(op, c.buffer);
    let inputs = inputs.map(|operand| operand.buffer);
    (fill, fill.and_then(|_| epilogue::find(op, c.buffer, inputs, [batch, m, n])))
}

impl Work {
    /// The operation in whose place the call stands.
    pub fn at(&self) -> Op {
        self.epilogue.as_ref().map_or(self.op, |e| e.op)
    }

    /// What the epilogue reads beside the sum.
    pub fn extras(&self) -> impl Iterator<Item = &Operand> {
        self.epilogue.iter().flat_map(|e| e.extras.iter().map(|(extra, _)| extra))
    }

    /// The extra operands of a template's kernel. A missing one is one that nothing reads: the product's first.
    fn extra(&self, number: usize) -> Operand {
        let unread = || Operand { buffer: self.a.buffer, offset: 0, strides: [0, 0, 1] };
        self.extras().nth(number).cloned().unwrap_or_else(unread)
    }

    /// The first two of them.
    pub fn two_extras(&self) -> [Operand; 2] {
        [self.extra(0), self.extra(1)]
    }

    /// The third, which few templates have.
    pub fn third_extra(&self) -> Operand {
        self.extra(2)
    }

    /// Takes the operands apart: `%a`, `%b`, `%c`, `%x`, `%y`.
    pub fn bases(&self, text: &mut Text) -> Bases {
        let c = Operand { buffer: self.target.buffer, offset: self.target.offset, strides: [0; 3] };
        let [x, y] = self.two_extras();
        Bases {
            a: text.operand("a", &self.a),
            b: text.operand("b", &self.b),
            c: text.operand("c", &c),
            x: text.operand("x", &x),
            y: text.operand("y", &y),
        }
    }

    /// Strides and sizes of the result by batch, row, group and column.
    pub fn result(&self) -> ([i64; 4], [i64; 4]) {
        let t = &self.target;
        ([t.batch.1, t.row.1, t.group.1, t.inner.1], [t.batch.0, t.row.0, t.group.0, t.inner.0])
    }

    /// The parameters of the kernel that adds the parts of so many rows, beside what it does with a sum, and the type of the parts.
    pub fn sum_parameters(&self, m: i64) -> (Vec<(&'static str, String)>, String) {
        let [_, _, n, _] = self.size;
        let index = |n: i64| format!("{n} : index");
        let at_once = self.splits.min(SLABS_AT_ONCE);
        let slabs = format!("memref<?x?x?x?xf32, strided<[{}, {}, {n}, 1], offset: ?>>", self.splits * m * n, m * n);
        let parameters = vec![
            ("#slabs", index(self.splits)),
            ("#rows", index(m)),
            ("#columns", index(n)),
            ("#width", index(self.target.inner.0)),
            ("#at_once", index(at_once)),
            ("!some", format!("vector<{at_once}xf32>")),
            ("!slabs", slabs.clone()),
        ];
        (parameters, slabs)
    }

    /// The workspace `%s`, which holds the partial sums, as its base and its first place.
    pub fn workspace(text: &mut Text) -> (String, String) {
        text.line(
            "%s_base, %s_at, %s_n, %s_step = memref.extract_strided_metadata %s : memref<?xf32> -> memref<f32>, index, index, index",
        );
        ("%s_base".into(), "%s_at".into())
    }

    /// What the kernel is called, and that of the sum of its parts, which the epilogue belongs to where there are parts.
    pub fn kernel_names(&self, product: String) -> (String, String) {
        let epilogue = if self.epilogue.is_some() { "_epilogue" } else { "" };
        let sum = format!("split_sum_f32{epilogue}");
        match (self.splits, self.tail) {
            (1, _) => (product + epilogue, String::new()),
            (_, None) => (product, sum),
            (_, Some(_)) => (product + "_tail" + epilogue, sum),
        }
    }

    /// The remark: the kernel and its template, and what it does beside the product.
    pub fn tell(&self, cx: &PassCx, kernel: &str, kernels: &(String, String), template: &str, tile: &str, why: &str) {
        let [batch, m, n, k] = self.size;
        let size = if batch == 1 { format!("{m}x{k}x{n}") } else { format!("{batch}x{m}x{k}x{n}") };
        let beside = match (&self.fill, &self.epilogue) {
            (Some(_), Some(e)) if self.splits > 1 && self.tail.is_none() => {
                format!(", with the fill before it, and '{}' after it where the parts are summed up", e.op.name())
            }
            (Some(_), Some(e)) => format!(", with the fill before and '{}' after it in its store", e.op.name()),
            (Some(_), None) => ", with the fill before it".into(),
            _ => String::new(),
        };
        let parts = match (self.splits, self.tail) {
            (1, _) => String::new(),
            (parts, None) => format!(", K in {parts} parts"),
            (parts, Some(rows)) => format!(", K of the last {rows} rows in {parts} parts"),
        };
        let message = format!("becomes {kernel} ({template}): {size}, tile {tile}{parts}{beside}");
        let names = if kernels.1.is_empty() { kernels.0.clone() } else { format!("{}, {}", kernels.0, kernels.1) };
        let splits = self.splits.to_string();
        let tail = self.tail.unwrap_or(0).to_string();
        let facts = [
            ("kernel", names.as_str()),
            ("template", template),
            ("size", &size),
            ("tile", tile),
            ("splits", &splits),
            ("tail", &tail),
            ("why", why),
        ];
        cx.passed_with(self.op, &message, &facts);
    }

    /// Erases what the kernel computes, and the buffer between the product and its epilogue.
    pub fn erase(self, cx: &PassCx) {
        if self.fill.is_some() {
            cx.count("fills");
        }
        if self.epilogue.is_some() {
            cx.count("epilogues");
        }
        self.remove();
    }

    /// The same, uncounted.
    pub fn remove(self) {
        let buffer = source(self.op.operand(2));
        self.op.erase();
        if let Some(fill) = self.fill {
            fill.erase();
        }
        if let Some(epilogue) = self.epilogue {
            epilogue.op.erase();
            erase_unread(buffer);
        }
    }
}
