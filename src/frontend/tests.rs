//! What the graph refuses, and that stock `mlir-opt` takes what it emits.

use super::{Graph, Promotion, Value, module};
use crate::{DType, DType::*, Tensor};
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// The text after stock `mlir-opt` with `arguments` verified it.
pub(crate) fn mlir_opt(text: &str, arguments: &[&str]) -> String {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let mut child = Command::new(format!("{prefix}/bin/mlir-opt"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The verified text of a function of one result.
fn emitted(g: &Graph, result: Value) -> String {
    mlir_opt(&module(&[g.finish("main", &[("result", result)]).unwrap()]), &[])
}

fn refused(g: &Graph, value: Value) -> String {
    format!("{:#}", g.finish("main", &[("result", value)]).unwrap_err())
}

#[test]
fn shape_errors_name_both_shapes_and_the_line() {
    let g = Graph::new();
    let (a, b) = (g.input("a", F32, &[2, 3]), g.input("b", F32, &[4]));
    let line = line!() + 1;
    let sum = a + b;
    // What follows an error neither hides it nor panics.
    let message = refused(&g, sum.softmax(-1).matmul(a).reshape(&[7]).split(0, 3)[2]);
    assert!(message.starts_with("add at ") && message.contains(&format!("tests.rs:{line}")), "{message}");
    assert!(message.contains("[2, 3]") && message.contains("[4]"), "{message}");
    type Case = (fn(&Graph) -> Value, &'static [&'static str]);
    let cases: [Case; 18] = [
        (|g| g.input("x", F32, &[2, 0]).min(&[1], false), &["[2, 0]", "no element"]),
        (|g| g.input("x", F32, &[2]).update(g.input("y", F32, &[3]), g.scalar(I32, 0.0), 0), &["f32[3]", "f32[2]"]),
        (|g| g.input("x", F32, &[2]).update(g.input("y", F32, &[1]), g.scalar(I32, 2.0), 0), &["position 2", "f32[2]"]),
        (
            |g| g.input("x", F32, &[2]).update(g.input("y", F32, &[1]), g.input("p", F32, &[1]), 0),
            &["i32 or i64", "f32[1]"],
        ),
        (|g| (g.input("x", F32, &[2]) + 1.0).writable(), &["only an argument"]),
        (|g| g.input("x", F32, &[2]).store(g.input("y", F32, &[2])), &["no writable argument"]),
        (|g| g.input("x", F32, &[2, 3]).matmul(g.input("y", F32, &[4, 5])), &["[2, 3]", "[4, 5]", "3 columns"]),
        (|g| g.input("x", F32, &[2, 4, 3]).matmul(g.input("y", F32, &[5, 3, 4])), &["[2]", "[5]"]),
        (|g| g.input("x", F32, &[]).matmul(g.input("y", F32, &[4])), &["scalar"]),
        (|g| g.input("x", F32, &[2, 3]).reshape(&[5]), &["[2, 3]", "[5]", "6 elements"]),
        (|g| g.input("x", F32, &[2, 3]).transpose(&[0, 0]), &["[0, 0]", "[2, 3]"]),
        (|g| g.input("x", F32, &[2, 3]).slice(1, 2..4), &["2..4", "axis 1", "[2, 3]"]),
        (|g| g.input("x", F32, &[2, 3]).split(-1, 2)[0], &["[2, 3]", "2 equal parts"]),
        (|g| g.input("x", F32, &[2, 3]).concat(&[g.input("y", F32, &[3, 3])], 1), &["[2, 3]", "[3, 3]"]),
        (|g| g.input("x", F32, &[2, 3]).sum(&[2], false), &["axis 2", "2 axes"]),
        (|g| g.input("x", F32, &[2, 0]).max(&[1], false), &["[2, 0]", "no element"]),
        (|g| g.input("x", F32, &[2]).gather(g.input("i", F32, &[1]), 0), &["i32 or i64", "f32"]),
        (|g| g.input("x", F32, &[2]).broadcast_to(&[3]), &["[2]", "[3]"]),
    ];
    for (build, parts) in cases {
        let g = Graph::new();
        let message = refused(&g, build(&g));
        assert!(parts.iter().all(|p| message.contains(p)), "{message}");
    }
}

#[test]
fn strict_types_refuse_what_numpy_promotes() {
    let mixed = |g: &Graph| -> DType {
        let (a, b) = (g.input("a", F32, &[2]), g.input("b", I32, &[2]));
        let result = a * b / 2.0 + b.exp();
        g.finish("main", &[("result", result)]).map(|f| f.results()[0].1.dtype).unwrap_or(F32)
    };
    assert_eq!(mixed(&Graph::with_promotion(Promotion::NumPy)), F64);
    let g = Graph::new();
    let message = refused(&g, g.input("a", F32, &[2]) * g.input("b", I32, &[2]));
    assert!(message.contains("f32 and i32 differ"), "{message}");
    let message = refused(&g, g.input("i", I32, &[2]) + 0.5);
    assert!(message.contains("0.5 is not a number of type i32"), "{message}");
    let message = refused(&g, g.input("j", I32, &[2]).exp());
    assert!(message.contains("takes floats, not i32"), "{message}");
    // Python's numbers are weak: they change no float's type.
    assert_eq!((g.input("h", F16, &[2]) * 0.1 + 1.0).dtype(), F16);
}

/// The reference multiplies by `np.sqrt(2 / np.pi)`, which is an `np.float64`: NumPy computes the rest of its GELU in f64.
#[test]
fn gelu_of_the_reference_promotes_to_f64() {
    let gelu = |g: &Graph| {
        let h = g.input("h", F32, &[4, 8]);
        let root = g.scalar(F64, (2.0 / std::f64::consts::PI).sqrt());
        let result = 0.5 * h * (1.0 + (root * (h + 0.044715 * h.powi(3))).tanh());
        g.finish("main", &[("result", result)])
    };
    let function = gelu(&Graph::with_promotion(Promotion::NumPy)).unwrap();
    assert_eq!(function.results()[0].1.dtype, F64);
    let text = mlir_opt(&module(&[function]), &["--linalg-fuse-elementwise-ops"]);
    assert_eq!(text.matches("linalg.generic").count(), 1, "{text}");
    // The cube is taken in f32, and tanh in f64.
    assert!(text.contains("arith.extf") && text.contains("math.tanh") && text.contains(": f64"), "{text}");
    let message = gelu(&Graph::new()).unwrap_err().to_string();
    assert!(message.contains("f64 and f32 differ"), "{message}");
}

#[test]
fn every_operation_verifies_for_every_type_it_takes() {
    for dtype in [F16, BF16, F32, F64, I32, I64] {
        let g = Graph::new();
        let (x, y) = (g.input("x", dtype, &[2, 1, 3]), g.input("y", dtype, &[4, 3]));
        let mut all = vec![x + y, x - 1.0, 2.0 * y, -x, x.abs(), x.pow(y), x.maximum(y), x.minimum(0.0), 1.0 - y];
        all.extend([x.sum(&[0, -1], true) + y, x.max(&[1], false), x.sum(&[], false)]);
        all.extend([y.matmul(y.transpose(&[])), y.transpose(&[]).matmul(y), y.transpose(&[1, 0]), y.powi(3)]);
        all.extend([y.slice_by(0, 1..4, 2), y.index(0, 3), x.index(-1, 0), y.concat(&[y, y], -1)]);
        all.extend([y.causal_mask(0.0), g.iota(dtype, &[2, 3], 1), y.broadcast_to(&[2, 4, 3])]);
        all.extend([x.less(y), x.equals(y), x.at_least(1.0)]);
        all.extend([(x.less(y) & !x.greater(2.0) | y.differs(x)).select(x, 0.0), x.reshape(&[3, 2, 1])]);
        let ids = g.input_in_range("ids", if dtype.size() == 8 { I64 } else { I32 }, &[5], 0..4);
        all.extend([y.gather(ids, 0), y.gather(ids, -1)]);
        if dtype.is_float() {
            all.extend([x.exp(), x.log(), x.sqrt(), x.tanh(), x.erf(), x.sin(), x.cos(), x / y, 1.0 / y]);
            all.extend([x.mean(&[-1], true), x.softmax(-1), x.minimum(f64::INFINITY), x + 1e-5, x * 1e20]);
        }
        for to in [I1, F16, BF16, F32, F64, I32, I64] {
            all.extend([x.cast(to), x.greater(y).cast(to)]);
        }
        let named: Vec<(&str, Value)> = all.iter().map(|v| ("r", *v)).collect();
        let text = mlir_opt(&module(&[g.finish("main", &named).unwrap()]), &[]);
        // No product or map copies its operand.
        assert!(!text.contains("linalg.transpose") && !text.contains("linalg.broadcast"), "{text}");
    }
}

#[test]
fn products_of_all_ranks_stay_named() {
    for (a, b, name, shape) in [
        (&[3][..], &[3][..], "linalg.dot", &[][..]),
        (&[3], &[3, 4], "linalg.vecmat", &[4]),
        (&[2, 3], &[3], "linalg.matvec", &[2]),
        (&[2, 3], &[3, 4], "linalg.matmul", &[2, 4]),
        (&[5, 2, 3], &[3, 4], "linalg.matmul", &[5, 2, 4]),
        (&[5, 2, 3], &[3], "linalg.matvec", &[5, 2]),
        (&[3], &[5, 3, 4], "linalg.batch_matmul", &[5, 4]),
        (&[2, 3], &[5, 3, 4], "linalg.batch_matmul", &[5, 2, 4]),
        (&[5, 1, 2, 3], &[6, 3, 4], "linalg.batch_matmul", &[5, 6, 2, 4]),
        (&[0, 3], &[3, 4], "linalg.matmul", &[0, 4]),
    ] {
        let g = Graph::new();
        let product = g.input("a", F32, a).matmul(g.input("b", F32, b));
        assert_eq!(product.shape(), shape);
        assert!(emitted(&g, product).contains(name));
    }
}

#[test]
fn transposed_operands_are_read_in_place() {
    let g = Graph::new();
    let (q, k) = (g.input("q", F32, &[2, 3, 5, 4]), g.input("k", F32, &[2, 3, 5, 4]));
    let text = emitted(&g, q.matmul(k.transpose(&[0, 1, 3, 2])));
    assert!(text.contains("linalg.batch_matmul indexing_maps") && !text.contains("linalg.generic"), "{text}");
    let (m, v) = (g.input("m", F32, &[4, 5]), g.input("v", F32, &[4]));
    let text = emitted(&g, m.transpose(&[]).matmul(v));
    assert!(text.contains("linalg.vecmat") && !text.contains("linalg.generic"), "{text}");
}

#[test]
fn a_kept_axis_does_not_stop_fusion() {
    let g = Graph::new();
    let x = g.input("x", F32, &[4, 8]);
    let centred = x - x.mean(&[-1], true);
    let y = centred / (centred.powi(2).mean(&[-1], true) + 1e-5).sqrt();
    let text = mlir_opt(&module(&[g.finish("main", &[("y", y)]).unwrap()]), &["--linalg-fuse-elementwise-ops"]);
    // Sum, centring, sum of squares, quotient.
    assert_eq!(text.matches("linalg.generic").count(), 4, "{text}");
    assert!(!text.contains("expand_shape") && !text.contains("collapse_shape"), "{text}");
}

#[test]
fn arguments_carry_names_and_ranges_and_captured_ones_trail() {
    let g = Graph::new();
    let table = g.capture("wte.weight", Tensor::from_slice(&[3, 2], &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]));
    let ids = g.input_in_range("ids", I32, &[4], 0..3);
    let function = g.finish("main", &[("rows", table.gather(ids, 0))]).unwrap();
    let names: Vec<&str> = function.arguments().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["ids", "wte.weight"]);
    assert_eq!(function.captured()[0].1.shape(), [3, 2]);
    let text = mlir_opt(&module(&[function]), &[]);
    assert!(text.contains(r#"tensor<4xi32> {tinymlir.name = "ids", tinymlir.range = [0, 3]}"#), "{text}");
    assert!(text.contains(r#"-> (tensor<4x2xf32> {tinymlir.name = "rows"})"#), "{text}");
    assert!(text.contains("an index of 'ids' lies outside axis 0 of 'wte.weight', of size 3"), "{text}");
    let message = refused(&g, g.input("ids", F32, &[1]));
    assert!(message.contains("an argument 'ids' already"), "{message}");
}
