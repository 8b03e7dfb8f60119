//! `cargo test --test math`: operations of math and arith on numbers, by compiled code, against right values.
//!
//! Floats: test/math/reference.json holds correctly rounded values (tools/math-reference made them) at zeros, infinities, NaN,
//! subnormals, extremes and ordinary arguments; each operation must be within its number of units in the last place, with
//! NaN for NaN, and zeros and infinities exact with their signs. Sums, products and comparisons are compared with this
//! program's own, which are IEEE's. Integers: every pair of i8 values, and extremes of the wider types, against i128.

#[path = "math/format.rs"]
mod format;
#[path = "math/modules.rs"]
mod modules;
mod tools;

use std::{
    cmp::Ordering::{self, Equal, Greater, Less},
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::Path,
};

use format::{FORMATS, Format};
use libtest_mimic::{Arguments, Failed, Trial};
use modules::run;

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
