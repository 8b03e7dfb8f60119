//! Mutations of a module's text. Most keep it valid: the same change everywhere, or one that types allow.

use fastrand::Rng;

const ELEMENTS: [&str; 9] = ["f32", "f64", "f16", "bf16", "i32", "i64", "i1", "i8", "index"];
const NUMBERS: [&str; 12] = ["0", "1", "2", "3", "4", "5", "7", "8", "16", "33", "-1", "1000000"];
/// Names that may stand for one another.
const FAMILIES: [&[&str]; 12] = [
    &["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minnumf"],
    &["arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.maxsi", "arith.divsi", "arith.shli"],
    &["math.exp", "math.log", "math.tanh", "math.absf", "math.sqrt", "math.erf", "arith.negf"],
    &["linalg.matmul", "linalg.batch_matmul", "linalg.matvec", "linalg.vecmat", "linalg.dot", "linalg.add"],
    &["linalg.add", "linalg.sub", "linalg.mul", "linalg.max", "linalg.div"],
    &["\"parallel\"", "\"reduction\""],
    &["d0", "d1", "d2"],
    &["scf.for", "scf.parallel"],
    &["memref.alloc()", "memref.alloca()"],
    &["public", "private"],
    &["tensor<", "memref<"],
    &["%arg0", "%arg1", "%arg2"],
];
/// Vectors are not among them: upstream's parser writes out of bounds for a linalg operation on vectors.
const TYPES: [&str; 5] = ["tensor<", "memref<", "memref<?x", "tensor<?x", "memref<*x"];

/// `text` after one to three mutations.
pub fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut text = text.to_owned();
    for _ in 0..[1, 1, 1, 2, 2, 3][rng.usize(..6)] {
        text = once(&text, rng).unwrap_or(text);
    }
    text
}

fn once(text: &str, rng: &mut Rng) -> Option<String> {
    match rng.usize(..16) {
        0..=2 => resize(text, rng),
        3..=4 => {
            let (from, to) = (element(text, rng)?, ELEMENTS[rng.usize(..ELEMENTS.len())]);
            Some(everywhere(text, from, to))
        }
        5 => {
            let (from, to) = (element(text, rng)?, ELEMENTS[rng.usize(..ELEMENTS.len())]);
            one_of(text, from, to, rng)
        }
        6 => number(text, rng),
        7 => lines(text, rng, |lines, i, _| {
            lines.remove(i);
        }),
        8 => lines(text, rng, |lines, i, _| lines.insert(i, renamed(&lines[i]))),
        9 => lines(text, rng, |lines, i, rng| {
            let j = rng.usize(..lines.len());
            lines.swap(i, j);
        }),
        10..=11 => operand(text, rng),
        12 => {
            let family = FAMILIES[rng.usize(..FAMILIES.len())];
            let present: Vec<&&str> = family.iter().filter(|name| text.contains(**name)).collect();
            let from = present.get(rng.usize(..present.len().max(1)))?;
            let to = family[rng.usize(..family.len())];
            if rng.bool() { Some(everywhere(text, from, to)) } else { one_of(text, from, to, rng) }
        }
        13 => layout(text, rng),
        14 => attribute(text, rng),
        _ => {
            let (from, to) = (TYPES[rng.usize(..2)], TYPES[rng.usize(..TYPES.len())]);
            if rng.bool() { Some(text.replace(from, to)) } else { one_of(text, from, to, rng) }
        }
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'.' || c == b'%' || c == b'@'
}

/// Where `word` stands with no letter or digit around it; a size before an element type ends in `x`.
fn places(text: &str, word: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    text.match_indices(word)
        .map(|(i, _)| i)
        .filter(|&i| {
            let end = i + word.len();
            (i == 0 || !is_word(bytes[i - 1]) || bytes[i - 1] == b'x')
                && (end == bytes.len() || !is_word(bytes[end]) || (word.len() > 2 && bytes[end] == b'x'))
        })
        .collect()
}

fn replaced(text: &str, at: usize, length: usize, by: &str) -> String {
    format!("{}{by}{}", &text[..at], &text[at + length..])
}

fn everywhere(text: &str, from: &str, to: &str) -> String {
    places(text, from).into_iter().rev().fold(text.to_owned(), |text, at| replaced(&text, at, from.len(), to))
}

fn one_of(text: &str, from: &str, to: &str, rng: &mut Rng) -> Option<String> {
    let places: Vec<usize> = text.match_indices(from).map(|(i, _)| i).collect();
    let at = places.get(rng.usize(..places.len().max(1)))?;
    Some(replaced(text, *at, from.len(), to))
}

fn element<'a>(text: &str, rng: &mut Rng) -> Option<&'a str> {
    let present: Vec<&str> = ELEMENTS.into_iter().filter(|e| !places(text, e).is_empty()).collect();
    present.get(rng.usize(..present.len().max(1))).copied()
}

/// Sizes `Nx` and `?x` of shapes: the position of each and its text without the `x`.
fn sizes(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if (bytes[i].is_ascii_digit() || bytes[i] == b'?') && i > 0 && matches!(bytes[i - 1], b'<' | b'x') {
            let length = bytes[i..].iter().take_while(|c| c.is_ascii_digit() || **c == b'?').count();
            if bytes.get(i + length) == Some(&b'x') {
                found.push((i, &text[i..i + length]));
            }
            i += length;
        }
        i += 1;
    }
    found
}

/// Another size, everywhere or once.
fn resize(text: &str, rng: &mut Rng) -> Option<String> {
    let sizes = sizes(text);
    let (at, size) = *sizes.get(rng.usize(..sizes.len().max(1)))?;
    let to = ["0", "1", "2", "3", "4", "5", "8", "17", "32", "?", "?", "1024"][rng.usize(..12)];
    if rng.usize(..4) == 0 {
        return Some(replaced(text, at, size.len(), to));
    }
    let same = sizes.iter().rev().filter(|(_, other)| *other == size);
    Some(same.fold(text.to_owned(), |text, (at, size)| replaced(&text, *at, size.len(), to)))
}

/// Another number that stands alone: in an attribute, a constant, a slice.
fn number(text: &str, rng: &mut Rng) -> Option<String> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut i = 1;
    while i < bytes.len() {
        if bytes[i].is_ascii_digit() && !is_word(bytes[i - 1]) {
            let length = bytes[i..].iter().take_while(|c| c.is_ascii_digit()).count();
            if bytes.get(i + length).is_none_or(|c| !is_word(*c)) {
                found.push((i, length));
            }
            i += length;
        }
        i += 1;
    }
    let (at, length) = *found.get(rng.usize(..found.len().max(1)))?;
    Some(replaced(text, at, length, NUMBERS[rng.usize(..NUMBERS.len())]))
}

fn lines(text: &str, rng: &mut Rng, change: impl FnOnce(&mut Vec<String>, usize, &mut Rng)) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // A line that ends an operation without a region.
    let whole: Vec<usize> =
        (0..lines.len()).filter(|&i| !lines[i].trim_end().ends_with('{') && !lines[i].contains('}')).collect();
    let i = *whole.get(rng.usize(..whole.len().max(1)))?;
    change(&mut lines, i, rng);
    Some(lines.join("\n") + "\n")
}

/// The line with its result under another name.
fn renamed(line: &str) -> String {
    match line.split_once(" = ") {
        Some((name, rest)) if name.trim_start().starts_with('%') => format!("{name}_copy = {rest}"),
        _ => line.to_owned(),
    }
}

/// Another value in place of a use.
fn operand(text: &str, rng: &mut Rng) -> Option<String> {
    let bytes = text.as_bytes();
    let names: Vec<(usize, &str)> = text
        .match_indices('%')
        .map(|(i, _)| {
            let length = bytes[i + 1..].iter().take_while(|c| is_word(**c) && **c != b'%').count() + 1;
            (i, &text[i..i + length])
        })
        .collect();
    let n = rng.usize(..names.len().max(1));
    let (at, name) = *names.get(n)?;
    let (_, other) = names[rng.usize(..=n)];
    Some(replaced(text, at, name.len(), other))
}

/// Another layout or memory space for memrefs of one type.
fn layout(text: &str, rng: &mut Rng) -> Option<String> {
    let starts: Vec<usize> = text.match_indices("memref<").map(|(i, _)| i).collect();
    let start = *starts.get(rng.usize(..starts.len().max(1)))?;
    let end = start + text[start..].find('>')?;
    let ty = &text[start..=end];
    let rank = ty.matches('x').count();
    let strides = vec!["?"; rank].join(", ");
    let plain = ty.split(',').next()?.trim_end_matches('>');
    let to = match rng.usize(..6) {
        0 => format!("{plain}, strided<[{strides}], offset: ?>>"),
        1 => format!("{plain}, strided<[{strides}]>>"),
        2 => format!("{plain}, 1>"),
        3 => format!("{plain}, 3 : i32>"),
        4 => format!("{plain}, #gpu.address_space<workgroup>>"),
        _ => format!("{plain}>"),
    };
    if rng.bool() { Some(text.replace(ty, &to)) } else { Some(replaced(text, start, ty.len(), &to)) }
}

/// Without one attribute dictionary, or with one more attribute on a function.
fn attribute(text: &str, rng: &mut Rng) -> Option<String> {
    if rng.bool() {
        let places: Vec<usize> = text.match_indices(" {").map(|(i, _)| i).collect();
        let start = *places.get(rng.usize(..places.len().max(1)))?;
        let end = start + text[start..].find('}')?;
        let inside = &text[start..=end];
        return (!inside.contains('\n')).then(|| replaced(text, start, inside.len(), ""));
    }
    let attribute = [
        "tinymlir.writable",
        "tinymlir.name = \"x\"",
        "tinymlir.name = 3 : i32",
        "tinymlir.range = [0, 4]",
        "tinymlir.range = [4]",
        "bufferization.writable = true",
    ][rng.usize(..6)];
    let places: Vec<usize> = (text.match_indices("> {tiny").chain(text.match_indices(">, %arg")))
        .chain(text.match_indices(">) "))
        .map(|(i, _)| i + 1)
        .collect();
    let at = *places.get(rng.usize(..places.len().max(1)))?;
    match text[at..].starts_with(" {") {
        true => Some(replaced(text, at, 2, &format!(" {{{attribute}, "))),
        false => Some(replaced(text, at, 0, &format!(" {{{attribute}}}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sizes_are_found_whole() {
        let text = "%f32 = x : tensor<4x?x16xf32>, f32 tensor<f32x> @f32";
        assert_eq!(everywhere(text, "f32", "i8"), "%f32 = x : tensor<4x?x16xi8>, i8 tensor<i8x> @f32");
        assert_eq!(sizes(text).iter().map(|s| s.1).collect::<Vec<_>>(), ["4", "?", "16"]);
    }

    #[test]
    fn a_seed_gives_the_same_mutants() {
        let text = "func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = arith.addf %arg0, %arg1 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
        let all = |seed: u64| (0..50).map(|i| mutate(text, &mut Rng::with_seed(seed + i))).collect::<Vec<_>>();
        assert_eq!(all(1), all(1));
        assert!(all(1).iter().filter(|t| *t != text).count() > 30);
    }
}
