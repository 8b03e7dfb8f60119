//! What surrounds a call: arguments found or generated, results printed, saved and compared.

mod arguments;
mod compare;
mod float;
mod print;

pub use arguments::{Fill, Given, bind, sizes};
pub use compare::{Comparison, compare};
pub use print::numpy;

use crate::{Tensor, io::npy};
use anyhow::{Context, Result};
use std::path::Path;

/// Reads `FILE.npy` or `FILE.npz:KEY`.
pub fn read_array(place: &str) -> Result<Tensor> {
    match place.rsplit_once(".npz:") {
        Some((file, key)) => npy::read_npz(Path::new(&format!("{file}.npz")), key),
        None => npy::read(Path::new(place)),
    }
}

/// Splits `WHICH=WHAT`; fails with `usage` when there is no `=`.
pub fn split_assignment<'a>(text: &'a str, usage: &str) -> Result<(&'a str, &'a str)> {
    text.split_once('=').filter(|(which, _)| !which.is_empty()).with_context(|| format!("`{text}` is not {usage}"))
}

/// The index that `which` names: a name among `names`, else a number below their count. `what` is for messages.
pub fn find(which: &str, names: &[Option<&str>], what: &str) -> Result<usize> {
    if let Some(index) = names.iter().position(|n| *n == Some(which)) {
        return Ok(index);
    }
    which.parse::<usize>().ok().filter(|i| *i < names.len()).with_context(|| {
        let known: Vec<&str> = names.iter().flatten().copied().take(20).collect();
        let known =
            if known.is_empty() { "they have no names".to_owned() } else { format!("names: {}", known.join(", ")) };
        let meant = crate::did_you_mean(which, names.iter().flatten().copied());
        format!("there is no {what} `{which}`: there are {}, counted from 0; {known}{meant}", names.len())
    })
}
