//! The call of a template of the selection table that computes a product, in the place of the product and of what joins it.

use crate::{
    additions::Additions,
    few_rows::{FewRows, Turns},
    host::{Text, Workspaces},
    ir::{Op, PassCx, PassResult},
    kernels::{Instance, Kernels, set_whole_body},
    narrow, parts,
    products::Work,
    prologue::Prologue,
    row_copies::{self, RowCopy},
    row_text, row_tile,
    scatter::Scatter,
    schedule::{Kind, Layout, Product, SPLIT_REDUCE},
    turns::ceildiv,
};

/// A product and the row of the table that takes it.
pub struct Call {
    pub work: Work,
    pub product: &'static Product,
    /// How the kernel for few rows and B along N divides its work.
    pub few: Option<FewRows>,
    pub scatters: Vec<Scatter>,
    pub copies: Vec<RowCopy>,
    pub prologue: Option<Prologue>,
    /// How the kernel for few rows and B along K does, where it has a prologue.
    pub turns: Option<Turns>,
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
        // Whether all that the kernel writes are parts, and which rows are in parts.
        let split = splits > 1 && self.work.tail.is_none();
        let (first, rows) = self.work.tail.map_or((0, m), |rows| (m - rows, rows));
        // A kernel of rows adds them where a norm follows.
        let joined = split && self.copies.is_empty() && parts::joins(&self.work) && parts::norm_follows(&self.work);
        let accumulate = if self.work.fill.is_some() { "false" } else { "true" };
        let additions = cx.check(op, Additions::of(&self, module, split))?;

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
        let slabs = (splits > 1).then(|| Work::workspace(&mut text));
        match &slabs {
            Some(slabs) if split => {
                let all = splits * batch;
                text.view("cv", slabs, &by_groups([m * n, n, 0, 1]), &by_groups([all, m, 1, n]), &c_type)
            }
            _ => text.view("cv", &bases.c, &by_groups(strides), &by_groups(sizes), &c_type),
        }

        let mut parameters = self.parameters(&additions, &a_type, &b_type, (accumulate, split));
        if self.work.tail.is_some() {
            parameters.push(("#tail", "true".into()));
        }
        let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut names = self.work.kernel_names(self.product_name());
        if joined {
            names.1.clear();
        }
        let body = |kernels: Op| {
            narrow::set_widen(kernels, &b_element, self.product.layout, self.product.kind)?;
            for (i, scatter) in self.scatters.iter().enumerate() {
                scatter.set(kernels, i, &additions.buffers[..additions.copied])?;
            }
            if let Some(prologue) = &self.prologue {
                row_text::set_operations(kernels, &prologue.group)?;
            }
            if let Some(turns) = self.turns {
                turns.bound_registers(kernels)?;
            }
            if split { Ok(()) } else { self.epilogue_body(kernels) }
        };
        let template = &self.product.template;
        let instance = Instance { template, parameters: &parameters, launcher: "matmul", name: &names.0 };
        let symbol = kernels.place(cx, op, module, instance, body)?;

        let mut types = vec![a_type, b_type, c_type, extra_type.clone(), extra_type.clone()];
        let mut arguments = vec!["%av", "%bv", "%cv", "%xv", "%yv"];
        let z = self.work.third_extra();
        if self.product.most_extras() > 2 {
            let base = text.operand("z", &z);
            text.view("zv", &base, &z.strides, &[batch, m, n], &extra_type);
            types.push(extra_type.clone());
            arguments.push("%zv");
        }
        if fixes {
            arguments[..2].copy_from_slice(&["%av_fixed", "%bv_fixed"]);
        }
        let mut writes = vec![2];
        if !skinny {
            let chunk = ceildiv(k, splits);
            text.constant("splits", splits);
            text.constant("chunk", (chunk + 15) / 16 * 16);
            types.extend(["index".into(), "index".into()]);
            arguments.extend(["%splits", "%chunk"]);
        }
        if let Some(tile_rows) = self.product.tail_tile() {
            // Without a tail, a view that nothing reads.
            let slabs = slabs.as_ref().unwrap_or(&bases.c);
            text.view("tv", slabs, &[rows * n, n, 1], &[splits, rows, n], &extra_type);
            text.constant("tail", self.work.tail.map_or(0, |rows| ceildiv(rows, tile_rows)));
            writes.extend(self.work.tail.map(|_| arguments.len()));
            types.extend([extra_type.clone(), "index".into()]);
            arguments.extend(["%tv", "%tail"]);
        }
        let added: Vec<String> = (0..additions.buffers.len()).map(|i| format!("%o{i}")).collect();
        writes.extend(arguments.len()..arguments.len() + additions.copied);
        let stored = additions.prologue.as_ref().and_then(|p| p.written);
        writes.extend(stored.map(|place| arguments.len() + additions.copied + place));
        arguments.extend(added.iter().map(String::as_str));
        types.extend(additions.buffers.iter().map(|b| b.ty().to_string()));
        for (i, copy) in self.copies.iter().enumerate() {
            let base = text.operand(&format!("t{i}"), &copy.to);
            text.view(&additions.views[i][1..], &base, &copy.to.strides, &copy.sizes(m), row_copies::VIEW);
            if !split {
                writes.push(arguments.len());
                arguments.push(&additions.views[i]);
                types.push(row_copies::VIEW.into());
            }
        }
        text.call_writing(&symbol, &arguments, &types, &writes);

        let others = if joined { parts::inputs(&self.work) } else { vec![] };
        if let Some((base, _)) = slabs.as_ref().filter(|_| joined) {
            cx.check(op, parts::write(&mut text, &self.work, base, 0))?;
        } else if let Some(slabs) = &slabs {
            let (mut parameters, slabs_type) = self.work.sum_parameters(rows);
            parameters.push(("#accumulate", accumulate.to_string()));
            parameters.extend(additions.text());
            let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let instance =
                Instance { template: &SPLIT_REDUCE, parameters: &parameters, launcher: "reduce", name: &names.1 };
            let reduce = kernels.place(cx, op, module, instance, |kernels| self.epilogue_body(kernels))?;
            let slab = rows * n;
            text.view("pv", slabs, &[slab * splits, slab, n, 1], &[batch, splits, rows, n], &view_by_groups("1"));
            text.line(&format!("%pv_fixed = memref.cast %pv : {} to {slabs_type}", view_by_groups("1")));
            // Of what is as large as the result, the rows that are in parts.
            let mut from_first = |name: &str, base: &(String, String), offset: i64, step: i64| {
                text.constant(&format!("{name}_first"), offset + first * step);
                (base.0.clone(), format!("%{name}_first"))
            };
            let c_rows = from_first("c", &bases.c, self.work.target.offset, strides[1]);
            let x_rows = from_first("x", &bases.x, x.offset, x.strides[1]);
            let y_rows = from_first("y", &bases.y, y.offset, y.strides[1]);
            text.view("rv", &c_rows, &strides, &[sizes[0], rows, sizes[2], sizes[3]], &view_by_groups("?"));
            text.view("xr", &x_rows, &x.strides, &[batch, rows, n], &extra_type);
            text.view("yr", &y_rows, &y.strides, &[batch, rows, n], &extra_type);
            let mut types = vec![slabs_type, view_by_groups("?"), extra_type.clone(), extra_type];
            let mut arguments = vec!["%pv_fixed", "%rv", "%xr", "%yr"];
            arguments.extend(additions.views.iter().map(String::as_str));
            types.resize(arguments.len(), row_copies::VIEW.to_string());
            text.call(&reduce, &arguments, &types);
        }

        let (a, b, c) = (self.work.a.buffer, self.work.b.buffer, self.work.target.buffer);
        let mut inputs = vec![("a", a), ("b", b), ("c", c), ("x", x.buffer), ("y", y.buffer)];
        if self.product.most_extras() > 2 {
            inputs.push(("z", z.buffer));
        }
        inputs.extend(added.iter().map(|name| &name[1..]).zip(additions.buffers.iter().copied()));
        inputs.extend(others.iter().map(|(name, value)| (name.as_str(), *value)));
        let places: Vec<String> = (0..self.copies.len()).map(|i| format!("t{i}")).collect();
        inputs.extend(places.iter().map(String::as_str).zip(self.copies.iter().map(|c| c.to.buffer)));
        if splits > 1 {
            inputs.push(("s", cx.check(op, workspaces.of(op, batch * splits * rows * n))?));
        }
        self.tell(cx, &names);
        let at = self.work.at();
        at.stand_for(self.work.fill.into_iter().chain([op]));
        cx.check(op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        if joined {
            cx.check(op, parts::set_body(&self.work))?;
        }
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
        for copy in self.copies {
            copy.op.erase();
            cx.count("scatters");
        }
        Ok(())
    }

    /// The template's parameters, those of its row of the table first.
    fn parameters(
        &self,
        additions: &Additions,
        a_type: &str,
        b_type: &str,
        (accumulate, split): (&str, bool),
    ) -> Vec<(&'static str, String)> {
        let [_, m, n, k] = self.work.size;
        let mut parameters = vec![("#accumulate", if split { "false" } else { accumulate }.to_string())];
        parameters.extend(self.product.parameters.iter().map(|(name, value)| (*name, value.to_string())));
        parameters.extend(narrow::parameters(&self.b_element(), self.product.layout, self.product.kind, k));
        parameters.extend(self.few.iter().flat_map(|few| few.parameters(&self.b_element(), m, k)));
        if let Kind::Tiled { .. } = self.product.kind {
            if self.product.copies_rows() && !split {
                parameters.extend(additions.text());
            }
            return parameters;
        }
        parameters.push(("#rows", format!("{m} : index")));
        if self.product.layout == Layout::AlongK {
            parameters.push(("!sums", format!("vector<{m}x4x4xf32>")));
            parameters.extend(additions.text().into_iter().filter(|(place, _)| *place != "+also"));
        } else {
            parameters.extend([
                ("!sums", format!("vector<{m}x4xf32>")),
                ("!a_view", a_type.to_string()),
                ("!b_view", b_type.to_string()),
                ("!global", b_type.replace(", offset: ?>>", ", offset: ?>, #gpu.address_space<global>>")),
            ]);
            parameters.extend(additions.text());
        }
        if self.work.target.group.0 != 1 {
            parameters.push(("#group_width", format!("{} : index", self.work.target.inner.0)));
        }
        if let Some(prologue) = &additions.prologue {
            parameters.push(("+prologue", prologue.body.clone()));
            match self.turns {
                Some(turns) => {
                    parameters.extend(turns.parameters([m, n, k]));
                }
                None => parameters.extend([
                    ("#staged", "true".to_string()),
                    ("#depth", format!("{k} : index")),
                    ("!stage", format!("memref<{m}x{k}xf32, #gpu.address_space<workgroup>>")),
                ]),
            }
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
            Kind::Skinny => {
                let rows = if m == 1 { "of the one row".into() } else { format!("of all {m} rows") };
                (rows, "the first row of the table that fits")
            }
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
