//! The call of a template of the selection table that computes a product, in the place of the product and of what joins it.

use crate::{
    host::{Text, Workspaces},
    ir::{Op, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_whole_body},
    narrow,
    products::Work,
    prologue::Prologue,
    row_text::{self, PrologueText},
    row_tile,
    scatter::Scatter,
    schedule::{Kind, Layout, Product, SKINNY_THREADS, SPLIT_REDUCE},
};

/// A product and the row of the table that takes it.
pub struct Call {
    pub work: Work,
    pub product: &'static Product,
    pub scatters: Vec<Scatter>,
    pub prologue: Option<Prologue>,
}

/// Operands of a kernel beside the usual five, those of the loops that copy its result and of its prologue, and the text
/// that they stand for in a template.
struct Additions {
    buffers: Vec<Value>,
    /// How many of the buffers, from the first on, belong to the loops that copy the result.
    copied: usize,
    operands: String,
    names: String,
    types: String,
    functions: String,
    also: String,
    prologue: Option<PrologueText>,
}

const ANY: &str = "strided<[?, ?, ?], offset: ?>";
const ROWS: &str = "strided<[?, ?, 1], offset: ?>";

fn view(layout: &str) -> String {
    view_of("f32", layout)
}

fn view_of(element: &str, layout: &str) -> String {
    format!("memref<?x?x?x{element}, {layout}>")
}

fn view_by_groups(column: &str) -> String {
    format!("memref<?x?x?x?xf32, strided<[?, ?, ?, {column}], offset: ?>>")
}

impl Call {
    /// Replaces the product, and what joins it, by the call.
    pub fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, workspaces: &mut Workspaces) -> PassResult {
        let Work { op, size: [batch, m, n, k], splits, .. } = self.work;
        let skinny = self.product.kind == Kind::Skinny;
        let along_k = self.product.layout == Layout::AlongK;
        let split = splits > 1;
        let accumulate = if self.work.fill.is_some() { "false" } else { "true" };
        let additions = cx.check(op, self.additions(module))?;

        // For few rows the addresses are what a thread computes most of: the strides of A and B are part of the kernel.
        let fixes = skinny && !along_k;
        let b_rows = if along_k { self.work.b.clone().transposed() } else { self.work.b.clone() };
        let fixed = |element: &str, strides: [i64; 3]| view_of(element, &format!("strided<{strides:?}, offset: ?>"));
        let b_element = self.b_element();
        let (a_view, b_view) = (view(if fixes { ANY } else { ROWS }), view_of(&b_element, ROWS));
        let (a_type, b_type) = match fixes {
            true => (fixed("f32", self.work.a.strides), fixed(&b_element, b_rows.strides)),
            false => (a_view.clone(), b_view.clone()),
        };
        let extra_type = view(if skinny { ANY } else { ROWS });
        // Batch, row, group, column; without groups where B lies along K.
        let c_type = match (along_k, skinny) {
            (true, _) => view(ANY),
            (false, true) => view_by_groups("?"),
            (false, false) => view_by_groups("1"),
        };
        let by_groups = |v: [i64; 4]| if along_k { vec![v[0], v[1], v[3]] } else { v.to_vec() };
        let (strides, sizes) = self.work.result();

        let mut text = Text::default();
        let bases = self.work.bases(&mut text);
        let [x, y] = self.work.two_extras();
        text.view("av", &bases.a, &self.work.a.strides, &[batch, m, k], &a_view);
        let b_size = if along_k { [batch, n, k] } else { [batch, k, n] };
        text.view("bv", &bases.b, &b_rows.strides, &b_size, &b_view);
        if fixes {
            text.line(&format!("%av_fixed = memref.cast %av : {a_view} to {a_type}"));
            text.line(&format!("%bv_fixed = memref.cast %bv : {b_view} to {b_type}"));
        }
        text.view("xv", &bases.x, &x.strides, &[batch, m, n], &extra_type);
        text.view("yv", &bases.y, &y.strides, &[batch, m, n], &extra_type);
        let slabs = split.then(|| Work::workspace(&mut text));
        match &slabs {
            Some(slabs) => {
                let all = splits * batch;
                text.view("cv", slabs, &by_groups([m * n, n, 0, 1]), &by_groups([all, m, 1, n]), &c_type)
            }
            None => text.view("cv", &bases.c, &by_groups(strides), &by_groups(sizes), &c_type),
        }

        let parameters = self.parameters(&additions, &a_type, &b_type, if split { "false" } else { accumulate });
        let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let names = self.work.kernel_names(self.product_name());
        let body = |kernels: Op| {
            narrow::set_widen(kernels, &b_element, self.product.layout, self.product.kind)?;
            for (i, scatter) in self.scatters.iter().enumerate() {
                scatter.set(kernels, i, &additions.buffers[..additions.copied])?;
            }
            if let Some(prologue) = &self.prologue {
                row_text::set_operations(kernels, &prologue.group)?;
            }
            if split { Ok(()) } else { self.epilogue_body(kernels) }
        };
        let template = &self.product.template;
        let instance = Instance { template, parameters: &parameters, launcher: "matmul", name: &names.0 };
        let symbol = kernels.place(cx, op, module, instance, body)?;

        let mut types = vec![a_type, b_type, c_type, extra_type.clone(), extra_type.clone()];
        let mut arguments = vec!["%av", "%bv", "%cv", "%xv", "%yv"];
        if fixes {
            arguments[..2].copy_from_slice(&["%av_fixed", "%bv_fixed"]);
        }
        let added: Vec<String> = (0..additions.buffers.len()).map(|i| format!("%o{i}")).collect();
        arguments.extend(added.iter().map(String::as_str));
        types.extend(additions.buffers.iter().map(|b| b.ty().to_string()));
        if !skinny {
            let chunk = (k + splits - 1) / splits;
            text.constant("splits", splits);
            text.constant("chunk", (chunk + 15) / 16 * 16);
            types.extend(["index".into(), "index".into()]);
            arguments.extend(["%splits", "%chunk"]);
        }
        let writes: Vec<usize> = [2].into_iter().chain(5..5 + additions.copied).collect();
        text.call_writing(&symbol, &arguments, &types, &writes);

        if let Some(slabs) = &slabs {
            let parameters = [("#accumulate", accumulate)];
            let instance =
                Instance { template: &SPLIT_REDUCE, parameters: &parameters, launcher: "reduce", name: &names.1 };
            let reduce = kernels.place(cx, op, module, instance, |kernels| self.epilogue_body(kernels))?;
            let slab = m * n;
            text.view("pv", slabs, &[slab * splits, slab, n, 1], &[batch, splits, m, n], &view_by_groups("1"));
            text.view("rv", &bases.c, &strides, &sizes, &view_by_groups("?"));
            let types = [view_by_groups("1"), view_by_groups("?"), extra_type.clone(), extra_type];
            text.call(&reduce, &["%pv", "%rv", "%xv", "%yv"], &types);
        }

        let (a, b, c) = (self.work.a.buffer, self.work.b.buffer, self.work.target.buffer);
        let mut inputs = vec![("a", a), ("b", b), ("c", c), ("x", x.buffer), ("y", y.buffer)];
        inputs.extend(added.iter().map(|name| &name[1..]).zip(additions.buffers.iter().copied()));
        if split {
            inputs.push(("s", cx.check(op, workspaces.of(op, batch * splits * m * n))?));
        }
        self.tell(cx, &names);
        let at = self.work.at();
        at.stand_for(self.work.fill.into_iter().chain([op]));
        cx.check(op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        cx.count("substituted");
        self.work.erase(cx);
        if let Some(prologue) = self.prologue {
            prologue.erase_unread();
            cx.count("prologues");
        }
        for scatter in self.scatters {
            scatter.erase();
            cx.count("scatters");
        }
        Ok(())
    }

    fn additions(&self, module: Op) -> Result<Additions, String> {
        let mut buffers = vec![];
        for buffer in self.scatters.iter().flat_map(|s| s.buffers.iter().copied()) {
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        }
        let copied = buffers.len();
        let text = |p: &Prologue| row_text::prologue(module.ctx(), &p.group, SKINNY_THREADS, copied);
        let prologue = self.prologue.as_ref().map(text).transpose()?;
        buffers.extend(prologue.iter().flat_map(|p| p.buffers.iter().copied()));
        let list = |part: &dyn Fn(usize, Value) -> String| -> String {
            buffers.iter().enumerate().map(|(i, b)| format!(", {}", part(i, *b))).collect()
        };
        let operands = list(&|i, b| format!("%o{i} : {}", b.ty()));
        let names = list(&|i, _| format!("%o{i}"));
        let types = list(&|_, b| b.ty().to_string());
        let scatters = || self.scatters.iter().enumerate();
        let mut functions: String = scatters().map(|(i, s)| s.functions(i, (&operands, &names, &types))).collect();
        functions.extend(prologue.iter().map(|p| p.functions.as_str()));
        let also = scatters()
            .map(|(i, _)| format!("func.call @scatter{i}(%value, %column{names}) : (f32, index{types}) -> ()\n"))
            .collect();
        Ok(Additions { buffers, copied, operands, names, types, functions, also, prologue })
    }

    /// The template's parameters, those of its row of the table first.
    fn parameters(
        &self,
        additions: &Additions,
        a_type: &str,
        b_type: &str,
        accumulate: &str,
    ) -> Vec<(&'static str, String)> {
        let [_, m, _, k] = self.work.size;
        let mut parameters = vec![("#accumulate", accumulate.to_string())];
        parameters.extend(self.product.parameters.iter().map(|(name, value)| (*name, value.to_string())));
        parameters.extend(narrow::parameters(&self.b_element(), self.product.layout, self.product.kind, k));
        if self.product.kind != Kind::Skinny {
            return parameters;
        }
        parameters.push(("#rows", format!("{m} : index")));
        if self.product.layout == Layout::AlongK {
            parameters.push(("!sums", format!("vector<{m}x4x4xf32>")));
            return parameters;
        }
        parameters.extend([
            ("!sums", format!("vector<{m}x4xf32>")),
            ("!warp_sums", format!("memref<16x{m}x16xf32, #gpu.address_space<workgroup>>")),
            ("!a_view", a_type.to_string()),
            ("!b_view", b_type.to_string()),
            ("!global", b_type.replace(", offset: ?>>", ", offset: ?>, #gpu.address_space<global>>")),
            ("#exact", (k % narrow::step(&self.b_element(), k) == 0).to_string()),
            ("+operands", additions.operands.clone()),
            ("+names", additions.names.clone()),
            ("+types", additions.types.clone()),
            ("+functions", additions.functions.clone()),
            ("+also", additions.also.clone()),
        ]);
        if self.work.target.group.0 != 1 {
            parameters.push(("#group_width", format!("{} : index", self.work.target.inner.0)));
        }
        if let Some(prologue) = &additions.prologue {
            parameters.extend([
                ("#staged", "true".to_string()),
                ("#depth", format!("{k} : index")),
                ("!stage", format!("memref<{m}x{k}xf32, #gpu.address_space<workgroup>>")),
                ("+prologue", prologue.body.clone()),
            ]);
        }
        parameters
    }

    /// The elementwise operation as the body of the template's `@epilogue`.
    fn epilogue_body(&self, kernels: Op) -> Result<(), String> {
        let Some(epilogue) = &self.work.epilogue else { return Ok(()) };
        let inputs: Vec<_> = [epilogue.sum].into_iter().chain(epilogue.extras.iter().map(|(_, v)| *v)).collect();
        set_whole_body(kernels, "epilogue", epilogue.op.blocks(0)[0], &inputs)
    }

    /// The element type of B.
    fn b_element(&self) -> String {
        row_tile::element(self.work.b.buffer)
    }

    /// The kernel's name, without its epilogue.
    fn product_name(&self) -> String {
        let b = self.b_element();
        let narrow = if b == "f32" { String::new() } else { format!("_{b}") };
        let rows = if self.product.kind == Kind::Skinny { format!("_{}", self.work.size[1]) } else { String::new() };
        let prologue = if self.prologue.is_some() { "_prologue" } else { "" };
        format!("{}{narrow}{rows}{prologue}", self.product.name)
    }

    /// The remark: which row of the table took it.
    fn tell(&self, cx: &PassCx, names: &(String, String)) {
        let (product, m) = (self.product, self.work.size[1]);
        let (tile, chosen) = match product.kind {
            Kind::Skinny => (format!("all {m} rows"), "the first row of the table that fits"),
            Kind::Tiled { rows, columns } => {
                (format!("{rows}x{columns}"), "the quickest tile, as estimated, of the first template that fits")
            }
        };
        let rows = match product.most_rows {
            i64::MAX => "any number of".to_string(),
            most => format!("up to {most}"),
        };
        let layout = if product.layout == Layout::AlongN { "K x N" } else { "N x K" };
        let b = self.b_element();
        let narrow = if b == "f32" { String::new() } else { format!(" of {b}") };
        let why = format!(
            "{chosen}: {rows} rows, B {layout}{narrow}, {} in {}, sm_{} or newer",
            product.element,
            product.precision.name(),
            product.chip
        );
        self.work.tell(cx, product.name, names, product.template.file, &tile, &why);
    }
}
