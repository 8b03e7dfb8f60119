//! What the text of a group of [`crate::rows`] writes to memory: what others read of it, and a row in workgroup memory for the
//! product whose prologue it is.

use crate::{
    ir::{Op, Value},
    memory::only_used_by,
    row_tile::{bytes, element},
    row_writer::{Place, Writer},
    rows::Member,
};

impl Writer<'_> {
    /// Writes what `result` holds to the row's place in workgroup memory.
    pub fn stage(&mut self, result: Value) -> Result<(), String> {
        let Some(Place::Lanes(value)) = self.values.get(&result).cloned() else {
            return Err("internal error: a prologue makes no row".into());
        };
        let (lanes, width, sweeps) = (self.tile.lanes("f32"), self.tile.vector, self.tile.sweeps);
        self.line(&format!("affine.for %e = 0 to {sweeps} {{"));
        self.columns();
        let stores = self.kept("%in");
        self.line(&format!("  scf.if {stores} {{"));
        self.line(&format!("    %v = vector.extract {value}[%e] : vector<{width}xf32> from {lanes}"));
        self.line(&format!(
            "    vector.store %v, %stage[%row, %j] {{alignment = {} : i64}} : !stage, vector<{width}xf32>",
            4 * width
        ));
        self.line("  }");
        self.line("}");
        Ok(())
    }

    /// A condition of a store: with several rows a block, the thread's row must be one.
    fn kept(&mut self, condition: &str) -> String {
        if self.tile.threads == self.block {
            return condition.to_string();
        }
        let both = self.fresh("kept");
        self.line(&format!("{both} = arith.andi {condition}, %kept : i1"));
        both
    }

    /// Writes what something outside of the group reads.
    pub fn stores(&mut self) {
        let members: Vec<Op> = self.group.members.iter().map(|m| m.op).chain(self.group.fills()).collect();
        let mut done = vec![];
        for member in self.group.members.iter().rev() {
            let out = member.op.operand(member.op.operands().len() - 1);
            if done.contains(&out) {
                continue;
            }
            done.push(out);
            if only_used_by(out, &members) {
                continue;
            }
            self.store(member);
        }
    }

    /// Writes what a member makes.
    fn store(&mut self, member: &Member) {
        let out = member.op.operand(member.op.operands().len() - 1);
        let map = member.op.linalg_maps().last().copied();
        let axes: Vec<Option<usize>> =
            map.map(|m| m.dims()).unwrap_or_default().into_iter().map(|d| d.map(|d| member.dims[d])).collect();
        let (name, ty) = (self.buffer(out), out.ty());
        let element = element(out);
        let (lanes, width, sweeps) = (self.tile.lanes(&element), self.tile.vector, self.tile.sweeps);
        match self.values[&out].clone() {
            Place::Row(value) => {
                let at = self.indices(&axes, "");
                self.line("scf.if %is_first {");
                self.line(&format!("  memref.store {value}, {name}[{at}] : {ty}"));
                self.line("}");
            }
            Place::Lanes(value) => {
                self.line(&format!("affine.for %e = 0 to {sweeps} {{"));
                self.columns();
                self.line("  scf.if %in {");
                if self.is_vector(out, &axes) {
                    let at = self.indices(&axes, "%j");
                    self.line(&format!("    %v = vector.extract {value}[%e] : vector<{width}x{element}> from {lanes}"));
                    let alignment = width * bytes(&element);
                    self.line(&format!("    vector.store %v, {name}[{at}] {{alignment = {alignment} : i64}} : {ty}, vector<{width}x{element}>"));
                } else {
                    let at = self.indices(&axes, "%ju");
                    self.line(&format!("    affine.for %u = 0 to {width} {{"));
                    self.line("      %ju = arith.addi %j, %u : index");
                    self.line(&format!("      %v = vector.extract {value}[%e, %u] : {element} from {lanes}"));
                    self.line(&format!("      memref.store %v, {name}[{at}] : {ty}"));
                    self.line("    }");
                }
                self.line("  }");
                self.line("}");
            }
        }
    }

    /// Writes it in the grid's first block alone; the buffer.
    pub fn store_in_first_block(&mut self, member: &Member) -> Value {
        self.line("%block = gpu.block_id x");
        self.line("%in_first = arith.cmpi eq, %block, %zero : index");
        let stores = self.kept("%in_first");
        self.line(&format!("scf.if {stores} {{"));
        self.store(member);
        self.line("}");
        member.op.operand(member.op.operands().len() - 1)
    }
}
