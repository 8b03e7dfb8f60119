//! Forms and spellings that users' modules have.

use super::State;
use crate::{
    interpret::Data,
    program::{Binary, Constant, Fill, Form, Id, Op, Spelling, Tiles, on_operands, spelled},
};
use tinymlir::{DType, frontend::Type};

const SPELLINGS: [Spelling; 4] = [Spelling::Tosa, Spelling::Elementwise, Spelling::Named, Spelling::Dynamic];

impl State {
    /// The operation in another spelling, where one that is drawn has it.
    pub(super) fn spelled(&mut self, op: Op) -> Op {
        let types: Vec<Type> = self.values.iter().map(|v| v.ty.clone()).collect();
        let operands: Vec<Type> = op.operands().iter().map(|&a| types[a].clone()).collect();
        let plain = !matches!(op, Op::Input { .. } | Op::Form(..) | Op::Spelled(..)) && !operands.is_empty();
        let Some(result) = op.infer(&types).filter(|_| plain) else { return op };
        let mut spellings = SPELLINGS;
        self.rng.shuffle(&mut spellings);
        let fits = |s: &Spelling| spelled(*s, &on_operands(&op), &operands, &result).is_some();
        match spellings.into_iter().find(fits) {
            Some(spelling) if self.rng.usize(..6) > 0 => Op::Spelled(spelling, Box::new(op)),
            // Any operation can be called.
            _ if self.rng.usize(..3) == 0 => Op::Spelled(Spelling::Call, Box::new(op)),
            _ => op,
        }
    }

    /// An operation that the frontend does not have.
    pub(super) fn form(&mut self) -> Option<Op> {
        let number = |t: &Type| t.dtype != DType::I1 && !t.shape.contains(&0);
        Some(match self.rng.usize(..12) {
            0..=1 => self.pad()?,
            2 => self.pack()?,
            3 => self.unpack()?,
            4 => {
                let a = self.pick(|t| matches!(t.dtype, DType::F32 | DType::F64))?;
                let ty = self.values[a].ty.clone();
                let mut all = vec![a];
                for _ in 0..3 {
                    let other = self.pick(|t| *t == ty);
                    all.push(other.unwrap_or_else(|| self.input_of(ty.dtype, ty.shape.clone())));
                }
                self.rng.shuffle(&mut all);
                Op::Form(Form::ComplexProduct { imaginary: self.rng.bool() }, all)
            }
            5 => {
                let (dtype, shape) = (self.dtype, self.shape());
                let kind = self.of(&[Constant::Dense, Constant::Global]);
                let small = shape.iter().product::<usize>() <= 300;
                small.then(|| Op::Form(Form::Constant { kind, dtype, shape, seed: self.rng.u64(..) }, vec![]))?
            }
            6..=7 => {
                let a = self.pick(|t| number(t) && !t.shape.is_empty())?;
                Op::Form(if self.rng.bool() { Form::Cumulate } else { Form::Rows }, vec![a])
            }
            8 => {
                let a = self.pick(number)?;
                let (dtype, seed) = (self.of(&[DType::I32, DType::I64]), self.rng.u64(..));
                self.push(Op::Input { dtype, shape: vec![], seed, fill: Fill::Below(4) });
                Op::Form(Form::While, vec![a, self.steps.len() - 1])
            }
            9 => {
                let condition = self.pick(|t| t.dtype == DType::I1 && !t.shape.contains(&0));
                let c = condition.unwrap_or_else(|| self.input_of(DType::I1, vec![2]));
                let a = self.pick(number)?;
                let ty = self.values[a].ty.clone();
                let b = self.pick(|t| *t == ty).unwrap_or_else(|| self.input_of(ty.dtype, ty.shape.clone()));
                Op::Form(Form::If, vec![c, a, b])
            }
            10 => {
                let a = self.pick(|t| matches!(t.dtype, DType::I32 | DType::I64) && !t.shape.contains(&0))?;
                let Data::Int(values) = &self.values[a].data else { return None };
                let least = values.iter().copied().min()??;
                values.iter().all(Option::is_some).then(|| Op::Form(Form::Assert { least }, vec![a]))?
            }
            _ => self.computed_gather()?,
        })
    }

    fn pad(&mut self) -> Option<Op> {
        let a = self.pick(|t| !t.shape.is_empty())?;
        let shape = self.values[a].ty.shape.clone();
        let (mut low, mut high) = (vec![], vec![]);
        for n in shape {
            let cut = -(n.min(4) as i64 / 2);
            low.push(self.of(&[0, 0, 0, 1, 2, cut]));
            high.push(self.of(&[0, 0, 0, 1, 3, cut]));
        }
        Some(Op::Form(Form::Pad { low, high, value: self.of(&[0.0, 0.0, 1.0, -1.0]) }, vec![a]))
    }

    fn pack(&mut self) -> Option<Op> {
        let a = self.pick(|t| (1..=3).contains(&t.shape.len()) && !t.shape.contains(&0))?;
        let rank = self.values[a].ty.shape.len();
        let mut outer: Vec<usize> = (0..rank).collect();
        let mut dims = outer.clone();
        if self.rng.usize(..3) == 0 {
            self.rng.shuffle(&mut outer);
        }
        self.rng.shuffle(&mut dims);
        dims.truncate(self.rng.usize(1..=rank.min(2)));
        let sizes = dims.iter().map(|_| self.of(&[1, 2, 3, 4, 8])).collect();
        Some(Op::Form(Form::Pack { tiles: Tiles { dims, sizes, outer }, value: self.of(&[0.0, 1.0]) }, vec![a]))
    }

    /// Unpacks what has the shape of what was packed.
    fn unpack(&mut self) -> Option<Op> {
        let packs: Vec<(Id, Id, Tiles)> = (self.steps.iter().enumerate())
            .filter_map(|(id, op)| match op {
                Op::Form(Form::Pack { tiles, .. }, a) => Some((id, a[0], tiles.clone())),
                _ => None,
            })
            .collect();
        let (packed, source, tiles) = packs.get(self.rng.usize(..packs.len().max(1)))?.clone();
        let ty = self.values[packed].ty.clone();
        let a = self.pick(|t| *t == ty).unwrap_or(packed);
        Some(Op::Form(Form::Unpack { tiles, shape: self.values[source].ty.shape.clone() }, vec![a]))
    }

    /// A gather at indices that are computed: any integers, brought between the ends.
    fn computed_gather(&mut self) -> Option<Op> {
        let table = self.pick(|t| t.shape.iter().any(|&n| n > 0))?;
        let axis = self.axis(self.values[table].ty.shape.len())?;
        let most = self.values[table].ty.shape[axis].checked_sub(1)?;
        let few = |t: &Type| t.shape.len() <= 2 && t.shape.iter().product::<usize>() <= 12;
        let ids = self.pick(|t| matches!(t.dtype, DType::I32 | DType::I64) && few(t)).unwrap_or_else(|| {
            let (dtype, seed) = (self.of(&[DType::I32, DType::I64]), self.rng.u64(..));
            self.push(Op::Input { dtype, shape: vec![5], seed, fill: Fill::Special });
            self.steps.len() - 1
        });
        self.push(Op::Number(Binary::Maximum, ids, 0.0, false)).then_some(())?;
        let low = self.steps.len() - 1;
        self.push(Op::Number(Binary::Minimum, low, most as f64, false)).then_some(())?;
        Some(Op::Gather { table, ids: self.steps.len() - 1, axis })
    }
}
