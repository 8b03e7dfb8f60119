//! tinymlir-opt with one more pass, which puts the kernel of `matvec.mlir` in the place of each `linalg.matvec`
//! (docs/write-a-pass.md).

use tinymlir_passes::{
    ir::{self, Op, Pass, PassCx, PassResult},
    template::Template,
};

static PASS: Pass = Pass {
    argument: "my-matvec",
    description: "Replace products of a matrix and a vector by a kernel of a thread a row",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("substituted", "Products replaced by a call")],
    dialects: tinymlir_passes::EVERY_DIALECT,
    run,
};

const MATVEC: Template = Template { file: "matvec.mlir", text: include_str!("matvec.mlir") };

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["linalg.matvec"]) {
        let [a, x, y] = op.operands()[..] else { continue };
        let types = [a, x, y].map(|v| v.ty().to_string());
        if types.iter().any(|t| !t.starts_with("memref<") || !t.contains("xf32")) {
            cx.missed(op, "is no product of f32 buffers");
            continue;
        }
        if module.lookup("matvec").is_none() {
            let template = cx.check(op, MATVEC.instantiate(module.ctx(), &[("!elem", "f32")]))?;
            template.body().into_iter().for_each(|function| _ = module.append_clone(function));
            template.destroy();
        }
        let (matrix, vector) =
            ("memref<?x?xf32, strided<[?, ?], offset: ?>>", "memref<?xf32, strided<[?], offset: ?>>");
        let views = [("a", matrix), ("x", vector), ("y", vector)];
        let cast =
            |((name, view), ty): (&(&str, &str), &String)| format!("%{name}v = memref.cast %{name} : {ty} to {view}\n");
        let casts: String = views.iter().zip(&types).map(cast).collect();
        let signature = format!("({matrix}, {vector}, {vector})");
        let text = format!("{casts}func.call @matvec(%av, %xv, %yv) : {signature} -> ()\n");
        let known = format!("func.func private @matvec{signature}");
        cx.check(op, op.build_before(&[("a", a), ("x", x), ("y", y)], &known, &text))?;
        op.erase();
        cx.count("substituted");
    }
    Ok(())
}

fn main() {
    ir::register_pass(&PASS);
    std::process::exit(ir::opt_main(&mut (), std::env::args_os()))
}
