//! `tinymlir-tiled-matmul`: substitute the tiled kernel of `templates/matmul_tiled*.mlir` for every matrix product.
//!
//! Each floating-point product on memrefs becomes a call of one private function for its rank (2-D or batched) and element
//! type. The function takes dynamically strided views: transposed, broadcast and strided operands are views of what is
//! there, nothing is copied. Dimensions past one row, column, batch and summed dimension become loops on the host around the
//! call. Runs first in outline, while a product is still one operation, and after deallocation, which cannot see through
//! the barriers of a kernel.
//!
//! It leaves to the loop path, with a remark: integers, bodies that are not multiply-add, mixed element types, layouts
//! without strides, and products inside a parallel loop or a kernel.

use crate::{
    contraction::{Body, Contraction},
    ir::{Op, Pass, PassCx, PassResult, Value},
    template::Template,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-tiled-matmul",
    description: "Replace floating-point matrix products on memrefs by calls of a tiled GPU kernel",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("substituted", "Products replaced by a call"), ("declined", "Products left to the loop path")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

const TILED: Template =
    Template { file: "templates/matmul_tiled.mlir", text: include_str!("../../templates/matmul_tiled.mlir") };
const TILED_HALF: Template =
    Template { file: "templates/matmul_tiled_half.mlir", text: include_str!("../../templates/matmul_tiled_half.mlir") };

fn run(cx: &PassCx, module: Op) -> PassResult {
    // Collected first: an operation takes its body along when it goes.
    for op in module.walk().into_iter().filter(|op| op.is_linalg()).collect::<Vec<_>>() {
        let contraction = Contraction::of(op);
        if contraction.is_err() && !op.is_contraction() {
            continue;
        }
        let (template, plan) = match contraction.and_then(|contraction| plan(op, &contraction)) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(reason) => {
                cx.missed(op, &format!("takes the loop path: {reason}"));
                cx.count("declined");
                continue;
            }
        };
        let function = cx.check(op, kernel(module, template, &plan))?;
        let why = format!(
            "a product of {} with any sizes and strides; no row of the selection table was asked for or fits",
            plan.element
        );
        let facts = [("kernel", function.as_str()), ("template", template.file), ("tile", "16x16"), ("why", &why)];
        cx.passed_with(op, &format!("becomes {function} ({}): tile 16x16", template.file), &facts);
        cx.check(op, emit(op, &plan, &function))?;
        op.erase();
        cx.count("substituted");
    }
    Ok(())
}

/// The template for a product and the roles of its dimensions; nothing where no dimension is summed, and the reason why
/// there is none. There is one template for a precision class.
pub(crate) fn plan(op: Op, contraction: &Contraction) -> Result<Option<(&'static Template, Plan)>, String> {
    let Some(plan) = roles(op, contraction)? else { return Ok(None) };
    let element = contraction.views[2].element;
    if contraction.body != Body::MultiplyAdd || contraction.views.iter().any(|v| v.element != element) {
        return Err("its element types are mixed".into());
    }
    let template = match element.to_string().as_str() {
        "f32" | "f64" => &TILED,
        "f16" | "bf16" => &TILED_HALF,
        other => return Err(format!("{other} has no template")),
    };
    Ok(Some((template, plan)))
}

/// The roles of a product's dimensions, whatever its element types; nothing where no dimension is summed, and the reason
/// why there is no kernel for any type.
pub(crate) fn roles(op: Op, contraction: &Contraction) -> Result<Option<Plan>, String> {
    let places: Vec<[Option<usize>; 3]> =
        (0..contraction.sizes.len()).map(|d| [0, 1, 2].map(|i| contraction.axis(i, d))).collect();
    if places.iter().all(|p| p[2].is_some()) {
        return Ok(None);
    }
    if places.iter().any(|p| p.iter().all(|axis| axis.is_none())) {
        return Err("a loop dimension indexes no operand".into());
    }
    if contraction.views.iter().any(|v| v.space.is_some()) {
        return Err("an operand lies in another memory space".into());
    }
    if let Some(around) =
        ["scf.parallel", "scf.forall", "gpu.launch", "gpu.func"].iter().find(|a| op.parent_named(a).is_some())
    {
        return Err(format!("it is inside '{around}'"));
    }
    Ok(Some(Plan::of(contraction.operands, places, contraction.views[2].element.to_string())))
}

/// The roles of the loop dimensions. A role that no dimension has is of size 1.
pub(crate) struct Plan {
    /// A, B and C; A and B are exchanged where that makes columns run along C's last axis.
    pub operands: [Value; 3],
    /// For each loop dimension its axis in A, B and C.
    pub places: Vec<[Option<usize>; 3]>,
    pub element: String,
    pub batch: Option<usize>,
    pub row: Option<usize>,
    pub column: Option<usize>,
    pub sum: Option<usize>,
    /// Dimensions that become loops around the call.
    pub loops: Vec<usize>,
}

impl Plan {
    fn of(mut operands: [Value; 3], mut places: Vec<[Option<usize>; 3]>, element: String) -> Plan {
        // Columns run along C's last axis, so that neighbouring threads write neighbouring elements: C' = B' A' otherwise.
        let last = places.iter().filter(|p| p[2].is_some()).max_by_key(|p| p[2]);
        let has_columns = places.iter().any(|p| p[0].is_none() && p[1].is_some() && p[2].is_some());
        if has_columns && last.is_some_and(|p| p[0].is_some() && p[1].is_none()) {
            operands.swap(0, 1);
            places.iter_mut().for_each(|p| p.swap(0, 1));
        }
        let mut left: Vec<usize> = (0..places.len()).collect();
        // Of several candidates the one that is innermost in the operand that it indexes.
        let mut take = |wanted: &dyn Fn(&[Option<usize>; 3]) -> bool| -> Option<usize> {
            let found = left.iter().copied().filter(|d| wanted(&places[*d])).max_by_key(|d| places[*d])?;
            left.retain(|d| *d != found);
            Some(found)
        };
        let row = take(&|p| p[0].is_some() && p[1].is_none() && p[2].is_some());
        let column = take(&|p| p[0].is_none() && p[1].is_some() && p[2].is_some());
        let sum = take(&|p| p[0].is_some() && p[1].is_some() && p[2].is_none()).or_else(|| take(&|p| p[2].is_none()));
        // A broadcast dimension is in C alone.
        let broadcast = |p: &[Option<usize>; 3]| p[0].is_none() && p[1].is_none();
        let row = row.or_else(|| take(&broadcast));
        let column = column.or_else(|| take(&broadcast));
        let batch = take(&|p| p.iter().all(|i| i.is_some())).or_else(|| take(&|p| p[2].is_some()));
        Plan { batch, row, column, sum, loops: left, operands, places, element }
    }

    /// The dimensions of the views of A, B and C.
    pub fn roles(&self) -> [Vec<Option<usize>>; 3] {
        [[self.row, self.sum], [self.sum, self.column], [self.row, self.column]].map(|pair| {
            let batch = self.batch.is_some().then_some(self.batch);
            batch.into_iter().chain(pair).collect()
        })
    }

    fn rank(&self) -> usize {
        if self.batch.is_some() { 3 } else { 2 }
    }

    fn view_type(&self) -> String {
        let (sizes, strides) = (vec!["?"; self.rank()].join("x"), vec!["?"; self.rank()].join(", "));
        format!("memref<{sizes}x{}, strided<[{strides}], offset: ?>>", self.element)
    }

    /// Whether every operand has the view's dimensions in the view's order already, so that a cast makes the view.
    fn is_cast(&self) -> bool {
        self.loops.is_empty()
            && self.roles().iter().enumerate().all(|(operand, roles)| {
                roles.iter().enumerate().all(|(i, dim)| dim.is_some_and(|d| self.places[d][operand] == Some(i)))
            })
    }
}

/// The function that launches the template's kernel, declared at the end of the module when it is not there.
fn kernel(module: Op, template: &Template, plan: &Plan) -> Result<String, String> {
    let base = if plan.rank() == 3 { "matmul_batched" } else { "matmul_2d" };
    let element = &plan.element;
    let name = format!("{base}_{element}");
    let ours = |op: &Op| op.attr("tinymlir.kernel").is_some_and(|a| a.as_str().as_deref() == Some(&name));
    if let Some(function) = module.body().into_iter().find(ours) {
        return function.symbol().ok_or_else(|| "a kernel without a name".into());
    }
    let symbol = module.unique_symbol(&name);
    let parsed = template.instantiate(module.ctx(), &[("!elem", element)])?;
    let Some(function) = parsed.lookup(base) else { return Err(format!("{} has no function @{base}", template.file)) };
    let function = module.append_clone(function);
    parsed.destroy();
    function.set_attr("sym_name", crate::ir::Attr::string(module.ctx(), &symbol));
    function.set_attr("tinymlir.kernel", crate::ir::Attr::string(module.ctx(), &name));
    Ok(symbol)
}

fn emit(op: Op, plan: &Plan, function: &str) -> Result<(), String> {
    let view = plan.view_type();
    let names = ["a", "b", "c"];
    let inputs: Vec<(&str, Value)> = names.into_iter().zip(plan.operands).collect();
    let mut text = String::new();
    let mut indent = 0;
    if plan.is_cast() {
        for (name, value) in &inputs {
            let ty = value.ty();
            text += &format!("%{name}v = memref.cast %{name} : {ty} to {view}\n");
        }
    } else {
        indent = views(plan, &mut text)?;
    }
    text += &format!("func.call @{function}(%av, %bv, %cv) : ({view}, {view}, {view}) -> ()\n");
    text += &"}\n".repeat(indent);
    op.build_before(&inputs, &format!("func.func private @{function}({view}, {view}, {view})"), &text)?;
    Ok(())
}

/// Writes the views `%av`, `%bv` and `%cv` into the operands, inside one loop for each dimension that is too many. Returns
/// the number of loops.
fn views(plan: &Plan, text: &mut String) -> Result<usize, String> {
    let names = ["a", "b", "c"];
    let Plan { operands, places, element, loops, .. } = plan;
    *text += "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n";
    for (name, value) in names.iter().zip(operands) {
        let rank = value.ty().shape().map_or(0, |s| s.len());
        let index = ", index".repeat(2 * rank);
        let parts = if rank == 0 { String::new() } else { format!(", %{name}_size:{rank}, %{name}_stride:{rank}") };
        *text += &format!(
            "%{name}_base, %{name}_offset{parts} = memref.extract_strided_metadata %{name} : {} -> memref<{element}>, index{index}\n",
            value.ty()
        );
    }
    // A dimension's size, from the first operand that it indexes.
    let size = |dim: Option<usize>| match dim {
        None => "1".to_string(),
        Some(d) => {
            let operand = places[d].iter().position(|p| p.is_some()).unwrap_or_default();
            format!("%{}_size#{}", names[operand], places[d][operand].unwrap_or_default())
        }
    };
    for (i, dim) in loops.iter().enumerate() {
        *text += &format!("scf.for %i{i} = %zero to {} step %one {{\n", size(Some(*dim)));
    }
    for (operand, (name, roles)) in names.iter().zip(plan.roles()).enumerate() {
        let mut offset = format!("%{name}_offset");
        for (i, dim) in loops.iter().enumerate() {
            let Some(place) = places[*dim][operand] else { continue };
            *text += &format!("%{name}_step{i} = arith.muli %i{i}, %{name}_stride#{place} : index\n");
            *text += &format!("%{name}_at{i} = arith.addi {offset}, %{name}_step{i} : index\n");
            offset = format!("%{name}_at{i}");
        }
        let sizes: Vec<_> = roles.iter().map(|d| size(*d)).collect();
        let strides: Vec<_> = roles
            .iter()
            .map(|d| d.and_then(|d| places[d][operand]).map_or("0".into(), |p| format!("%{name}_stride#{p}")))
            .collect();
        // Sizes and strides are passed as values: a constant would show in the type.
        let values = |list: &[String], text: &mut String, kind: &str| -> Vec<String> {
            list.iter()
                .enumerate()
                .map(|(i, v)| {
                    if v.starts_with('%') {
                        return v.clone();
                    }
                    *text += &format!("%{name}_{kind}{i} = arith.constant {v} : index\n");
                    format!("%{name}_{kind}{i}")
                })
                .collect()
        };
        let sizes = values(&sizes, text, "n");
        let strides = values(&strides, text, "s");
        *text += &format!(
            "%{name}v = memref.reinterpret_cast %{name}_base to offset: [{offset}], sizes: [{}], strides: [{}] : memref<{}> to {}\n",
            sizes.join(", "),
            strides.join(", "),
            element,
            plan.view_type()
        );
    }
    Ok(loops.len())
}
