//! What emitted functions compute, on the CPU, beside values worked out by hand or by Rust's own arithmetic.

use super::{Graph, Promotion, Value, module};
use crate::{
    DType::*,
    Tensor,
    compile::{Options, compile},
};

/// Each value's elements, computed by one compiled function.
fn run(g: &Graph, values: &[Value]) -> Vec<Vec<f64>> {
    let named: Vec<(&str, Value)> = values.iter().map(|v| ("r", *v)).collect();
    let function = g.finish("main", &named).unwrap();
    let executable = compile(module(std::slice::from_ref(&function)).as_str(), &Options::default()).unwrap();
    let arguments: Vec<_> = function.captured().into_iter().map(|(_, t)| t.into()).collect();
    let results = executable.call("main", &arguments).unwrap();
    for (result, value) in results.iter().zip(values) {
        let result = result.to_tensor().unwrap();
        assert_eq!((result.shape(), result.dtype()), (&value.shape()[..], value.dtype()));
    }
    results.iter().map(|r| r.to_tensor().unwrap().to_f64().unwrap()).collect()
}

/// A function of `x` ([2, 3] of 0, 1, ..., 5), `y` ([3] of 10, 20, 30) and ids ([2, 2] of 2, 0, 1, 1).
type Case<'c> = (for<'g> fn(Value<'g>, Value<'g>, Value<'g>) -> Value<'g>, &'c [f64]);

fn cases(list: &[Case]) {
    let g = Graph::new();
    let x = g.capture("x", Tensor::from_slice(&[2, 3], &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]));
    let y = g.capture("y", Tensor::from_slice(&[3], &[10f32, 20.0, 30.0]));
    let ids = g.capture("ids", Tensor::from_slice(&[2, 2], &[2i32, 0, 1, 1]));
    let values: Vec<Value> = list.iter().map(|(build, _)| build(x, y, ids)).collect();
    for (index, (result, (_, expected))) in run(&g, &values).iter().zip(list).enumerate() {
        assert_eq!(result.len(), expected.len(), "case {index}");
        let close = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * (1.0 + b.abs()) || a == b;
        assert!(result.iter().zip(*expected).all(|(a, b)| close(a, b)), "case {index}: {result:?}, not {expected:?}");
    }
}

#[test]
fn broadcasting_and_arithmetic() {
    cases(&[
        (|x, y, _| x + y, &[10., 21., 32., 13., 24., 35.]),
        (|x, y, _| 1.0 - x / y, &[1., 0.95, 1. - 2. / 30., 0.7, 0.8, 1. - 5. / 30.]),
        (|x, y, _| y - x.sum(&[1], true), &[7., 17., 27., -2., 8., 18.]),
        (|x, _, _| x / x.max(&[0], true), &[0., 0.25, 0.4, 1., 1., 1.]),
        (
            |x, _, _| x.reshape(&[3, 2, 1]) * x.index(0, 1),
            &[0., 0., 0., 3., 4., 5., 6., 8., 10., 9., 12., 15., 12., 16., 20., 15., 20., 25.],
        ),
        (|x, _, _| x.index(1, 1).reshape(&[2, 1]).broadcast_to(&[2, 2]), &[1., 1., 4., 4.]),
        (|x, _, _| -(x - 2.0).abs(), &[-2., -1., 0., -1., -2., -3.]),
        (|x, _, _| x.slice(0, 0..1).powi(3) + x.index(0, 0).pow(2.0), &[0., 2., 12.]),
        (|x, _, _| x.index(0, 0).exp().log() + x.index(0, 0).tanh() * 0.0, &[0., 1., 2.]),
        (|x, _, _| (x.index(0, 0) * 0.5).erf(), &[0., 0.5204998778, 0.8427007929]),
        (
            |x, _, _| x.index(0, 1).sqrt() + x.index(0, 1).sin().powi(2) + x.index(0, 1).cos().powi(2),
            &[1. + 3f64.sqrt(), 3., 1. + 5f64.sqrt()],
        ),
        (|x, y, _| x.maximum(2.0).minimum(y - 16.0), &[-6., 2., 2., -6., 4., 5.]),
        (|x, y, _| (x.less(3.0) & !y.equals(20.0)).select(x, y), &[0., 20., 2., 10., 20., 30.]),
        (|x, _, _| (x.at_most(1.0) | x.greater(4.0)).cast(F32) + x.differs(0.0).cast(F32), &[1., 2., 1., 1., 1., 2.]),
        (
            |x, _, _| x.at_least(5.0).select(x * 0.0 + 1.0, f64::NEG_INFINITY),
            &[f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, 1.],
        ),
    ]);
}

#[test]
fn bits() {
    cases(&[
        (|_, _, ids| ids.xor(3.0).cast(F32), &[1., 3., 2., 2.]),
        (|_, _, ids| ((ids - 3.0).cast(I64).shift_right(ids.cast(I64) + 60.0)).cast(F32), &[3., 15., 7., 7.]),
        (|_, _, ids| (ids - 2.0).shift_right(31.0).cast(F32), &[0., 1., 1., 1.]),
        (|x, _, _| x.index(0, 0).bits().cast(F64).cast(F32), &[0., 1065353216., 1073741824.]),
        (|x, _, _| (-x.index(0, 0).cast(F64)).bits().shift_right(52.0).cast(F32), &[2048., 3071., 3072.]),
    ]);
}

#[test]
fn reductions() {
    cases(&[
        (|x, _, _| x.sum(&[], false), &[15.]),
        (|x, _, _| x.sum(&[0], false), &[3., 5., 7.]),
        (|x, _, _| x.sum(&[-2, -1], true), &[15.]),
        (|x, _, _| x.max(&[1], false), &[2., 5.]),
        (|x, _, _| (0.0 - x).max(&[], true), &[0.]),
        (|x, _, _| x.min(&[1], false), &[0., 3.]),
        (|x, y, _| (y - x).min(&[], false), &[7.]),
        (|x, _, _| x.cast(I64).min(&[0], false).cast(F32), &[0., 1., 2.]),
        (|_, _, ids| ids.min(&[0], true).cast(F32), &[1., 0.]),
        (|x, _, _| x.mean(&[1], true), &[1., 4.]),
        (|x, _, _| x.mean(&[], false), &[2.5]),
        (|x, _, _| (x * 0.0).softmax(-1), &[1. / 3.; 6]),
        (|x, _, _| x.softmax(0), &[0.04742587, 0.04742587, 0.04742587, 0.95257413, 0.95257413, 0.95257413]),
        // The maximum is taken off first: no overflow.
        (|x, _, _| (x * 1000.0).softmax(1), &[0., 0., 1., 0., 0., 1.]),
    ]);
}

#[test]
fn products_and_transposes() {
    cases(&[
        (|x, y, _| x.matmul(y), &[80., 260.]),
        (|x, y, _| y.matmul(x.transpose(&[])), &[80., 260.]),
        (|_, y, _| y.matmul(y), &[1400.]),
        (|x, _, _| x.matmul(x.transpose(&[])), &[5., 14., 14., 50.]),
        (|x, _, _| x.transpose(&[]).matmul(x), &[9., 12., 15., 12., 17., 22., 15., 22., 29.]),
        (|x, _, _| x.transpose(&[1, 0]) + 0.0, &[0., 3., 1., 4., 2., 5.]),
        // Each row as a batch of its own: outer products.
        (
            |x, _, _| x.reshape(&[2, 3, 1]).matmul(x.reshape(&[2, 1, 3])).sum(&[0], false),
            &[9., 12., 15., 12., 17., 22., 15., 22., 29.],
        ),
        (|x, _, _| x.index(0, 0).matmul(x.reshape(&[2, 3, 1])), &[5., 14.]),
        (|x, _, _| x.matmul(x.reshape(&[1, 3, 2])).reshape(&[4]), &[10., 13., 28., 40.]),
        (|x, y, _| x.reshape(&[2, 1, 3]).matmul(y).reshape(&[2]), &[80., 260.]),
        // One transpose that meets every matrix of a batch.
        (|x, _, _| x.transpose(&[]).matmul(x.reshape(&[1, 2, 3])), &[9., 12., 15., 12., 17., 22., 15., 22., 29.]),
        (|x, _, _| x.reshape(&[2, 3, 1]).transpose(&[0, 2, 1]).matmul(x.reshape(&[2, 3, 1])), &[5., 50.]),
    ]);
}

#[test]
fn elements_that_move() {
    cases(&[
        (|x, _, _| x.slice(1, 1..3), &[1., 2., 4., 5.]),
        (|x, _, _| x.slice_by(1, 0..3, 2), &[0., 2., 3., 5.]),
        (|x, _, _| x.split(1, 3)[1], &[1., 4.]),
        (
            |x, y, _| x.concat(&[y.reshape(&[1, 3]), x], 0),
            &[0., 1., 2., 3., 4., 5., 10., 20., 30., 0., 1., 2., 3., 4., 5.],
        ),
        (|x, _, _| x.concat(&[x.slice(1, 0..1)], -1), &[0., 1., 2., 0., 3., 4., 5., 3.]),
        (|_, y, ids| y.gather(ids, 0), &[30., 10., 20., 20.]),
        (|x, _, ids| x.gather(ids, 1), &[2., 0., 1., 1., 5., 3., 4., 4.]),
        (|x, _, ids| x.transpose(&[]).gather(ids.index(0, 0), 0), &[2., 5., 0., 3.]),
        (|x, _, _| x.causal_mask(-1.0), &[0., -1., -1., 3., 4., -1.]),
        (
            |x, _, _| x.graph.iota(F32, &[2, 3], 1) * 10.0 + x.graph.iota(I64, &[2, 1], 0).cast(F32),
            &[0., 10., 20., 1., 11., 21.],
        ),
        (|x, _, _| x.reshape(&[3, 2]), &[0., 1., 2., 3., 4., 5.]),
        // At a position that is known, and at one that is data.
        (|x, y, _| x.update(y.reshape(&[1, 3]), x.graph.scalar(I32, 1.0), 0), &[0., 1., 2., 10., 20., 30.]),
        (|x, y, ids| x.update(y.reshape(&[1, 3]), ids.index(0, 0).slice(0, 1..2), 0), &[10., 20., 30., 3., 4., 5.]),
        (|x, y, ids| x.update(y.reshape(&[1, 3]), ids.index(0, 1).index(0, 0), 0), &[0., 1., 2., 10., 20., 30.]),
        (|x, _, ids| x.update(x.slice(1, 1..3) * 2.0, ids.index(0, 0).index(0, 1), 1), &[2., 4., 2., 8., 10., 5.]),
        // Empty parts, also at the very end.
        (|x, _, _| x.slice(1, 3..3), &[]),
        (|x, _, _| x.slice(1, 1..1).concat(&[x, x.slice(1, 3..3)], 1), &[0., 1., 2., 3., 4., 5.]),
        (|x, _, _| x.slice(0, 0..0).concat(&[x.slice(0, 2..2)], 1).slice(0, 0..0), &[]),
    ]);
}

#[test]
fn writable_arguments_are_updated_in_place() {
    let g = Graph::new();
    let cache = g.input("cache", F32, &[2, 3]).writable();
    let position = g.input_in_range("position", I32, &[1], 0..3).writable();
    let column = g.input("column", F32, &[2, 1]);
    let updated = cache.update(column, position, 1);
    let results =
        [("sum", updated.sum(&[1], false)), ("cache", updated), ("position", (position + 1.0).store(position))];
    let function = g.finish("main", &results).unwrap();
    let executable = compile(module(&[function]).as_str(), &Options::default()).unwrap();
    let mut arguments = [
        Tensor::from_slice(&[2, 3], &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]).into(),
        Tensor::from_slice(&[1], &[1i32]).into(),
        Tensor::from_slice(&[2, 1], &[10f32, 20.0]).into(),
    ];
    for (sums, next) in [([12.0, 28.0], 2.0), ([20.0, 43.0], 3.0)] {
        let results = executable.call_in_place("main", &mut arguments).unwrap();
        let [sum, _, position] = &results[..] else { panic!("{} results", results.len()) };
        assert_eq!(sum.to_tensor().unwrap().to_f64().unwrap(), sums);
        assert_eq!(position.to_tensor().unwrap().to_f64().unwrap(), [next]);
    }
    assert_eq!(arguments[0].to_tensor().unwrap().to_f64().unwrap(), [0., 10., 10., 3., 20., 20.]);
    assert_eq!(arguments[1].to_tensor().unwrap().to_f64().unwrap(), [3.]);
}

#[test]
fn casts_round_and_promotion_keeps_values() {
    let g = Graph::with_promotion(Promotion::NumPy);
    let x = g.capture("x", Tensor::from_slice(&[4], &[-1.75f32, 0.0, 1.0 / 3.0, 70000.0]));
    let n = g.capture("n", Tensor::from_slice(&[4], &[-3i32, 0, 7, 16_777_217]));
    let results = run(
        &g,
        &[
            x.cast(I32),
            x.cast(I1),
            x.slice(0, 0..3).cast(F16).cast(F64),
            x.cast(BF16).cast(F16).cast(F32),
            n.cast(F32),
            n + x.slice(0, 1..2),
            n / 2.0,
            n.cast(I64) * n,
            n.greater(0.0).sum(&[], false) + n.max(&[], false),
            // Added up in f32: 4096 elements of 1 are more than f16 can count by ones.
            g.scalar(F16, 1.0).broadcast_to(&[4096]).sum(&[], false),
            g.scalar(BF16, 3.0).broadcast_to(&[1000]).mean(&[], false),
        ],
    );
    assert_eq!(results[0], [-1.0, 0.0, 0.0, 70000.0]);
    assert_eq!(results[1], [1.0, 0.0, 1.0, 1.0]);
    assert_eq!(results[2], [-1.75, 0.0, half::f16::from_f32(1.0 / 3.0).to_f64()]);
    assert_eq!(results[3][3], f64::INFINITY);
    assert_eq!(results[4][3], 16_777_216.0);
    assert_eq!(results[5], [-3.0, 0.0, 7.0, 16_777_217.0]);
    assert_eq!(results[6], [-1.5, 0.0, 3.5, 8_388_608.5]);
    assert_eq!(results[7], [9.0, 0.0, 49.0, 281_475_010_265_089.0]);
    assert_eq!(results[8], [16_777_219.0]);
    assert_eq!((results[9][0], results[10][0]), (4096.0, 3.0));
}
