//! What `vector.print` lowers to, and the `printMemref*` functions of LLVM's runner utilities.

use std::ffi::{CStr, c_char, c_void};

use half::{bf16, f16};

use super::format::{Element, show_float};
use super::output::write;
use crate::memref::{UnrankedMemRef, View};
use crate::{Symbol, symbol_table};

/// Prints a signed integer.
#[unsafe(no_mangle)]
pub extern "C" fn printI64(value: i64) {
    write(value.to_string().as_bytes());
}

/// Prints an unsigned integer or an index.
#[unsafe(no_mangle)]
pub extern "C" fn printU64(value: u64) {
    write(value.to_string().as_bytes());
}

/// Prints a double as `%g` does.
#[unsafe(no_mangle)]
pub extern "C" fn printF64(value: f64) {
    let mut text = Vec::new();
    show_float(value, &mut text);
    write(&text);
}

/// Prints a float as `%g` does.
#[unsafe(no_mangle)]
pub extern "C" fn printF32(value: f32) {
    printF64(f64::from(value));
}

/// Prints the half whose bits are `bits`.
#[unsafe(no_mangle)]
pub extern "C" fn printF16(bits: u16) {
    printF64(f64::from(f16::from_bits(bits)));
}

/// Prints the bfloat16 whose bits are `bits`.
#[unsafe(no_mangle)]
pub extern "C" fn printBF16(bits: u16) {
    printF64(f64::from(bf16::from_bits(bits)));
}

/// Prints a NUL-terminated string.
///
/// # Safety
/// `text` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn printString(text: *const c_char) {
    if !text.is_null() {
        // SAFETY: as the caller vouches.
        write(unsafe { CStr::from_ptr(text) }.to_bytes());
    }
}

/// [`printString`] under its older name.
///
/// # Safety
/// As for [`printString`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn printCString(text: *const c_char) {
    // SAFETY: as the caller vouches.
    unsafe { printString(text) }
}

/// Prints `( `.
#[unsafe(no_mangle)]
pub extern "C" fn printOpen() {
    write(b"( ");
}

/// Prints ` )`.
#[unsafe(no_mangle)]
pub extern "C" fn printClose() {
    write(b" )");
}

/// Prints `, `.
#[unsafe(no_mangle)]
pub extern "C" fn printComma() {
    write(b", ");
}

/// Ends a line.
#[unsafe(no_mangle)]
pub extern "C" fn printNewline() {
    write(b"\n");
}

fn show_list(values: &[i64], out: &mut Vec<u8>) {
    let values: Vec<_> = values.iter().map(i64::to_string).collect();
    out.extend_from_slice(values.join(", ").as_bytes());
}

/// Appends address, rank, offset, sizes and strides, as LLVM's `printMemRefMetaData` does.
pub(super) fn show_shape(view: &View, out: &mut Vec<u8>) {
    // C++ puts no prefix before a zero.
    let base = if view.data.is_null() { "0".to_owned() } else { format!("{:p}", view.data) };
    let meta = format!("base@ = {base} rank = {} offset = {} sizes = [", view.rank(), view.offset);
    out.extend_from_slice(meta.as_bytes());
    show_list(view.sizes, out);
    out.extend_from_slice(b"] strides = [");
    show_list(view.strides, out);
    out.extend_from_slice(b"]");
}

/// Appends the elements from dimension `dim` on, `at` elements from the base.
///
/// # Safety
/// The view holds elements of type `T` wherever its sizes and strides reach from `at`.
unsafe fn show_data<T: Element>(view: &View, dim: usize, at: i64, out: &mut Vec<u8>) {
    if dim == view.rank() {
        // SAFETY: as the caller vouches; the element may be unaligned in a packed view.
        unsafe { view.data.cast::<T>().offset(at as isize).read_unaligned() }.show(out);
        return;
    }
    let innermost = dim + 1 == view.rank();
    out.push(b'[');
    for i in 0..view.sizes[dim] {
        if i > 0 {
            out.extend_from_slice(if innermost { b", " } else { b", \n" });
            out.extend(std::iter::repeat_n(b' ', dim + 1));
        }
        // SAFETY: `i` is within this dimension.
        unsafe { show_data::<T>(view, dim + 1, at + i * view.strides[dim], out) };
    }
    out.push(b']');
}

/// Prints `title`, the shape and all elements.
///
/// # Safety
/// The view holds elements of type `T` wherever its sizes and strides reach.
unsafe fn print_memref<T: Element>(title: &str, view: &View) {
    let mut out = Vec::from(title);
    show_shape(view, &mut out);
    out.extend_from_slice(b" data = \n");
    if view.rank() == 0 {
        out.push(b'[');
    }
    // SAFETY: as the caller vouches.
    unsafe { show_data::<T>(view, 0, view.offset, &mut out) };
    if view.rank() == 0 {
        out.push(b']');
    }
    out.push(b'\n');
    write(&out);
}

/// For each element type: `printMemref` and `printMemrefShape`, by pointer (with
/// `llvm.emit_c_interface`) and unpacked into rank and descriptor (without).
macro_rules! unranked_printers {
    ($($type:ty: $by_pointer:ident $unpacked:ident $shape_by_pointer:ident $shape_unpacked:ident;)*) => {
        $(
            #[doc = concat!("Prints an unranked memref of `", stringify!($type), "`.\n\n# Safety\nIt is valid.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $by_pointer(memref: *const UnrankedMemRef) {
                // SAFETY: as the caller vouches.
                unsafe { print_memref::<$type>("Unranked Memref ", &View::unranked(memref)) }
            }

            #[doc = concat!("Prints an unranked memref of `", stringify!($type), "`.\n\n# Safety\nIt is valid.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $unpacked(rank: i64, descriptor: *const c_void) {
                // SAFETY: as the caller vouches.
                unsafe { print_memref::<$type>("Unranked Memref ", &View::ranked(rank, descriptor)) }
            }

            #[doc = "Prints an unranked memref's shape.\n\n# Safety\nIts descriptor is valid."]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $shape_by_pointer(memref: *const UnrankedMemRef) {
                // SAFETY: as the caller vouches.
                print_shape(&unsafe { View::unranked(memref) });
            }

            #[doc = "Prints an unranked memref's shape.\n\n# Safety\nIts descriptor is valid."]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $shape_unpacked(rank: i64, descriptor: *const c_void) {
                // SAFETY: as the caller vouches.
                print_shape(&unsafe { View::ranked(rank, descriptor) });
            }
        )*

        fn unranked_symbols() -> Vec<Symbol> {
            symbol_table![$($by_pointer, $unpacked, $shape_by_pointer, $shape_unpacked),*]
        }
    };
}

fn print_shape(view: &View) {
    let mut out = Vec::from("Unranked Memref ");
    show_shape(view, &mut out);
    out.push(b'\n');
    write(&out);
}

unranked_printers! {
    i8: _mlir_ciface_printMemrefI8 printMemrefI8 _mlir_ciface_printMemrefShapeI8 printMemrefShapeI8;
    i16: _mlir_ciface_printMemrefI16 printMemrefI16 _mlir_ciface_printMemrefShapeI16 printMemrefShapeI16;
    i32: _mlir_ciface_printMemrefI32 printMemrefI32 _mlir_ciface_printMemrefShapeI32 printMemrefShapeI32;
    i64: _mlir_ciface_printMemrefI64 printMemrefI64 _mlir_ciface_printMemrefShapeI64 printMemrefShapeI64;
    u64: _mlir_ciface_printMemrefInd printMemrefInd _mlir_ciface_printMemrefShapeInd printMemrefShapeInd;
    f16: _mlir_ciface_printMemrefF16 printMemrefF16 _mlir_ciface_printMemrefShapeF16 printMemrefShapeF16;
    bf16: _mlir_ciface_printMemrefBF16 printMemrefBF16 _mlir_ciface_printMemrefShapeBF16 printMemrefShapeBF16;
    f32: _mlir_ciface_printMemrefF32 printMemrefF32 _mlir_ciface_printMemrefShapeF32 printMemrefShapeF32;
    f64: _mlir_ciface_printMemrefF64 printMemrefF64 _mlir_ciface_printMemrefShapeF64 printMemrefShapeF64;
    [f32; 2]: _mlir_ciface_printMemrefC32 printMemrefC32 _mlir_ciface_printMemrefShapeC32 printMemrefShapeC32;
    [f64; 2]: _mlir_ciface_printMemrefC64 printMemrefC64 _mlir_ciface_printMemrefShapeC64 printMemrefShapeC64;
}

macro_rules! ranked_printers {
    ($($type:ty, $rank:literal: $name:ident;)*) => {
        $(
            #[doc = concat!("Prints a ranked memref of `", stringify!($type), "`.\n\n# Safety\nIt is valid.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(memref: *const c_void) {
                // SAFETY: as the caller vouches.
                unsafe { print_memref::<$type>("Memref ", &View::ranked($rank, memref)) }
            }
        )*

        fn ranked_symbols() -> Vec<Symbol> {
            symbol_table![$($name),*]
        }
    };
}

ranked_printers! {
    f32, 0: _mlir_ciface_printMemref0dF32;
    f32, 1: _mlir_ciface_printMemref1dF32;
    f32, 2: _mlir_ciface_printMemref2dF32;
    f32, 3: _mlir_ciface_printMemref3dF32;
    f32, 4: _mlir_ciface_printMemref4dF32;
    i8, 1: _mlir_ciface_printMemref1dI8;
    i32, 1: _mlir_ciface_printMemref1dI32;
    i64, 1: _mlir_ciface_printMemref1dI64;
    f64, 1: _mlir_ciface_printMemref1dF64;
    u64, 1: _mlir_ciface_printMemref1dInd;
    [f32; 2], 1: _mlir_ciface_printMemref1dC32;
    [f64; 2], 1: _mlir_ciface_printMemref1dC64;
}

pub(super) fn symbols() -> Vec<Symbol> {
    let mut table = symbol_table![
        printI64,
        printU64,
        printF64,
        printF32,
        printF16,
        printBF16,
        printString,
        printCString,
        printOpen,
        printClose,
        printComma,
        printNewline,
    ];
    table.extend(unranked_symbols());
    table.extend(ranked_symbols());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<T: Element>(data: &[T], offset: i64, sizes: &[i64], strides: &[i64]) -> String {
        let view = View { data: data.as_ptr().cast_mut().cast(), offset, sizes, strides };
        let mut out = Vec::new();
        // SAFETY: the tests keep sizes and strides within the data.
        unsafe { show_data::<T>(&view, 0, offset, &mut out) };
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nested_rows_are_indented_as_upstream_does() {
        assert_eq!(shown(&[1, 2, 3, 4], 0, &[2, 2], &[2, 1]), "[[1,   2], \n [3,   4]]");
        assert_eq!(
            shown(&[1, 2, 3, 4, 5, 6, 7, 8], 0, &[2, 2, 2], &[4, 2, 1]),
            "[[[1,    2], \n  [3,    4]], \n [[5,    6], \n  [7,    8]]]"
        );
    }

    #[test]
    fn offsets_strides_and_empty_dimensions() {
        assert_eq!(shown(&[1.5f32, 0.0, 2.0, 0.0, 3.0], 2, &[2], &[2]), "[2,  3]");
        assert_eq!(shown::<f32>(&[], 0, &[0, 3], &[3, 1]), "[]");
        assert_eq!(shown(&[7u64], 0, &[], &[]), "7");
    }

    #[test]
    fn shapes() {
        let view = View { data: 0x40 as *mut u8, offset: 3, sizes: &[2, 5], strides: &[5, 1] };
        let mut out = Vec::new();
        show_shape(&view, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "base@ = 0x40 rank = 2 offset = 3 sizes = [2, 5] strides = [5, 1]");
    }
}
