//! What a template of products is given beside its usual operands: buffers and text of the loops that copy its result, and of its
//! prologue.

use crate::{
    ir::{Op, Value},
    product_call::Call,
    prologue::Prologue,
    row_copies,
    row_text::{self, PrologueText},
    schedule::{Kind, SKINNY_NT_THREADS, SKINNY_THREADS},
};

/// Operands of a kernel beside the usual ones, and the text that they stand for in a template: buffers of the loops that copy
/// its result and of its prologue, and then views of where it is copied to.
pub struct Additions {
    pub buffers: Vec<Value>,
    /// How many of the buffers, from the first on, belong to the loops that copy the result.
    pub copied: usize,
    /// The views' names, as the host's text makes them.
    pub views: Vec<String>,
    pub operands: String,
    pub names: String,
    pub types: String,
    pub functions: String,
    pub also: String,
    pub prologue: Option<PrologueText>,
}

impl Additions {
    /// What stands in the places of a template for text.
    pub fn text(&self) -> [(&'static str, String); 5] {
        [
            ("+operands", self.operands.clone()),
            ("+names", self.names.clone()),
            ("+types", self.types.clone()),
            ("+functions", self.functions.clone()),
            ("+also", self.also.clone()),
        ]
    }

    /// `split`: the copies are what the sum of the parts does.
    pub fn of(call: &Call, module: Op, split: bool) -> Result<Additions, String> {
        let mut buffers = vec![];
        for buffer in call.scatters.iter().flat_map(|s| s.buffers.iter().copied()) {
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        }
        let copied = buffers.len();
        let threads = call.turns.map_or((SKINNY_THREADS, SKINNY_THREADS), |t| (t.row_threads, SKINNY_NT_THREADS));
        let text = |p: &Prologue| row_text::prologue(module.ctx(), &p.group, threads, copied, p.stores);
        let prologue = call.prologue.as_ref().map(text).transpose()?;
        buffers.extend(prologue.iter().flat_map(|p| p.buffers.iter().copied()));
        let views: Vec<String> = (0..call.copies.len()).map(|i| format!("%to{i}")).collect();
        let mut parts: Vec<(String, String)> =
            buffers.iter().enumerate().map(|(i, b)| (format!("%o{i}"), b.ty().to_string())).collect();
        parts.extend(views.iter().map(|name| (name.clone(), row_copies::VIEW.to_string())));
        let list = |part: &dyn Fn(&(String, String)) -> String| -> String {
            parts.iter().map(|p| format!(", {}", part(p))).collect()
        };
        let operands = list(&|(name, ty)| format!("{name} : {ty}"));
        let names = list(&|(name, _)| name.clone());
        let types = list(&|(_, ty)| ty.clone());
        let scatters = || call.scatters.iter().enumerate();
        let value = if call.product.kind == Kind::Skinny || split { "f32" } else { "vector<4xf32>" };
        let mut functions: String = scatters().map(|(i, s)| s.functions(i, (&operands, &names, &types))).collect();
        functions.extend(call.copies.iter().enumerate().map(|(i, c)| c.function(i, value)));
        functions.extend(prologue.iter().map(|p| p.functions.as_str()));
        let mut also: String = scatters()
            .map(|(i, _)| format!("func.call @scatter{i}(%value, %column{names}) : (f32, index{types}) -> ()\n"))
            .collect();
        also.extend(views.iter().enumerate().map(|(i, view)| {
            let ty = row_copies::VIEW;
            format!(
                "func.call @copy{i}(%value, %row, %group, %place, {view}) : ({value}, index, index, index, {ty}) -> ()\n"
            )
        }));
        Ok(Additions { buffers, copied, views, operands, names, types, functions, also, prologue })
    }
}
