//! CBLAS for compiled code: `cblas_{s,d}{gemm,gemv,dot}`, with 32-bit integers, always there.
//!
//! The first call finds a library with `dlopen` (see [`Blas`]); where there is none, built-in loops
//! serve after one warning. In front of either stands what callers rely on and libraries differ in:
//!
//! - a product with one row or one column goes to gemv, which is several times faster there;
//! - zero sizes are right, and an empty inner dimension still applies `beta`;
//! - the leading dimension of a matrix of one row may be anything;
//! - a large matrix product is split among the threads of [`crate::threads`], on each of which the library runs one thread, so
//!   that there is one pool;
//! - an impossible argument ends the program with a message instead of a printed note and no result.

mod builtin;
mod library;
#[cfg(test)]
mod tests;

pub use library::{Blas, blas};

use crate::host::fail;
use crate::threads::{parallel_for, threads};
use crate::{Symbol, symbol_table};
use builtin::Real;

const ROW_MAJOR: i32 = 101;
const COLUMN_MAJOR: i32 = 102;
const NO_TRANSPOSE: i32 = 111;
const TRANSPOSE: i32 = 112;
const CONJUGATE_TRANSPOSE: i32 = 113;

type Gemm<T> = unsafe extern "C" fn(i32, i32, i32, i32, i32, i32, T, *const T, i32, *const T, i32, T, *mut T, i32);
type Gemv<T> = unsafe extern "C" fn(i32, i32, i32, i32, T, *const T, i32, *const T, i32, T, *mut T, i32);
type Dot<T> = unsafe extern "C" fn(i32, *const T, i32, *const T, i32) -> T;

/// The functions of one precision, called with row-major matrices and positive sizes alone.
struct Kernels<T> {
    gemm: Gemm<T>,
    gemv: Gemv<T>,
    dot: Dot<T>,
    /// Whether the functions use the thread that calls them and no other.
    one_thread: bool,
}

/// A matrix as stored: row-major, `rows` by `cols`, rows `ld` elements apart.
struct Matrix<T> {
    data: *const T,
    rows: i32,
    cols: i32,
    ld: i32,
    transposed: bool,
}

impl<T> Matrix<T> {
    /// The operand whose use is `rows` by `cols`, after `transpose`.
    fn operand(function: &str, transpose: i32, rows: i32, cols: i32, data: *const T, ld: i32) -> Self {
        let transposed = match transpose {
            NO_TRANSPOSE => false,
            TRANSPOSE | CONJUGATE_TRANSPOSE => true,
            other => fail(&format!("{function}: {other} names no transposition (111, 112 or 113)")),
        };
        let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
        Matrix { data, rows, cols, ld: leading_dimension(function, rows, cols, ld), transposed }
    }

    fn transpose(&self) -> i32 {
        if self.transposed { TRANSPOSE } else { NO_TRANSPOSE }
    }
}

/// `ld` where it matters, and a value that every library accepts where it does not.
fn leading_dimension(function: &str, rows: i32, cols: i32, ld: i32) -> i32 {
    if rows > 1 && ld < cols {
        fail(&format!("{function}: the leading dimension {ld} is less than the {cols} elements of a row"));
    }
    ld.max(cols).max(1)
}

fn column_major(function: &str, order: i32) -> bool {
    match order {
        ROW_MAJOR => false,
        COLUMN_MAJOR => true,
        other => fail(&format!("{function}: {other} names no order (101 or 102)")),
    }
}

/// `c = beta c`, where zero overwrites whatever was there, NaN included.
///
/// # Safety
/// `c` points to `len` elements, `step` apart.
unsafe fn scale<T: Real>(c: *mut T, len: i32, step: isize, beta: T) {
    if beta == T::ONE {
        return;
    }
    for i in 0..len as isize {
        // SAFETY: `i` is within the vector.
        unsafe {
            let element = c.offset(i * step);
            *element = if beta == T::ZERO { T::ZERO } else { *element * beta };
        }
    }
}

/// `C = alpha op(A) op(B) + beta C`.
///
/// # Safety
/// The matrices are valid for their sizes and leading dimensions, and C overlaps neither A nor B.
#[allow(clippy::too_many_arguments)]
unsafe fn gemm<T: Real>(
    kernels: &Kernels<T>,
    function: &str,
    order: i32,
    (transpose_a, transpose_b): (i32, i32),
    (m, n, k): (i32, i32, i32),
    alpha: T,
    (a, lda): (*const T, i32),
    (b, ldb): (*const T, i32),
    beta: T,
    (c, ldc): (*mut T, i32),
) {
    if m < 0 || n < 0 || k < 0 {
        fail(&format!("{function}: negative size ({m} by {n} by {k})"));
    }
    // Column-major C = A B is row-major Cᵀ = Bᵀ Aᵀ, with the same flags.
    let swapped = column_major(function, order);
    let ((transpose_a, m, a, lda), (transpose_b, n, b, ldb)) = if swapped {
        ((transpose_b, n, b, ldb), (transpose_a, m, a, lda))
    } else {
        ((transpose_a, m, a, lda), (transpose_b, n, b, ldb))
    };
    if m == 0 || n == 0 {
        return;
    }
    let ldc = leading_dimension(function, m, n, ldc);
    if k == 0 {
        for row in 0..m as isize {
            // SAFETY: row `row` of C holds `n` elements.
            unsafe { scale(c.offset(row * ldc as isize), n, 1, beta) };
        }
        return;
    }
    let a = Matrix::operand(function, transpose_a, m, k, a, lda);
    let b = Matrix::operand(function, transpose_b, k, n, b, ldb);
    let vector_step = |dense: bool, ld: i32| if dense || k == 1 { 1 } else { ld };
    // SAFETY: the library reads and writes exactly what the caller vouches for.
    unsafe {
        if m == 1 {
            // The row of C is op(B)ᵀ times the row of op(A).
            let flipped = if b.transposed { NO_TRANSPOSE } else { TRANSPOSE };
            let step = vector_step(!a.transposed, a.ld);
            (kernels.gemv)(ROW_MAJOR, flipped, b.rows, b.cols, alpha, b.data, b.ld, a.data, step, beta, c, 1);
        } else if n == 1 {
            let step = vector_step(b.transposed, b.ld);
            (kernels.gemv)(ROW_MAJOR, a.transpose(), a.rows, a.cols, alpha, a.data, a.ld, b.data, step, beta, c, ldc);
        } else {
            split(kernels, (m, n, k), alpha, &a, &b, beta, (c, ldc));
        }
    }
}

/// The least multiplications of a part: about 40 microseconds, and twice what libraries have other kernels for, which round
/// differently: so the number of threads changes no bit.
const LEAST_PART: i64 = 1 << 21;
/// What the rows or columns of a part are a multiple of: at least the width of every library's kernel.
const PART: i64 = 32;

/// The product of matrices that are no vectors, in parts of rows or columns on several threads.
///
/// # Safety
/// As for [`gemm`].
unsafe fn split<T: Real>(
    kernels: &Kernels<T>,
    (m, n, k): (i32, i32, i32),
    alpha: T,
    a: &Matrix<T>,
    b: &Matrix<T>,
    beta: T,
    (c, ldc): (*mut T, i32),
) {
    // SAFETY: rows and columns of a part are within the matrices that the caller vouches for.
    let part = |rows: (i32, i32), columns: (i32, i32)| unsafe {
        let of = |x: &Matrix<T>, begin: i32, rows: bool| {
            x.data.offset(if x.transposed == rows { begin as isize } else { begin as isize * x.ld as isize })
        };
        let c = c.offset(rows.0 as isize * ldc as isize + columns.0 as isize);
        let (a_data, b_data) = (of(a, rows.0, true), of(b, columns.0, false));
        let (m, n) = (rows.1 - rows.0, columns.1 - columns.0);
        let (ta, tb) = (a.transpose(), b.transpose());
        (kernels.gemm)(ROW_MAJOR, ta, tb, m, n, k, alpha, a_data, a.ld, b_data, b.ld, beta, c, ldc);
    };
    let work = i64::from(m) * i64::from(n) * i64::from(k);
    let by_rows = m > n;
    let size = i64::from(m.max(n));
    // One part a thread: a library packs the operand that is not split for each part again.
    let mut parts = (work / LEAST_PART).min(threads() as i64);
    let grain = |parts: i64| ((size - 1) / parts + 1 + PART - 1) / PART * PART;
    // No part, the last one included, is much smaller than the others.
    while parts > 1 && (size - 1) % grain(parts) + 1 < grain(parts) / 2 {
        parts -= 1;
    }
    if !kernels.one_thread || parts < 2 {
        return part((0, m), (0, n));
    }
    let grain = grain(parts);
    let part = Shared(part);
    parallel_for(size, grain, &|begin, end| {
        let range = (begin as i32, end as i32);
        if by_rows { part.get()(range, (0, n)) } else { part.get()((0, m), range) }
    });
}

/// A closure over pointers that several threads may follow, each to elements of its own.
struct Shared<F>(F);

// SAFETY: the parts of a product write disjoint elements, and read what nobody writes.
unsafe impl<F> Sync for Shared<F> {}

impl<F> Shared<F> {
    fn get(&self) -> &F {
        &self.0
    }
}

/// `y = alpha op(A) x + beta y`, A stored `m` by `n`.
///
/// # Safety
/// Matrix and vectors are valid for their sizes and strides, and y overlaps neither A nor x.
#[allow(clippy::too_many_arguments)]
unsafe fn gemv<T: Real>(
    kernels: &Kernels<T>,
    function: &str,
    order: i32,
    transpose: i32,
    (m, n): (i32, i32),
    alpha: T,
    (a, lda): (*const T, i32),
    (x, incx): (*const T, i32),
    beta: T,
    (y, incy): (*mut T, i32),
) {
    if m < 0 || n < 0 {
        fail(&format!("{function}: negative size ({m} by {n})"));
    }
    // A column-major matrix is its transpose in row-major order.
    let swapped = column_major(function, order);
    let (rows, cols) = if swapped { (n, m) } else { (m, n) };
    let transposed = Matrix::operand(function, transpose, 0, 0, a, lda).transposed != swapped;
    let (inputs, outputs) = if transposed { (rows, cols) } else { (cols, rows) };
    if outputs == 0 {
        return;
    }
    let step = |name: &str, len: i32, inc: i32| {
        if inc == 0 && len > 1 {
            fail(&format!("{function}: the increment of {name} is zero"));
        }
        if len == 1 { 1 } else { inc }
    };
    let incy = step("y", outputs, incy);
    // SAFETY: the library reads and writes exactly what the caller vouches for. A vector starts at its
    // lowest address whatever the sign of its increment, so scaling may go upwards.
    unsafe {
        if inputs == 0 {
            scale(y, outputs, incy.unsigned_abs() as isize, beta);
            return;
        }
        let incx = step("x", inputs, incx);
        let lda = leading_dimension(function, rows, cols, lda);
        let flag = if transposed { TRANSPOSE } else { NO_TRANSPOSE };
        (kernels.gemv)(ROW_MAJOR, flag, rows, cols, alpha, a, lda, x, incx, beta, y, incy);
    }
}

macro_rules! cblas {
    ($type:ty, $kernels:ident, $gemm:ident, $gemv:ident, $dot:ident) => {
        /// C = alpha op(A) op(B) + beta C, as CBLAS defines it; op(A) is `m` by `k`.
        ///
        /// # Safety
        /// As CBLAS asks: valid matrices for the sizes and leading dimensions given.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gemm(
            order: i32,
            transpose_a: i32,
            transpose_b: i32,
            m: i32,
            n: i32,
            k: i32,
            alpha: $type,
            a: *const $type,
            lda: i32,
            b: *const $type,
            ldb: i32,
            beta: $type,
            c: *mut $type,
            ldc: i32,
        ) {
            // SAFETY: as the caller vouches.
            unsafe {
                gemm(
                    &blas().$kernels,
                    stringify!($gemm),
                    order,
                    (transpose_a, transpose_b),
                    (m, n, k),
                    alpha,
                    (a, lda),
                    (b, ldb),
                    beta,
                    (c, ldc),
                )
            }
        }

        /// y = alpha op(A) x + beta y, as CBLAS defines it; A is stored `m` by `n`.
        ///
        /// # Safety
        /// As CBLAS asks: a valid matrix and valid vectors for the sizes and strides given.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $gemv(
            order: i32,
            transpose: i32,
            m: i32,
            n: i32,
            alpha: $type,
            a: *const $type,
            lda: i32,
            x: *const $type,
            incx: i32,
            beta: $type,
            y: *mut $type,
            incy: i32,
        ) {
            // SAFETY: as the caller vouches.
            unsafe {
                gemv(
                    &blas().$kernels,
                    stringify!($gemv),
                    order,
                    transpose,
                    (m, n),
                    alpha,
                    (a, lda),
                    (x, incx),
                    beta,
                    (y, incy),
                )
            }
        }

        /// The inner product of two vectors of `n` elements; zero where `n` is not positive.
        ///
        /// # Safety
        /// The vectors are valid for their strides.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dot(n: i32, x: *const $type, incx: i32, y: *const $type, incy: i32) -> $type {
            if n <= 0 {
                return 0.0;
            }
            // SAFETY: as the caller vouches.
            unsafe { (blas().$kernels.dot)(n, x, incx, y, incy) }
        }
    };
}
cblas!(f32, single, cblas_sgemm, cblas_sgemv, cblas_sdot);
cblas!(f64, double, cblas_dgemm, cblas_dgemv, cblas_ddot);

/// The BLAS part of [`crate::symbols`].
pub(crate) fn symbols() -> Vec<Symbol> {
    symbol_table![cblas_sgemm, cblas_dgemm, cblas_sgemv, cblas_dgemv, cblas_sdot, cblas_ddot]
}
