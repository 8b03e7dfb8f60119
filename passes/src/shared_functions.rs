//! One function of a module for all products that are computed alike: it is called in the place of each.

use crate::{
    contraction::Contraction,
    ir::{Op, Type},
};
use std::collections::HashMap;

/// The functions so far, by what they compute.
#[derive(Default)]
pub struct SharedFunctions(HashMap<String, String>);

impl SharedFunctions {
    /// Puts before a product the call of a function, named after `stem`, that computes what `key` says of these operands and types.
    /// `define` gives the module that function where it has none yet: its name, and the names and types of its parameters.
    pub fn call(
        &mut self,
        module: Op,
        op: Op,
        contraction: &Contraction,
        (stem, key): (&str, &str),
        define: impl FnOnce(&str, &[(String, Type)]) -> Result<(), String>,
    ) -> Result<(), String> {
        let parameters: Vec<(String, Type)> = (0..3).map(|i| (format!("v{i}"), contraction.views[i].ty)).collect();
        let types = parameters.iter().map(|(_, ty)| ty.to_string()).collect::<Vec<_>>().join(", ");
        let key = format!("{key} {types}");
        let name = match self.0.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = module.unique_symbol(stem);
                define(&name, &parameters)?;
                self.0.insert(key, name.clone());
                name
            }
        };
        let inputs: Vec<_> = ["v0", "v1", "v2"].into_iter().zip(contraction.operands).collect();
        let declaration = format!("func.func private @{name}({types})");
        let call = format!("func.call @{name}(%v0, %v1, %v2) : ({types}) -> ()");
        op.build_before(&inputs, &declaration, &call).map(|_| ())
    }
}
