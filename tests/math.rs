//! `cargo test --test math`: operations of math and arith on numbers, by compiled code, against right values.
//!
//! Floats: test/math/reference.json holds correctly rounded values (tools/math-reference made them) at zeros, infinities, NaN,
//! subnormals, extremes and ordinary arguments; each operation must be within its number of units in the last place, with
//! NaN for NaN, and zeros and infinities exact with their signs. Sums, products and comparisons are compared with this
//! program's own, which are IEEE's. Integers: every pair of i8 values, and extremes of the wider types, against i128.

mod tools;

use std::{
    cmp::Ordering::{self, Equal, Greater, Less},
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use half::{bf16, f16};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![];
    for format in FORMATS {
        trials.push(Trial::test(format!("accuracy {}", format.name), move || accuracy(format)));
        trials.push(Trial::test(format!("arithmetic {}", format.name), move || arithmetic(format)));
    }
    for width in [8, 16, 32, 64] {
        trials.push(Trial::test(format!("integers i{width}"), move || integers(width)));
    }
    trials.push(Trial::test("docs/inputs.md", check_page));
    libtest_mimic::run(&arguments, trials).exit();
}

/// docs/inputs.md states the limits.
fn check_page() -> Result<(), Failed> {
    let mut table = String::from("| units in the last place | operations |\n| --- | --- |\n");
    let mut limits: Vec<u64> = LIMITS.iter().map(|(_, limit)| *limit).collect();
    limits.sort_unstable();
    limits.dedup();
    for limit in limits {
        let names: Vec<&str> = LIMITS.iter().filter(|(_, l)| *l == limit).map(|(name, _)| *name).collect();
        writeln!(table, "| {limit} | {} |", names.join(", "))?;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/inputs.md");
    let page = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    if page.contains(&table) { Ok(()) } else { Err(format!("docs/inputs.md lacks this table:\n{table}").into()) }
}

/// Units in the last place that an operation may be off, in f32 and f64; f16 and bf16 are computed in f32 and within 1.
const LIMITS: [(&str, u64); 33] = [
    ("absf", 0),
    ("acos", 1),
    ("acosh", 2),
    ("asin", 1),
    ("asinh", 2),
    ("atan", 1),
    ("atanh", 2),
    ("cbrt", 2),
    ("ceil", 0),
    ("cos", 4),
    ("cosh", 2),
    ("erf", 1),
    ("erfc", 4),
    ("exp", 4),
    ("exp2", 1),
    ("expm1", 1),
    ("floor", 0),
    ("log", 4),
    ("log10", 2),
    ("log1p", 1),
    ("log2", 1),
    ("round", 0),
    ("roundeven", 0),
    ("rsqrt", 2),
    ("sin", 4),
    ("sinh", 2),
    ("sqrt", 0),
    ("tan", 1),
    ("tanh", 4),
    ("trunc", 0),
    ("atan2", 1),
    ("copysign", 0),
    ("powf", 4),
];

/// A floating-point format: how wide it is, how many bits of it are the fraction, and how arrays name it.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    width: u32,
    fraction: u32,
    numpy: &'static str,
}

const FORMATS: [Format; 4] = [
    Format { name: "f16", width: 16, fraction: 10, numpy: "<f2" },
    Format { name: "bf16", width: 16, fraction: 7, numpy: "<u2" },
    Format { name: "f32", width: 32, fraction: 23, numpy: "<f4" },
    Format { name: "f64", width: 64, fraction: 52, numpy: "<f8" },
];

impl Format {
    fn magnitude(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (65 - self.width))
    }
    fn infinity(self) -> u64 {
        (1 << (self.width - 1)) - (1 << self.fraction)
    }
    fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }
    /// How many numbers of the format apart two are; `None` where one is NaN, or a zero has another sign.
    fn distance(self, a: u64, b: u64) -> Option<u64> {
        if self.is_nan(a) || self.is_nan(b) {
            return (self.is_nan(a) && self.is_nan(b)).then_some(0);
        }
        let place = |bits: u64| {
            let m = i128::from(self.magnitude(bits));
            if m == i128::from(bits) { m } else { -m }
        };
        (self.magnitude(a) != 0 || self.magnitude(b) != 0 || a == b)
            .then(|| (place(a) - place(b)).unsigned_abs() as u64)
    }
    fn value(self, bits: u64) -> f64 {
        match self.name {
            "f16" => f16::from_bits(bits as u16).to_f64(),
            "bf16" => bf16::from_bits(bits as u16).to_f64(),
            "f32" => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }
    /// The bits of a double rounded to the format. What is exact in a double rounds once.
    fn round(self, value: f64) -> u64 {
        match self.name {
            "f16" => f16::from_f32(to_odd(value)).to_bits().into(),
            "bf16" => bf16::from_f32(to_odd(value)).to_bits().into(),
            "f32" => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }
}

/// The f32 next to a value on the side of zero, its last bit set unless it is the value; rounding that rounds once.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near) == value {
        return near;
    }
    let past = f64::from(near.abs()) > value.abs();
    f32::from_bits((near.to_bits() - u32::from(past)) | 1)
}

/// The reference of a format: x, y and the values of each operation.
fn reference(format: Format) -> (Vec<u64>, Vec<u64>, BTreeMap<String, Vec<u64>>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/math/reference.json");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let table: serde_json::Value = serde_json::from_str(&text).expect("a reference in JSON");
    let numbers = |value: &serde_json::Value| -> Vec<u64> {
        value.as_array().expect("an array").iter().map(|v| v.as_u64().expect("bits")).collect()
    };
    let table = &table[format.name];
    let operations = table["operations"].as_object().expect("operations");
    let operations = operations.iter().map(|(name, bits)| (name.clone(), numbers(bits))).collect();
    (numbers(&table["x"]), numbers(&table["y"]), operations)
}

fn accuracy(format: Format) -> Result<(), Failed> {
    let (x, y, operations) = reference(format);
    let ty = format.name;
    let bodies: Vec<(String, String)> = operations
        .keys()
        .map(|name| {
            let binary = ["atan2", "copysign", "powf"].contains(&name.as_str());
            let operands = if binary { "%a, %b" } else { "%a" };
            (format!("%r = math.{name} {operands} : {ty}"), ty.to_owned())
        })
        .collect();
    let got = run(&format!("accuracy-{ty}"), ty, format.width, format.numpy, &x, &y, &bodies)?;
    let mut wrong = String::new();
    for ((name, expected), got) in operations.iter().zip(got) {
        let limit = LIMITS.iter().find(|(n, _)| n == name).map_or(0, |(_, limit)| *limit);
        let limit = if format.width == 16 { limit.min(1) } else { limit };
        let mut worst = (0, 0);
        for i in 0..x.len() {
            match format.distance(got[i], expected[i]) {
                Some(distance) => worst = worst.max((distance, i)),
                None => worst = (u64::MAX, i),
            }
        }
        if std::env::var_os("TINYMLIR_SHOW_ACCURACY").is_some() {
            eprintln!("{ty} {name}: {}", worst.0);
        }
        if worst.0 > limit {
            let i = worst.1;
            let value = |bits: u64| format!("{:e} ({bits:#x})", format.value(bits));
            let at = format!("({}, {})", value(x[i]), value(y[i]));
            writeln!(wrong, "{name} at {at}: {} instead of {}, limit {limit}", value(got[i]), value(expected[i]))?;
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// What IEEE 754 rounds exactly, comparisons, maxima and minima, and conversions.
fn arithmetic(format: Format) -> Result<(), Failed> {
    let (x, y, _) = reference(format);
    let ty = format.name;
    type Operation = (&'static str, fn(f64, f64) -> f64);
    // A sum, product or quotient of two numbers of 24 bits or fewer, rounded to 53 and then to its format, is rounded right.
    let operations: [Operation; 9] = [
        ("arith.addf", |a, b| a + b),
        ("arith.subf", |a, b| a - b),
        ("arith.mulf", |a, b| a * b),
        ("arith.divf", |a, b| a / b),
        ("arith.remf", |a, b| a % b),
        ("arith.maximumf", |a, b| -minimum(-a, -b)),
        ("arith.minimumf", minimum),
        ("arith.maxnumf", f64::max),
        ("arith.minnumf", f64::min),
    ];
    // The first letter says what two numbers of which one is NaN give: ordered false, unordered true.
    let orderings: [(&str, &[Ordering]); 7] = [
        ("eq", &[Equal]),
        ("gt", &[Greater]),
        ("ge", &[Greater, Equal]),
        ("lt", &[Less]),
        ("le", &[Less, Equal]),
        ("ne", &[Less, Greater]),
        ("", &[Less, Equal, Greater]),
    ];
    let comparisons: Vec<(String, &[Ordering], bool)> = orderings
        .iter()
        .flat_map(|(name, holds)| {
            let names =
                if name.is_empty() { ["ord".into(), "uno".into()] } else { [format!("o{name}"), format!("u{name}")] };
            let [ordered, unordered] = names;
            // `uno` holds for NaN alone.
            let others: &[Ordering] = if name.is_empty() { &[] } else { holds };
            [(ordered, *holds, false), (unordered, others, true)]
        })
        .collect();
    let mut bodies: Vec<(String, String)> =
        operations.iter().map(|(name, _)| (format!("%r = {name} %a, %b : {ty}"), ty.to_owned())).collect();
    bodies.extend(
        comparisons.iter().map(|(name, ..)| (format!("%r = arith.cmpf {name}, %a, %b : {ty}"), "i1".to_owned())),
    );
    let kinds = ["isfinite", "isinf", "isnan", "isnormal"];
    bodies.extend(kinds.iter().map(|name| (format!("%r = math.{name} %a : {ty}"), "i1".to_owned())));
    bodies.push((format!("%r = arith.negf %a : {ty}"), ty.to_owned()));
    let got = run(&format!("arithmetic-{ty}"), ty, format.width, format.numpy, &x, &y, &bodies)?;
    let mut wrong = String::new();
    let mut results = got.into_iter();
    for i in 0..x.len() {
        let (a, b) = (format.value(x[i]), format.value(y[i]));
        for ((name, operation), got) in operations.iter().zip(results.as_slice()) {
            let expected = format.round(operation(a, b));
            // Of zeros with both signs these may take either.
            let either = name.ends_with("numf") && a == 0.0 && b == 0.0;
            if !(either && format.magnitude(got[i]) == 0) && format.distance(got[i], expected) != Some(0) {
                writeln!(wrong, "{name} at ({a:e}, {b:e}): {:#x} instead of {expected:#x}", got[i])?;
            }
        }
    }
    results.nth(operations.len() - 1);
    for (name, holds, unordered) in comparisons {
        let got = results.next().expect("a result for each body");
        for i in 0..x.len() {
            let (a, b) = (format.value(x[i]), format.value(y[i]));
            if (got[i] != 0) != a.partial_cmp(&b).map_or(unordered, |ordering| holds.contains(&ordering)) {
                writeln!(wrong, "cmpf {name} at ({a:e}, {b:e}): {}", got[i])?;
            }
        }
    }
    let normal =
        |bits: u64| format.magnitude(bits) >= 1 << format.fraction && format.magnitude(bits) < format.infinity();
    for name in kinds {
        let got = results.next().expect("a result for each body");
        for (i, bits) in x.iter().enumerate() {
            let expected = match name {
                "isfinite" => format.value(*bits).is_finite(),
                "isinf" => format.value(*bits).is_infinite(),
                "isnan" => format.value(*bits).is_nan(),
                _ => normal(*bits),
            };
            if (got[i] != 0) != expected {
                writeln!(wrong, "{name} at {bits:#x}: {}", got[i])?;
            }
        }
    }
    let negated = results.next().expect("a result for each body");
    for (i, bits) in x.iter().enumerate() {
        if format.distance(negated[i], bits ^ (1 << (format.width - 1))) != Some(0) {
            writeln!(wrong, "negf at {bits:#x}: {:#x}", negated[i])?;
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// IEEE 754-2019's minimum: NaN where either is, and -0 below +0.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else {
        a.min(b)
    }
}

/// The quotient rounded down.
fn floor(a: i128, b: i128) -> i128 {
    a / b - i128::from(a % b != 0 && (a < 0) != (b < 0))
}

fn integers(width: u32) -> Result<(), Failed> {
    let mask = u64::MAX >> (64 - width);
    let signed = move |bits: u64| i128::from((bits << (64 - width)) as i64 >> (64 - width));
    let unsigned = |bits: u64| i128::from(bits);
    let values: Vec<u64> = if width == 8 {
        (0..256).collect()
    } else {
        let near = |center: u64| (0..3).map(move |d| center.wrapping_add(d).wrapping_sub(1) & mask);
        [0, 3, 7, 12, 100, 1 << (width - 1), 1 << (width / 2), mask, mask - 9, mask / 3]
            .into_iter()
            .flat_map(near)
            .collect()
    };
    let pairs: Vec<(u64, u64)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    // Division by zero is an error of its own, and the overflow of the least number by -1 undefined.
    let least = 1 << (width - 1);
    let divisible: Vec<_> = pairs.iter().copied().filter(|(a, b)| *b != 0 && !(*a == least && *b == mask)).collect();
    let shifts: Vec<_> = pairs.iter().copied().filter(|(_, b)| *b < u64::from(width)).collect();
    let powers: Vec<_> = pairs.iter().copied().filter(|(a, b)| signed(*b) >= 0 || (*a != 0)).collect();
    type Operation<'a> = (&'a str, Box<dyn Fn(u64, u64) -> i128>);
    let s = move |f: fn(i128, i128) -> i128| -> Box<dyn Fn(u64, u64) -> i128> {
        Box::new(move |a, b| f(signed(a), signed(b)))
    };
    let u = move |f: fn(i128, i128) -> i128| -> Box<dyn Fn(u64, u64) -> i128> {
        Box::new(move |a, b| f(unsigned(a), unsigned(b)))
    };
    type Pairs<'a> = &'a [(u64, u64)];
    let groups: [(Pairs, Vec<Operation>); 4] = [
        (
            &pairs,
            vec![
                ("arith.addi", u(|a, b| a + b)),
                ("arith.subi", u(|a, b| a - b)),
                ("arith.muli", s(|a, b| a * b)),
                ("arith.andi", u(|a, b| a & b)),
                ("arith.ori", u(|a, b| a | b)),
                ("arith.xori", u(|a, b| a ^ b)),
                ("arith.maxsi", s(|a, b| a.max(b))),
                ("arith.minsi", s(|a, b| a.min(b))),
                ("arith.maxui", u(|a, b| a.max(b))),
                ("arith.minui", u(|a, b| a.min(b))),
                ("math.absi", s(|a, _| a.abs())),
                ("math.ctpop", u(|a, _| a.count_ones().into())),
                ("math.ctlz", Box::new(move |a, _| i128::from(a.leading_zeros() + width - 64))),
                ("math.cttz", Box::new(move |a, _| i128::from(a.trailing_zeros().min(width)))),
            ],
        ),
        (
            &divisible,
            vec![
                ("arith.divsi", s(|a, b| a / b)),
                ("arith.divui", u(|a, b| a / b)),
                ("arith.remsi", s(|a, b| a % b)),
                ("arith.remui", u(|a, b| a % b)),
                ("arith.floordivsi", s(floor)),
                ("arith.ceildivsi", s(|a, b| -floor(-a, b))),
                ("arith.ceildivui", u(|a, b| (a + b - 1) / b)),
            ],
        ),
        (
            &shifts,
            vec![
                ("arith.shli", u(|a, b| a << b)),
                ("arith.shrui", u(|a, b| a >> b)),
                ("arith.shrsi", s(|a, b| a >> b)),
            ],
        ),
        (
            &powers,
            vec![(
                "math.ipowi",
                s(|a, b| match (a, b) {
                    (_, 0..) => (0..64).rev().fold(1i128, |r, bit| {
                        let r = r.wrapping_mul(r) as i64 as i128;
                        if b >> bit & 1 == 1 { r.wrapping_mul(a) as i64 as i128 } else { r }
                    }),
                    (1, _) => 1,
                    (-1, _) => {
                        if b % 2 == 0 {
                            1
                        } else {
                            -1
                        }
                    }
                    _ => 0,
                }),
            )],
        ),
    ];
    let ty = format!("i{width}");
    let mut wrong = String::new();
    for (i, (pairs, operations)) in groups.into_iter().enumerate() {
        let (x, y): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let unary = |name: &str| ["math.absi", "math.ctpop", "math.ctlz", "math.cttz"].contains(&name);
        let body = |name: &str| format!("%r = {name} {} : {ty}", if unary(name) { "%a" } else { "%a, %b" });
        let bodies: Vec<_> = operations.iter().map(|(name, _)| (body(name), ty.clone())).collect();
        let got = run(&format!("integers-{ty}-{i}"), &ty, width, &format!("<i{}", width / 8), &x, &y, &bodies)?;
        for ((name, operation), got) in operations.iter().zip(got) {
            for (i, (a, b)) in pairs.iter().enumerate() {
                let expected = operation(*a, *b) as u64 & mask;
                if got[i] != expected {
                    writeln!(
                        wrong,
                        "{name} at ({}, {}): {:#x} instead of {expected:#x}",
                        signed(*a),
                        signed(*b),
                        got[i]
                    )?;
                    break;
                }
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// Runs a module that computes every body from elements `%a` and `%b`; the bits of each result, by body.
fn run(
    name: &str,
    ty: &str,
    width: u32,
    numpy: &str,
    x: &[u64],
    y: &[u64],
    bodies: &[(String, String)],
) -> Result<Vec<Vec<u64>>, Failed> {
    tools::build()?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let n = x.len();
    let file = |what: &str| folder.join(format!("math-{name}-{what}"));
    fs::write(file("x.npy"), npy(numpy, width, x))?;
    fs::write(file("y.npy"), npy(numpy, width, y))?;
    let tensor = |element: &str| format!("tensor<{n}x{element}>");
    let results = bodies.iter().map(|(_, element)| tensor(element)).collect::<Vec<_>>().join(", ");
    let mut text =
        format!("#id = affine_map<(i) -> (i)>\nfunc.func @main(%x: {0}, %y: {0}) -> ({results}) {{\n", tensor(ty));
    for (i, (body, element)) in bodies.iter().enumerate() {
        let result = tensor(element);
        writeln!(text, "%e{i} = tensor.empty() : {result}")?;
        writeln!(
            text,
            "%r{i} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\"]}} ins(%x, %y : {0}, {0}) outs(%e{i} : {result}) {{\n\
             ^bb0(%a: {ty}, %b: {ty}, %o: {element}):\n{body}\nlinalg.yield %r : {element}\n}} -> {result}",
            tensor(ty)
        )?;
    }
    let values = (0..bodies.len()).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
    writeln!(text, "return {values} : {results}\n}}")?;
    fs::write(file("module.mlir"), text)?;
    let mut command = Command::new(tools::folder().join("tinymlir-runner"));
    command.arg(file("module.mlir"));
    for (i, argument) in ["x.npy", "y.npy"].iter().enumerate() {
        command.arg("--arg").arg(format!("{i}={}", file(argument).display()));
    }
    for i in 0..bodies.len() {
        command.arg("-o").arg(format!("{i}={}", file(&format!("{i}.npy")).display()));
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    (0..bodies.len())
        .map(|i| {
            let width = if bodies[i].1 == "i1" { 8 } else { width };
            Ok(bits(&fs::read(file(&format!("{i}.npy")))?, width, n))
        })
        .collect()
}

/// A one-dimensional array as NumPy saves it.
fn npy(descr: &str, width: u32, values: &[u64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},), }}", values.len());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    values.iter().for_each(|v| file.extend(&v.to_le_bytes()[..width as usize / 8]));
    file
}

/// The last `n` elements of a saved array.
fn bits(file: &[u8], width: u32, n: usize) -> Vec<u64> {
    let bytes = width as usize / 8;
    let data = &file[file.len() - n * bytes..];
    let number = |element: &[u8]| element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    data.chunks_exact(bytes).map(number).collect()
}
