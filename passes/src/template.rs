//! Templates: kernels as MLIR text, instantiated by replacing the parameters on top.
//!
//! A parameter is an alias line at the start of a line, such as `!elem = f32` or `#tile = 16 : index`. Only such lines are
//! replaced; the rest of the text is what a person reads and what stock mlir-opt parses. An alias cannot be a dimension
//! of a type, so the loader checks that every static size in an alias of a memref is the value of a numeric parameter.
//! A line such as `// +operands` is a place where a pass may insert text under that name: further operands and functions.

use crate::ir::{Ctx, Op};

/// A template file, embedded in the binary.
#[derive(Clone, Copy)]
pub struct Template {
    /// The file's name, for diagnostics.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Template {
    /// Parses the template with these parameters, each a name with its sigil and a value, and returns the module.
    /// The caller owns it.
    ///
    /// Fails on a parameter that the template lacks, on a buffer that no numeric parameter explains, and on text that
    /// does not parse.
    pub fn instantiate(&self, ctx: Ctx, parameters: &[(&str, &str)]) -> Result<Op, String> {
        let text = self.substitute(parameters)?;
        Op::parse(ctx, &text, self.file)
            .ok_or_else(|| format!("template {} does not parse with {parameters:?}", self.file))
    }

    fn substitute(&self, parameters: &[(&str, &str)]) -> Result<String, String> {
        let mut used = vec![false; parameters.len()];
        let mut aliases = vec![];
        let (mut top, mut rest) = (String::new(), String::with_capacity(self.text.len()));
        for line in self.text.lines() {
            match alias(line) {
                Some((name, value)) => {
                    let given = parameters.iter().position(|(n, _)| *n == name);
                    let value = given.map_or(value, |i| {
                        used[i] = true;
                        parameters[i].1
                    });
                    aliases.push((name, value));
                    top += &format!("{name} = {value}\n");
                }
                // A place for text, in a kernel's parameters and beside them.
                None if line.trim().strip_prefix("// ").is_some_and(|mark| mark.starts_with('+')) => {
                    let mark = line.trim().trim_start_matches("// ");
                    if let Some(i) = parameters.iter().position(|(n, _)| *n == mark) {
                        used[i] = true;
                        rest += parameters[i].1;
                        rest.push('\n');
                    }
                }
                None => {
                    rest += line;
                    rest.push('\n');
                }
            }
        }
        if let Some(i) = used.iter().position(|u| !u) {
            return Err(format!("template {} has no parameter {}", self.file, parameters[i].0));
        }
        let numbers: Vec<_> =
            aliases.iter().filter_map(|(_, v)| v.split_once(" : index").map(|(n, _)| n.trim())).collect();
        for (name, value) in &aliases {
            for size in static_sizes(value) {
                if !numbers.contains(&size) {
                    return Err(format!(
                        "template {}: size {size} of {name} is not the value of a parameter",
                        self.file
                    ));
                }
            }
        }
        // A template with kernels of its own is a module already.
        let whole = rest.lines().any(|line| line.starts_with("module"));
        Ok(if whole { top + &rest } else { format!("{top}module {{\n{rest}}}\n") })
    }
}

/// The name and the value of a line that defines an alias.
fn alias(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" = ")?;
    let rest = name.strip_prefix(['!', '#'])?;
    rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some((name, value.trim()))
}

/// The static sizes in `memref<16x?x!elem, ...>`.
fn static_sizes(value: &str) -> Vec<&str> {
    let Some(inside) = value.strip_prefix("memref<") else { return vec![] };
    let shape = inside.split([',', '>']).next().unwrap_or_default();
    shape.split('x').filter(|s| !s.is_empty() && s.chars().all(|c| c.is_ascii_digit())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Template = Template {
        file: "t.mlir",
        text: "// text\n!elem = f32\n!stage = memref<16x16x!elem, #gpu.address_space<workgroup>>\n#tile = 16 : index\nfunc.func private @f(!elem)\n",
    };

    #[test]
    fn only_alias_lines_change() {
        let text = T.substitute(&[("!elem", "f64")]).unwrap();
        assert!(text.contains("!elem = f64\n") && text.contains("@f(!elem)") && text.contains("16x16x!elem"));
    }

    #[test]
    fn an_unknown_parameter_is_named() {
        assert_eq!(T.substitute(&[("!acc", "f32")]).unwrap_err(), "template t.mlir has no parameter !acc");
    }

    #[test]
    fn a_tile_that_its_buffer_does_not_follow_is_refused() {
        let error = T.substitute(&[("#tile", "32 : index")]).unwrap_err();
        assert_eq!(error, "template t.mlir: size 16 of !stage is not the value of a parameter");
        assert!(T.substitute(&[("#tile", "32 : index"), ("!stage", "memref<32x32x!elem>")]).is_ok());
    }
}
