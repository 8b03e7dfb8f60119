//! Arrays as NumPy 2.4 prints them: `str(array)` with the default print options.
//!
//! Eight digits after the point at most, columns aligned, lines of 75 characters, and of arrays with more than 1000
//! elements the first and last three along each axis.

use super::float::{Columns, Float, floats};
use crate::{DType, Tensor};

const LINE_WIDTH: usize = 75;
const EDGE: usize = 3;
const THRESHOLD: usize = 1000;

/// What Python's `str` gives for the array, or for the scalar when its rank is 0.
pub fn numpy(tensor: &Tensor) -> String {
    if tensor.shape().is_empty() {
        return scalar(tensor);
    }
    if tensor.is_empty() {
        return "[]".into();
    }
    let summarize = tensor.len() > THRESHOLD;
    let shown = shown(tensor.shape(), summarize);
    let words = words(tensor, &shown);
    let mut next = words.into_iter();
    let strings = |axis: usize| tensor.shape()[axis];
    layout(tensor.shape().len(), 0, " ", LINE_WIDTH, &strings, summarize, &mut next)
}

/// The places of the elements that appear, in row-major order.
fn shown(shape: &[usize], summarize: bool) -> Vec<usize> {
    shape.iter().fold(vec![0], |places, size| {
        let indices: Vec<usize> = match summarize && *size > 2 * EDGE {
            true => (0..EDGE).chain(size - EDGE..*size).collect(),
            false => (0..*size).collect(),
        };
        places.iter().flat_map(|p| indices.iter().map(move |i| p * size + i)).collect()
    })
}

/// Brackets, separators and line breaks around the words of the elements from `axis` on.
fn layout(
    rank: usize,
    axis: usize,
    indent: &str,
    width: usize,
    size: &dyn Fn(usize) -> usize,
    summarize: bool,
    words: &mut impl Iterator<Item = String>,
) -> String {
    if axis == rank {
        return words.next().unwrap_or_default();
    }
    let next_indent = format!("{indent} ");
    let length = size(axis);
    let summary = summarize && length > 2 * EDGE;
    let count = if summary { 2 * EDGE } else { length };
    let mut text = String::new();
    if axis + 1 == rank {
        let width = width - 1; // the closing bracket
        let mut line = indent.to_owned();
        let mut extend = |line: &mut String, word: &str| {
            if line.chars().count() + word.chars().count() > width && line.len() > indent.len() {
                text.push_str(line.trim_end());
                text.push('\n');
                *line = indent.to_owned();
            }
            line.push_str(word);
        };
        for i in 0..count {
            if summary && i == EDGE {
                extend(&mut line, "...");
                line.push(' ');
            }
            let word = words.next().unwrap_or_default();
            extend(&mut line, &word);
            if i + 1 < count {
                line.push(' ');
            }
        }
        text.push_str(&line);
    } else {
        let separator = "\n".repeat(rank - axis - 1);
        for i in 0..count {
            if summary && i == EDGE {
                text.push_str(&format!("{indent}...{separator}"));
            }
            text.push_str(indent);
            text.push_str(&layout(rank, axis + 1, &next_indent, width - 1, size, summarize, words));
            if i + 1 < count {
                text.push_str(&separator);
            }
        }
    }
    format!("[{}]", &text[indent.len()..])
}

/// The formatted elements at `places`, all of one width where NumPy aligns them.
fn words(tensor: &Tensor, places: &[usize]) -> Vec<String> {
    match tensor.dtype() {
        DType::I1 => {
            places.iter().map(|p| if tensor.bytes()[*p] != 0 { " True" } else { "False" }.to_owned()).collect()
        }
        DType::C64 | DType::C128 => {
            let parts = floats(tensor);
            let part = |offset: usize| -> Vec<Float> { places.iter().map(|p| parts[2 * p + offset]).collect() };
            let real = Columns::of(&part(0), false);
            let imaginary = Columns::of(&part(1), true);
            (part(0).into_iter().zip(part(1)))
                .map(|(re, im)| {
                    let im = imaginary.word(im);
                    let digits = im.trim_end().len();
                    format!("{}{}j{}", real.word(re), &im[..digits], &im[digits..])
                })
                .collect()
        }
        dtype if dtype.is_float() => {
            let all = floats(tensor);
            let values: Vec<Float> = places.iter().map(|p| all[*p]).collect();
            let columns = Columns::of(&values, false);
            values.into_iter().map(|v| columns.word(v)).collect()
        }
        _ => {
            let texts: Vec<String> = places.iter().map(|p| integer(tensor, *p)).collect();
            let width = texts.iter().map(String::len).max().unwrap_or(0);
            texts.into_iter().map(|t| format!("{t:>width$}")).collect()
        }
    }
}

fn scalar(tensor: &Tensor) -> String {
    match tensor.dtype() {
        DType::I1 => if tensor.bytes()[0] != 0 { "True" } else { "False" }.into(),
        DType::C64 | DType::C128 => {
            let parts = floats(tensor);
            let (re, im) = (parts[0], parts[1]);
            let part = |v: Float| {
                let text = v.scalar();
                text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
            };
            if re.value == 0.0 && re.value.is_sign_positive() {
                format!("{}j", part(im))
            } else {
                let sign = if im.value.is_sign_negative() && !im.value.is_nan() { "" } else { "+" };
                format!("({}{sign}{}j)", part(re), part(im))
            }
        }
        dtype if dtype.is_float() => floats(tensor)[0].scalar(),
        _ => integer(tensor, 0),
    }
}

fn integer(tensor: &Tensor, place: usize) -> String {
    let bytes = &tensor.bytes()[place * tensor.dtype().size()..];
    macro_rules! show {
        ($($dtype:ident = $rust:ty),*) => {
            match tensor.dtype() {
                $(DType::$dtype => <$rust>::from_ne_bytes(bytes.as_chunks().0[0]).to_string(),)*
                _ => ((bytes[0] as i8) << 4 >> 4).to_string(), // i4
            }
        };
    }
    show!(I8 = i8, U8 = u8, I16 = i16, U16 = u16, I32 = i32, U32 = u32, I64 = i64, Index = i64, U64 = u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: crate::Element>(shape: &[usize], data: &[T]) -> String {
        numpy(&Tensor::from_slice(shape, data))
    }

    // What NumPy 2.4.6 printed for the same arrays.
    #[test]
    fn floats_are_numpys() {
        assert_eq!(of(&[3], &[1f32, 2.5, -3.0]), "[ 1.   2.5 -3. ]");
        assert_eq!(of(&[2], &[0.1f32, 1.0 / 3.0]), "[0.1        0.33333334]");
        assert_eq!(of(&[2], &[1.0 / 3.0, 1f64]), "[0.33333333 1.        ]");
        assert_eq!(of(&[2], &[1e-5f64, 1.0]), "[1.e-05 1.e+00]");
        assert_eq!(of(&[2], &[1e100f64, 1.5]), "[1.0e+100 1.5e+000]");
        assert_eq!(of(&[3], &[0.3886119f32, 5.6365943e-6, 6.971318]), "[3.8861191e-01 5.6365943e-06 6.9713178e+00]");
        assert_eq!(of(&[4], &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0]), "[ nan  inf -inf  -0.]");
        assert_eq!(of(&[2], &[half::f16::from_f32(0.1), half::f16::from_f32(2.0)]), "[0.1 2. ]");
        assert_eq!(of(&[2], &[half::f16::from_f32(1e4), half::f16::from_f32(3e4)]), "[1.e+04 3.e+04]");
    }

    #[test]
    fn scalars_are_numpys() {
        for (value, text) in
            [(1.0, "1.0"), (-0.0, "-0.0"), (1.0 / 3.0, "0.33333334"), (1e-5, "1e-05"), (1.5e20, "1.5e+20")]
        {
            assert_eq!(of(&[], &[value as f32]), text);
        }
        assert_eq!(of(&[], &[1e15f64]), "1000000000000000.0");
        assert_eq!(of(&[], &[u64::MAX]), "18446744073709551615");
        assert_eq!(numpy(&Tensor::from_bytes(DType::I1, &[], &[1]).unwrap()), "True");
        assert_eq!(numpy(&Tensor::from_bytes(DType::I4, &[2], &[8, 7]).unwrap()), "[-8  7]");
    }

    #[test]
    fn complex_numbers_are_numpys() {
        let complex = |shape: &[usize], parts: &[f64]| {
            let bytes: Vec<u8> = parts.iter().flat_map(|p| p.to_ne_bytes()).collect();
            numpy(&Tensor::from_bytes(DType::C128, shape, &bytes).unwrap())
        };
        assert_eq!(complex(&[2], &[1.0, 2.5, -3.0, -0.25]), "[ 1.+2.5j  -3.-0.25j]");
        assert_eq!(complex(&[], &[1.0, 2.0]), "(1+2j)");
        assert_eq!(complex(&[], &[0.0, -1.5]), "-1.5j");
    }

    #[test]
    fn layout_is_numpys() {
        let iota: Vec<i32> = (0..1200).collect();
        assert_eq!(of(&[2, 3], &iota[..6]), "[[0 1 2]\n [3 4 5]]");
        assert_eq!(of(&[2, 1, 2], &iota[..4]), "[[[0 1]]\n\n [[2 3]]]");
        assert_eq!(of(&[0, 3], &iota[..0]), "[]");
        assert_eq!(of(&[1200], &iota), "[   0    1    2 ... 1197 1198 1199]");
        let summary = "[[   0    1    2 ...   27   28   29]\n [  30   31   32 ...   57   58   59]\n [  60   61   62 ...   87   88   89]\n ...\n \
                       [1110 1111 1112 ... 1137 1138 1139]\n [1140 1141 1142 ... 1167 1168 1169]\n [1170 1171 1172 ... 1197 1198 1199]]";
        assert_eq!(of(&[40, 30], &iota), summary);
        let wrapped = "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]";
        assert_eq!(of(&[30], &iota[..30]), wrapped);
        assert_eq!(numpy(&Tensor::from_bytes(DType::I1, &[2], &[1, 0]).unwrap()), "[ True False]");
    }
}
