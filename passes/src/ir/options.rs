//! Options of passes and pipelines: their names, kinds and first values.

/// An option of a pass or a pipeline. The text is its initial value.
#[derive(Clone, Copy)]
pub struct Opt {
    /// As written on the command line.
    pub name: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// As it would be written on the command line; `true` or `false` makes a boolean, digits an integer.
    pub initial: &'static str,
    pub(super) kind: Kind,
}

/// What an option's value is, by the number that the registry's side knows.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    String,
    Integer,
    Boolean,
    Integers,
}

impl Opt {
    /// Text.
    pub const fn string(name: &'static str, initial: &'static str, description: &'static str) -> Opt {
        Opt { name, description, initial, kind: Kind::String }
    }
    /// A 64-bit integer.
    pub const fn integer(name: &'static str, initial: &'static str, description: &'static str) -> Opt {
        Opt { name, description, initial, kind: Kind::Integer }
    }
    /// `true` or `false`.
    pub const fn boolean(name: &'static str, initial: &'static str, description: &'static str) -> Opt {
        Opt { name, description, initial, kind: Kind::Boolean }
    }
    /// A list of 64-bit integers, empty at first.
    pub const fn integers(name: &'static str, description: &'static str) -> Opt {
        Opt { name, description, initial: "", kind: Kind::Integers }
    }
    /// What its value is, for the documentation.
    pub const fn kind(&self) -> &'static str {
        match self.kind {
            Kind::String => "text",
            Kind::Integer => "integer",
            Kind::Boolean => "true or false",
            Kind::Integers => "integers",
        }
    }
}

/// The place of an option among those of its definition, which must have it.
pub(super) fn place(options: &[Opt], name: &str, kind: Kind) -> usize {
    options.iter().position(|o| o.name == name && o.kind == kind).unwrap_or_else(|| panic!("no such option: {name}"))
}
