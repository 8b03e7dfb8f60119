//! Matrix instructions of a warp: `ldmatrix` and `mma.sync` with 16 rows and 8 columns, by the fragments that the PTX ISA
//! documents. Products are exact and their sum is rounded once, which is at least as accurate as tensor cores are.

use super::{Thread, Wait, warp::Together};
use crate::{Symbol, symbol_table};
use half::{bf16, f16};

/// What factors are: tf32 (of whose 32 bits the lower 13 are not read), f16, bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Tf32,
    F16,
    Bf16,
}

/// A lane's part in `mma.sync`: its registers of A, of B, and of C, in whose place those of D are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Multiply {
    kind: Kind,
    /// Whether sums are f16, two in a register, instead of f32.
    narrow: bool,
    a: usize,
    b: usize,
    registers: *mut u32,
}

/// A lane's part in `ldmatrix`: where a row of a matrix is, and where its registers are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    transpose: bool,
    count: usize,
    row: *const u8,
    registers: *mut u32,
}

impl Multiply {
    pub(super) fn joins(&self, other: &Multiply) -> bool {
        (self.kind, self.narrow, self.a, self.b) == (other.kind, other.narrow, other.a, other.b)
    }

    /// Element `e` of a register of a factor.
    fn factor(&self, bits: u32, e: usize) -> f64 {
        let half = (bits >> (16 * e)) as u16;
        match self.kind {
            Kind::Tf32 => f32::from_bits(bits & !0x1fff).into(),
            Kind::F16 => f16::from_bits(half).into(),
            Kind::Bf16 => bf16::from_bits(half).into(),
        }
    }
}

impl Load {
    pub(super) fn joins(&self, other: &Load) -> bool {
        (self.transpose, self.count) == (other.transpose, other.count)
    }
}

/// `D = A B + C` of a whole warp.
pub(super) fn multiply(lanes: &[Multiply; 32]) {
    let first = lanes[0];
    let wide = if first.kind == Kind::Tf32 { 1 } else { 2 };
    let depth = 4 * wide * first.b;
    let mut a = vec![0.0; 16 * depth];
    let mut b = vec![0.0; depth * 8];
    for (lane, part) in lanes.iter().enumerate() {
        let (group, place) = (lane / 4, lane % 4);
        for e in 0..wide {
            for r in 0..part.a {
                let (row, k) = (group + 8 * (r & 1), (r >> 1) * 4 * wide + place * wide + e);
                // SAFETY: the lane gave that many registers, and waits.
                a[row * depth + k] = part.factor(unsafe { *part.registers.add(r) }, e);
            }
            for r in 0..part.b {
                let k = r * 4 * wide + place * wide + e;
                // SAFETY: as above.
                b[k * 8 + group] = part.factor(unsafe { *part.registers.add(part.a + r) }, e);
            }
        }
    }
    for (lane, part) in lanes.iter().enumerate() {
        let (group, place) = (lane / 4, lane % 4);
        for i in 0..4 {
            let (row, column) = (group + 8 * (i >> 1), 2 * place + (i & 1));
            let product: f64 = (0..depth).map(|k| a[row * depth + k] * b[k * 8 + column]).sum();
            // SAFETY: behind the factors there are four registers, or two where sums are narrow.
            unsafe {
                let c = part.registers.add(part.a + part.b);
                if part.narrow {
                    let c = c.cast::<u16>().add(i);
                    *c = f16::from_f64(product + f64::from(f16::from_bits(*c))).to_bits();
                } else {
                    let c = c.add(i);
                    *c = ((product + f64::from(f32::from_bits(*c))) as f32).to_bits();
                }
            }
        }
    }
}

/// Matrices of 8 by 8 elements of 16 bits, whose rows are where the lanes say.
pub(super) fn load(lanes: &[Load; 32]) {
    for (lane, part) in lanes.iter().enumerate() {
        let (group, place) = (lane / 4, lane % 4);
        for matrix in 0..part.count {
            let element = |e: usize| {
                let (row, column) = if part.transpose { (2 * place + e, group) } else { (group, 2 * place + e) };
                // SAFETY: compiled code checked that a lane's row is in shared memory.
                u32::from(unsafe { *lanes[8 * matrix + row].row.cast::<u16>().add(column) })
            };
            // SAFETY: the lane gave that many registers, and waits.
            unsafe { *part.registers.add(matrix) = element(0) | element(1) << 16 };
        }
    }
}

/// `mma.sync` of a kind (0 tf32, 1 f16, 2 bf16).
///
/// # Safety
/// The thread is the one that runs; `registers` holds `a`, then `b` registers, then those of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedMultiply(
    thread: *mut Thread,
    kind: u32,
    narrow: bool,
    a: u32,
    b: u32,
    registers: *mut u32,
) {
    let kind = [Kind::Tf32, Kind::F16, Kind::Bf16][kind.min(2) as usize];
    let part = Multiply { kind, narrow, a: a as usize, b: b as usize, registers };
    // SAFETY: as the caller vouches.
    unsafe { (*thread).wait(Wait::Warp { mask: u32::MAX, together: Together::Multiply(part) }) };
}

/// `ldmatrix`, of `count` matrices.
///
/// # Safety
/// The thread is the one that runs; `row` has 16 bytes, aligned, in the lanes that give one; `registers` has room for `count`.
#[unsafe(no_mangle)]
unsafe extern "C" fn tinymlirEmulatedLoadMatrix(
    thread: *mut Thread,
    transpose: bool,
    count: u32,
    row: *const u8,
    registers: *mut u32,
) {
    let part = Load { transpose, count: count as usize, row, registers };
    // SAFETY: as the caller vouches.
    unsafe { (*thread).wait(Wait::Warp { mask: u32::MAX, together: Together::Load(part) }) };
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![tinymlirEmulatedMultiply, tinymlirEmulatedLoadMatrix]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;

    /// A, B and C of small integers, distributed as the ISA's tables say, spelled out element by element.
    #[test]
    fn fragments_are_those_of_the_isa() {
        let a = |row: usize, k: usize| ((row * 7 + k * 3) % 11) as f32 - 5.0;
        let b = |k: usize, column: usize| ((k * 5 + column * 2) % 9) as f32 - 4.0;
        let c = |row: usize, column: usize| (row + 10 * column) as f32;
        let pack = |low: f32, high: f32| {
            u32::from(f16::from_f32(low).to_bits()) | u32::from(f16::from_f32(high).to_bits()) << 16
        };
        let check = |registers: &[[u32; 16]; 32], at: usize, depth: usize| {
            for (lane, registers) in registers.iter().enumerate() {
                let (g, t) = (lane >> 2, lane & 3);
                for (i, (row, column)) in
                    [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)].into_iter().enumerate()
                {
                    let want = c(row, column) + (0..depth).map(|k| a(row, k) * b(k, column)).sum::<f32>();
                    assert_eq!(f32::from_bits(registers[at + i]), want, "lane {lane}, element {i}");
                }
            }
        };
        let sums = |registers: &mut [u32; 16], at: usize, g: usize, t: usize| {
            for (i, (row, column)) in
                [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)].into_iter().enumerate()
            {
                registers[at + i] = c(row, column).to_bits();
            }
        };
        let run = |mut registers: [[u32; 16]; 32], kind: Kind, a: usize, b: usize, depth: usize| {
            let parts = from_fn(|lane| Multiply { kind, narrow: false, a, b, registers: registers[lane].as_mut_ptr() });
            multiply(&parts);
            check(&registers, a + b, depth);
        };
        // m16n8k8 of tf32.
        let registers = from_fn(|lane| {
            let (g, t) = (lane >> 2, lane & 3);
            let mut r = [0; 16];
            let parts = [a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4), b(t, g), b(t + 4, g)];
            // The lower bits are not read.
            r.iter_mut().zip(parts).for_each(|(r, part)| *r = part.to_bits() | 0x1fff);
            sums(&mut r, 6, g, t);
            r
        });
        run(registers, Kind::Tf32, 4, 2, 8);
        // m16n8k16 of f16.
        let registers = from_fn(|lane| {
            let (g, t) = (lane >> 2, lane & 3);
            let mut r = [0; 16];
            let row = |row: usize, k: usize| pack(a(row, k), a(row, k + 1));
            let column = |k: usize| pack(b(k, g), b(k + 1, g));
            let parts = [
                row(g, 2 * t),
                row(g + 8, 2 * t),
                row(g, 2 * t + 8),
                row(g + 8, 2 * t + 8),
                column(2 * t),
                column(2 * t + 8),
            ];
            r[..6].copy_from_slice(&parts);
            sums(&mut r, 6, g, t);
            r
        });
        run(registers, Kind::F16, 4, 2, 16);
    }

    #[test]
    fn matrices_are_loaded_by_rows_and_by_columns() {
        // Element (row, column) of matrix m is 100 m + 10 row + column.
        let memory: Vec<u16> =
            (0..4).flat_map(|m| (0..8).flat_map(move |r| (0..8).map(move |c| 100 * m + 10 * r + c))).collect();
        for transpose in [false, true] {
            let mut registers = [[0u32; 4]; 32];
            let parts = from_fn(|lane| Load {
                transpose,
                count: 4,
                row: memory[8 * lane..].as_ptr().cast(),
                registers: registers[lane].as_mut_ptr(),
            });
            load(&parts);
            for (lane, registers) in registers.iter().enumerate() {
                for (m, register) in registers.iter().enumerate() {
                    let (g, t) = (lane as u32 / 4, lane as u32 % 4);
                    let at =
                        |e: u32| 100 * m as u32 + if transpose { 10 * (2 * t + e) + g } else { 10 * g + 2 * t + e };
                    assert_eq!(*register, at(0) | at(1) << 16);
                }
            }
        }
    }
}
