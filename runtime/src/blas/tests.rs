//! Every function against naive loops in f64, over the built-in loops and over a library if one is
//! installed: both orders, all transpositions, padded and arbitrary leading dimensions, zero sizes.

use super::*;

/// The implementations to test: the built-in loops, and whatever library this machine has.
fn implementations() -> Vec<Blas> {
    let mut all = vec![Blas::builtin("under test")];
    let found = Blas::choose(None).unwrap();
    if found.why_builtin().is_none() {
        all.push(found);
    }
    all
}

/// Small integers, so that sums are exact in either precision and in any order.
fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7 + seed * 13 + i * i % 5) % 11) as f32 - 5.0).collect()
}

/// Where element (i, j) of op(X) lies in storage.
fn position(order: i32, transpose: i32, ld: i32, i: i32, j: i32) -> usize {
    let (i, j) = if transpose == NO_TRANSPOSE { (i, j) } else { (j, i) };
    (if order == ROW_MAJOR { i * ld + j } else { j * ld + i }) as usize
}

/// The same bits on any number of threads, and right ones: sizes that are no multiple of a part, every transposition.
#[test]
fn threads_change_no_bit() {
    for blas in implementations() {
        for (m, n, k) in [(128, 2304, 64), (37, 1111, 197), (513, 65, 200), (129, 330, 131), (2, 5000, 811)] {
            for (ta, tb) in [(111, 111), (111, 112), (112, 111), (112, 112)] {
                let value = |i: usize| ((i * 2654435761) % 1000) as f32 * 1e-3 - 0.37;
                let a: Vec<f32> = (0..(m * k) as usize).map(value).collect();
                let b: Vec<f32> = (0..(k * n) as usize).map(|i| value(i + 17)).collect();
                let (lda, ldb) = (if ta == 111 { k } else { m }, if tb == 111 { n } else { k });
                let product = |threads: usize| {
                    crate::threads::set_threads(threads);
                    let mut c = vec![1f32; (m * n) as usize];
                    // SAFETY: dense matrices of these sizes.
                    unsafe {
                        let (a, b, c) = ((a.as_ptr(), lda), (b.as_ptr(), ldb), (c.as_mut_ptr(), n));
                        gemm(&blas.single, "gemm", ROW_MAJOR, (ta, tb), (m, n, k), 1.0, a, b, 1.0, c);
                    }
                    c
                };
                let one = product(1);
                for threads in [2, 3, 5] {
                    let several = product(threads);
                    let differ = one.iter().zip(&several).position(|(x, y)| x.to_bits() != y.to_bits());
                    assert_eq!(differ, None, "{blas}: {m} {n} {k}, {ta} {tb}, {threads} threads");
                }
                let (i, j) = (m as usize - 1, n as usize - 1);
                let at = |x: &[f32], t: i32, ld: i32, i: usize, j: usize| {
                    f64::from(x[if t == 111 { i * ld as usize + j } else { j * ld as usize + i }])
                };
                let sum: f64 = (0..k as usize).map(|p| at(&a, ta, lda, i, p) * at(&b, tb, ldb, p, j)).sum();
                assert!(
                    (f64::from(one[i * n as usize + j]) - 1.0 - sum).abs() < 1e-4 * (1.0 + sum.abs()),
                    "{blas} {m} {n} {k}"
                );
            }
        }
    }
}

fn check_gemm(blas: &Blas, order: i32, (ta, tb): (i32, i32), (m, n, k): (i32, i32, i32), beta: f32) {
    let pad = 3;
    let ld = |transpose: i32, rows: i32, cols: i32| {
        let (rows, cols) = if transpose == NO_TRANSPOSE { (rows, cols) } else { (cols, rows) };
        (if order == ROW_MAJOR { cols } else { rows }) + pad
    };
    let (lda, ldb, ldc) = (ld(ta, m, k), ld(tb, k, n), ld(NO_TRANSPOSE, m, n));
    let size = |ld: i32, a: i32, b: i32| (ld * a.max(b).max(1)) as usize;
    let (a, b) = (numbers(size(lda, m, k), 1), numbers(size(ldb, k, n), 2));
    let mut c = numbers(size(ldc, m, n), 3);
    if beta == 0.0 {
        c.fill(f32::NAN);
    }
    let alpha = 2.0;
    let mut expected = c.clone();
    for i in 0..m {
        for j in 0..n {
            let sum: f32 = (0..k).map(|p| a[position(order, ta, lda, i, p)] * b[position(order, tb, ldb, p, j)]).sum();
            let at = position(order, NO_TRANSPOSE, ldc, i, j);
            expected[at] = alpha * sum + if beta == 0.0 { 0.0 } else { beta * c[at] };
        }
    }
    let case = format!("{blas}: order {order} transposes {ta} {tb} sizes {m} {n} {k} beta {beta}");
    let bits = |values: &[f32]| values.iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<_>>();

    let (a64, b64): (Vec<f64>, Vec<f64>) =
        (a.iter().map(|&v| v.into()).collect(), b.iter().map(|&v| v.into()).collect());
    let mut c64: Vec<f64> = c.iter().map(|&v| v.into()).collect();
    // SAFETY: the vectors hold what sizes and leading dimensions reach.
    unsafe {
        gemm(
            &blas.single,
            "gemm",
            order,
            (ta, tb),
            (m, n, k),
            alpha,
            (a.as_ptr(), lda),
            (b.as_ptr(), ldb),
            beta,
            (c.as_mut_ptr(), ldc),
        );
        gemm(
            &blas.double,
            "gemm",
            order,
            (ta, tb),
            (m, n, k),
            alpha.into(),
            (a64.as_ptr(), lda),
            (b64.as_ptr(), ldb),
            beta.into(),
            (c64.as_mut_ptr(), ldc),
        );
    }
    assert_eq!(bits(&c), bits(&expected), "f32 {case}");
    let narrowed: Vec<f32> = c64.iter().map(|&v| v as f32).collect();
    assert_eq!(bits(&narrowed), bits(&expected), "f64 {case}");
}

#[test]
fn gemm_in_both_orders_with_all_transpositions() {
    let sizes =
        [(3, 4, 5), (1, 4, 5), (3, 1, 5), (1, 1, 5), (3, 4, 1), (1, 1, 1), (17, 33, 70), (1, 300, 40), (65, 1, 9)];
    for blas in implementations() {
        for order in [ROW_MAJOR, COLUMN_MAJOR] {
            for ta in [NO_TRANSPOSE, TRANSPOSE] {
                for tb in [NO_TRANSPOSE, TRANSPOSE] {
                    for size in sizes {
                        for beta in [0.0, 1.0, -2.0] {
                            check_gemm(&blas, order, (ta, tb), size, beta);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn gemm_with_zero_sizes_applies_beta_alone() {
    for blas in implementations() {
        for order in [ROW_MAJOR, COLUMN_MAJOR] {
            for size in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 4, 0), (3, 1, 0), (0, 0, 0)] {
                for beta in [0.0, 1.0, 3.0] {
                    check_gemm(&blas, order, (NO_TRANSPOSE, NO_TRANSPOSE), size, beta);
                }
            }
        }
    }
}

#[test]
fn leading_dimensions_of_single_rows_are_ignored() {
    for blas in implementations() {
        let (a, b) = ([1.0f32, 2.0], [3.0f32, 4.0, 5.0, 6.0]);
        let mut c = [0.0f32; 2];
        // SAFETY: 1 by 2 times 2 by 2.
        unsafe {
            gemm(
                &blas.single,
                "gemm",
                ROW_MAJOR,
                (NO_TRANSPOSE, NO_TRANSPOSE),
                (1, 2, 2),
                1.0,
                (a.as_ptr(), 0),
                (b.as_ptr(), 2),
                0.0,
                (c.as_mut_ptr(), 0),
            );
        }
        assert_eq!(c, [13.0, 16.0], "{blas}");
    }
}

#[test]
fn gemv_in_both_orders_with_strides_and_zero_sizes() {
    for blas in implementations() {
        for order in [ROW_MAJOR, COLUMN_MAJOR] {
            for transpose in [NO_TRANSPOSE, TRANSPOSE] {
                for (m, n) in [(3, 4), (1, 9), (9, 1), (40, 33), (0, 4), (4, 0)] {
                    for (incx, incy, beta) in [(1, 1, 1.0), (2, 3, 0.0), (2, 1, -1.0)] {
                        check_gemv(&blas, order, transpose, (m, n), (incx, incy), beta);
                    }
                }
            }
        }
    }
}

fn check_gemv(blas: &Blas, order: i32, transpose: i32, (m, n): (i32, i32), (incx, incy): (i32, i32), beta: f32) {
    let lda = (if order == ROW_MAJOR { n } else { m }) + 2;
    let (inputs, outputs) = if transpose == NO_TRANSPOSE { (n, m) } else { (m, n) };
    let a = numbers((lda * m.max(n).max(1)) as usize, 4);
    let x = numbers((inputs * incx + 1) as usize, 5);
    let mut y = numbers((outputs * incy + 1) as usize, 6);
    let mut expected = y.clone();
    for i in 0..outputs {
        let sum: f32 = (0..inputs).map(|j| a[position(order, transpose, lda, i, j)] * x[(j * incx) as usize]).sum();
        let at = (i * incy) as usize;
        expected[at] = 3.0 * sum + beta * y[at];
    }
    // SAFETY: the vectors hold what sizes and strides reach.
    unsafe {
        gemv(
            &blas.single,
            "gemv",
            order,
            transpose,
            (m, n),
            3.0,
            (a.as_ptr(), lda),
            (x.as_ptr(), incx),
            beta,
            (y.as_mut_ptr(), incy),
        );
    }
    assert_eq!(y, expected, "{blas}: order {order} transpose {transpose} {m} by {n} steps {incx} {incy} beta {beta}");
}

#[test]
fn dot_with_steps() {
    for blas in implementations() {
        let (x, y) = (numbers(100, 7), numbers(100, 8));
        let expected: f32 = (0..33).map(|i| x[i * 3] * y[i * 2]).sum();
        // SAFETY: 33 steps of 3 and of 2 stay below 100.
        assert_eq!(unsafe { (blas.single.dot)(33, x.as_ptr(), 3, y.as_ptr(), 2) }, expected, "{blas}");
    }
    // SAFETY: nothing is read.
    assert_eq!(unsafe { cblas_sdot(0, std::ptr::null(), 1, std::ptr::null(), 1) }, 0.0);
}

#[test]
fn negative_increments_start_at_the_far_end() {
    for blas in implementations() {
        let (a, x) = ([1.0f32, 2.0, 3.0, 4.0], [10.0f32, 1.0]);
        let mut y = [0.0f32; 2];
        // SAFETY: a 2 by 2 matrix and vectors of 2.
        unsafe {
            gemv(
                &blas.single,
                "gemv",
                ROW_MAJOR,
                NO_TRANSPOSE,
                (2, 2),
                1.0,
                (a.as_ptr(), 2),
                (x.as_ptr(), -1),
                0.0,
                (y.as_mut_ptr(), -1),
            );
        }
        assert_eq!(y, [43.0, 21.0], "{blas}");
    }
}

#[test]
fn a_library_that_cannot_be_used_is_named_with_the_reason() {
    let missing = Blas::choose(Some("/nonexistent/libblas.so")).err().unwrap();
    assert!(missing.contains("TINYMLIR_BLAS") && missing.contains("/nonexistent/libblas.so"), "{missing}");
    let no_blas = Blas::choose(Some("libc.so.6")).err().unwrap();
    assert!(no_blas.contains("no cblas_sgemm"), "{no_blas}");
}

#[test]
fn without_a_library_the_loops_serve_and_say_why() {
    let blas = Blas::first_of(&["libtinymlir-no-such-blas.so"]);
    assert!(blas.why_builtin().unwrap().contains("no CBLAS library"));
    assert_eq!(blas.name(), "builtin");
    check_gemm(&blas, ROW_MAJOR, (NO_TRANSPOSE, TRANSPOSE), (5, 6, 7), 1.0);
    assert!(Blas::choose(Some("builtin")).unwrap().why_builtin().is_some());
}
