//! What serves where no BLAS library can be loaded: gemm from the `matrixmultiply` crate, which
//! picks its kernel by what the processor has, and plain loops for gemv and dot.

use std::ops::{Add, Mul};

use super::{Kernels, NO_TRANSPOSE};

/// The arithmetic the loops need.
pub(super) trait Real: Copy + PartialEq + Add<Output = Self> + Mul<Output = Self> + 'static {
    const ZERO: Self;
    const ONE: Self;

    /// C = alpha A B + beta C for any strides; A is `m` by `k`. Pairs are row and column strides.
    ///
    /// # Safety
    /// The matrices are valid for their sizes and strides.
    #[allow(clippy::too_many_arguments)]
    unsafe fn multiply(
        size: (usize, usize, usize),
        alpha: Self,
        a: (*const Self, isize, isize),
        b: (*const Self, isize, isize),
        beta: Self,
        c: (*mut Self, isize, isize),
    );
}

macro_rules! real {
    ($type:ty, $gemm:path) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            unsafe fn multiply(
                (m, n, k): (usize, usize, usize),
                alpha: Self,
                a: (*const Self, isize, isize),
                b: (*const Self, isize, isize),
                beta: Self,
                c: (*mut Self, isize, isize),
            ) {
                // SAFETY: as the caller vouches.
                unsafe { $gemm(m, k, n, alpha, a.0, a.1, a.2, b.0, b.1, b.2, beta, c.0, c.1, c.2) }
            }
        }
    };
}
real!(f32, matrixmultiply::sgemm);
real!(f64, matrixmultiply::dgemm);

/// The built-in functions of one precision.
pub(super) fn kernels<T: Real>() -> Kernels<T> {
    Kernels { gemm: gemm::<T>, gemv: gemv::<T>, dot: dot::<T>, one_thread: true }
}

/// Strides of a stored matrix as its use sees them.
fn strides(transpose: i32, ld: i32) -> (isize, isize) {
    if transpose == NO_TRANSPOSE { (ld as isize, 1) } else { (1, ld as isize) }
}

unsafe extern "C" fn gemm<T: Real>(
    _row_major: i32,
    transpose_a: i32,
    transpose_b: i32,
    m: i32,
    n: i32,
    k: i32,
    alpha: T,
    a: *const T,
    lda: i32,
    b: *const T,
    ldb: i32,
    beta: T,
    c: *mut T,
    ldc: i32,
) {
    let (a_row, a_col) = strides(transpose_a, lda);
    let (b_row, b_col) = strides(transpose_b, ldb);
    let size = (m as usize, n as usize, k as usize);
    // SAFETY: the front end passes valid matrices of positive sizes.
    unsafe { T::multiply(size, alpha, (a, a_row, a_col), (b, b_row, b_col), beta, (c, ldc as isize, 1)) }
}

/// Where element 0 of a BLAS vector lies: at its far end when the increment is negative.
fn origin(len: i32, inc: i32) -> isize {
    if inc < 0 { (1 - len as isize) * inc as isize } else { 0 }
}

unsafe extern "C" fn gemv<T: Real>(
    _row_major: i32,
    transpose: i32,
    rows: i32,
    cols: i32,
    alpha: T,
    a: *const T,
    lda: i32,
    x: *const T,
    incx: i32,
    beta: T,
    y: *mut T,
    incy: i32,
) {
    let plain = transpose == NO_TRANSPOSE;
    let (inputs, outputs) = if plain { (cols, rows) } else { (rows, cols) };
    // SAFETY: the front end passes a valid matrix and valid vectors of positive sizes.
    unsafe {
        let (x, y) = (x.offset(origin(inputs, incx)), y.offset(origin(outputs, incy)));
        super::scale(y, outputs, incy as isize, beta);
        for row in 0..rows as isize {
            let line = a.offset(row * lda as isize);
            if plain {
                let sum = dot_from(cols, line, 1, x, incx as isize);
                let out = y.offset(row * incy as isize);
                *out = *out + alpha * sum;
            } else {
                let factor = alpha * *x.offset(row * incx as isize);
                for col in 0..cols as isize {
                    let out = y.offset(col * incy as isize);
                    *out = *out + factor * *line.offset(col);
                }
            }
        }
    }
}

unsafe extern "C" fn dot<T: Real>(n: i32, x: *const T, incx: i32, y: *const T, incy: i32) -> T {
    // SAFETY: the front end passes valid vectors of a positive size.
    unsafe {
        let (x, y) = (x.offset(origin(n, incx)), y.offset(origin(n, incy)));
        dot_from(n, x, incx as isize, y, incy as isize)
    }
}

/// The inner product from element 0 on, in eight partial sums so that it vectorises.
///
/// # Safety
/// `n` elements lie at the given steps from both pointers.
unsafe fn dot_from<T: Real>(n: i32, x: *const T, x_step: isize, y: *const T, y_step: isize) -> T {
    const LANES: usize = 8;
    let mut sums = [T::ZERO; LANES];
    // SAFETY: `i` stays below `n`.
    let product = |i: usize| unsafe { *x.offset(i as isize * x_step) * *y.offset(i as isize * y_step) };
    let n = n as usize;
    let whole = n / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = *sum + product(start + lane);
        }
    }
    for i in whole..n {
        sums[i - whole] = sums[i - whole] + product(i);
    }
    sums.into_iter().fold(T::ZERO, T::add)
}
