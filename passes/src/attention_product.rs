//! Attention of one row and the product that alone reads its heads side by side, such as a decoding step's projection, in one
//! kernel (`templates/attention_row_product.mlir`): a cluster of blocks a head multiplies its part of the row by its rows of the matrix.
//!
//! The heads' products are parts of the result, which [`crate::parts`] adds up in their order with the elementwise operation after
//! the product: in the norm that reads the result, or in the product that computes that norm for itself. Where reductions may be
//! atomic every head adds to the result, which is zeroed before (`zeroed.rs`), and the first one what the elementwise operation adds.
//!
//! Keys and values are read before the kernel's predecessor ends where what keeps keys is constant and nothing in the function writes rows of
//! theirs but the one at the position ([`crate::written_rows`]).
//!
//! Wants thread-block clusters (sm_90), a norm behind the product, columns in multiples of 32, and no more of them than registers
//! hold: anything else stays two kernels.

use crate::{
    attention_match::{Chain, MOST_DEPTH},
    attention_steps::KeyMask,
    choice::Reductions,
    contraction::Contraction,
    device::source,
    host::{Operand, Text, Workspaces},
    ir::{Op, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_whole_body},
    matrices::Matrices,
    memory::{between, erase_unread, only_used_by, users, writes},
    narrow, parts,
    products::{self, Work},
    row_tile,
    rows::move_definition,
    schedule::{ATTENTION_ROW_PRODUCT as TEMPLATE, FIRST_WITH_CLUSTERS, Kind, Layout},
    tinymlir_attention::dynamic_type,
    turns::ceildiv,
    written_rows::writes_one_row,
    zeroed::{Zeroed, can_be_added_to},
};

/// The blocks of a cluster, the lanes of a key, and the elements that a lane reads at once.
const CLUSTER: i64 = 8;
const LANES: i64 = 16;
const FOUR: i64 = 4;
/// The most heads, whose parts every block of the next kernel adds.
const MOST_PARTS: i64 = 32;
/// The most rows of B of which a thread keeps four elements, and the most keys that a group of lanes takes at once.
const MOST_ROWS: i64 = 16;
const MOST_AT_ONCE: i64 = 8;

/// How a block divides its keys and its columns of B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Division {
    threads: i64,
    at_once: i64,
    turns: i64,
    /// The columns of a block, and the groups of threads among which its rows of B are dealt.
    columns: i64,
    b_groups: i64,
    b_each: i64,
}

impl Division {
    /// The division for so many keys, elements of a head and columns: the fewest threads among those that leave a thread the fewest
    /// rows of B.
    fn of(keys: i64, depth: i64, n: i64) -> Option<Division> {
        if n % (CLUSTER * FOUR) != 0 || depth > MOST_DEPTH {
            return None;
        }
        let columns = n / CLUSTER;
        let groups = |threads: i64| (1..=threads / (columns / FOUR)).rev().find(|groups| depth % groups == 0);
        let choices = (256..=512).step_by(32).filter_map(|threads| Some((threads, groups(threads)?)));
        let (threads, b_groups) = choices.min_by_key(|(threads, groups)| (depth / groups, *threads))?;
        let keys_each = ceildiv(keys, CLUSTER * threads / LANES);
        let turns = ceildiv(keys_each, MOST_AT_ONCE);
        let division = Division {
            threads,
            at_once: ceildiv(keys_each, turns),
            turns,
            columns,
            b_groups,
            b_each: depth / b_groups,
        };
        // The last threads store a column each.
        (division.b_each <= MOST_ROWS && columns <= threads).then_some(division)
    }

    /// The template's parameters.
    fn parameters(self, depth: i64, b_element: &str) -> Vec<(&'static str, String)> {
        let index = |n: i64| format!("{n} : index");
        let shared = |shape: String| format!("memref<{shape}xf32, #gpu.address_space<workgroup>>");
        let Division { threads, at_once, turns, columns, b_groups, b_each } = self;
        let (warps, groups) = (threads / 32, threads / LANES);
        vec![
            ("#depth", index(depth)),
            ("#threads", index(threads)),
            ("#block_size", format!("array<i32: {threads}, 1, 1>")),
            ("#warps", index(warps)),
            ("#groups", index(groups)),
            ("!warp_scalars", shared(warps.to_string())),
            ("!warp_rows", shared(format!("{warps}x{MOST_DEPTH}"))),
            ("#at_once", index(at_once)),
            ("#turns", index(turns)),
            ("#key_of", format!("affine_map<(t, i, g, r) -> (((t * {at_once} + i) * {groups} + g) * {CLUSTER} + r)>")),
            ("!some_rows", format!("vector<{at_once}x4xf32>")),
            ("!some", format!("vector<{at_once}xf32>")),
            ("#columns", index(columns)),
            ("#fours", index(columns / FOUR)),
            ("#b_groups", index(b_groups)),
            ("#b_each", index(b_each)),
            ("!partial", shared(format!("{b_groups}x{columns}"))),
            ("!b_rows", format!("vector<{b_each}x4x{b_element}>")),
        ]
    }
}

/// A chain of one row a head and the product that multiplies what it leaves.
pub struct AttentionProduct {
    chain: Chain,
    work: Work,
    /// The form of the product's result, after its elementwise operation, that a norm reads; none where heads add to it.
    view: Option<Value>,
    division: Division,
    /// What keeps keys, where the kernel computes it.
    mask: Option<KeyMask>,
}

impl AttentionProduct {
    /// The product behind a chain, where one kernel computes both.
    pub fn behind(chain: &Chain, chip: u32, reductions: Reductions) -> Option<AttentionProduct> {
        let [heads, m, keys, depth] = chain.size;
        if m != 1 || chain.element != "f32" || chip < FIRST_WITH_CLUSTERS || !(1..=MOST_PARTS).contains(&heads) {
            return None;
        }
        let out = &chain.out;
        let side_by_side = out.offset == 0 && out.strides[2] == 1 && (heads == 1 || out.strides[0] == depth);
        let rows = source(out.buffer);
        let op = product_of(rows)?;
        let mut users = chain.ops.clone();
        users.push(op);
        if !side_by_side || !only_used_by(rows, &users) {
            return None;
        }
        let matrices = Matrices::of_widened(op, &Contraction::of(op).ok()?).ok()??;
        let Matrices { size, a, b, c, element, b_element, .. } = matrices;
        let [_, _, n, k] = size;
        let elements = rows.ty().shape()?.into_iter().product::<Option<i64>>()?;
        let group = narrow::group(&b_element, Layout::AlongN, Kind::Skinny);
        let fits = size[..2] == [1, 1]
            && k == heads * depth
            && k == elements
            && source(a.buffer) == rows
            && (a.offset, a.strides[2]) == (0, 1)
            && element == "f32"
            && narrow::ELEMENTS.contains(&b_element.as_str())
            && b.reads_groups([1, k, n], group);
        let division = Division::of(keys, depth, n).filter(|_| fits)?;
        let (fill, epilogue) = products::neighbours(op, &c, [&a, &b], size);
        let epilogue = epilogue.filter(|e| e.is_f32());
        let target = epilogue.as_ref().map_or_else(|| products::whole(&c, size), |e| e.target.clone());
        let work = Work { op, size, a, b, target, fill, epilogue, splits: heads, tail: None };
        let view = match reductions {
            Reductions::Atomic => {
                let inputs: Vec<Value> =
                    chain.read().chain([work.b.buffer]).chain(work.extras().map(|e| e.buffer)).collect();
                can_be_added_to(&work, &[op], &inputs).then_some(())?;
                None
            }
            Reductions::Ordered => {
                let view = parts::norm_view(&work).filter(|view| parts::is_row(*view, n) && parts::joins(&work));
                Some(view?)
            }
        };
        // What the kernel reads is at its place what it was before.
        let way = between(*chain.ops.last()?, work.at())?;
        let kept = |buffer: Value| way.iter().all(|o| *o == op || Some(*o) == fill || !writes(*o, buffer));
        let all_kept = chain.read().all(kept);
        let mask = chain.score.as_ref().and_then(|s| s.key_mask()).filter(|mask| {
            let since = between(mask.op, work.at());
            since.is_some_and(|ops| ops.iter().all(|o| *o == op || Some(*o) == fill || !writes(*o, mask.number)))
        });
        all_kept.then(|| AttentionProduct { chain: chain.clone(), work, view, division, mask })
    }

    /// Replaces both by the call, and the operation after the product by the sum of the parts with it.
    pub fn emit(
        self,
        cx: &PassCx,
        module: Op,
        kernels: &mut Kernels,
        (workspaces, zeroed): (&mut Workspaces, &mut Zeroed),
    ) -> PassResult {
        let AttentionProduct { chain, work, view, division, mask } = self;
        let [heads, _, keys, depth] = chain.size;
        let [_, _, n, k] = work.size;
        let at = work.at();
        let b_element = row_tile::element(work.b.buffer);
        let fixed =
            |o: &Operand| format!("memref<?x?x?xf32, strided<[{}, {}, 1], offset: ?>>", o.strides[0], o.strides[1]);
        let any = "memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>";
        let operands =
            [("q", "!q_view", &chain.q, 1), ("k", "!k_view", &chain.k, keys), ("v", "!v_view", &chain.v, keys)];
        let b_any = format!("memref<?x?x{b_element}, strided<[?, 1], offset: ?>>");
        let b_type = format!("memref<?x?x{b_element}, strided<[{}, 1], offset: ?>>", work.b.strides[1]);
        let parts_type = "memref<?x?xf32, strided<[?, 1], offset: ?>>";
        let beside = "memref<?xf32, strided<[?], offset: ?>>";
        let extra = mask.map(|m| m.number).or_else(|| chain.extra());
        let extra_type = extra.map_or("memref<f32>".to_string(), dynamic_type);

        let mut parameters = division.parameters(depth, &b_element);
        parameters.extend(operands.iter().map(|(_, name, o, _)| (*name, fixed(o))));
        parameters.push(("!extra", extra_type.clone()));
        parameters.push(("#atomic", view.is_none().to_string()));
        // An argument may be constant until the kernel ends; what another kernel makes is not.
        let keeps_early = extra.is_none_or(|x| source(x).block_argument().is_some());
        let written = [&chain.k, &chain.v].map(|o| writes_one_row(o, [heads, keys, depth], extra, at));
        let early = keeps_early && written.iter().all(Option::is_some);
        let reads_written = early && written.contains(&Some(true));
        parameters.push(("#early", early.to_string()));
        parameters.push(("!b_view", b_type.clone()));
        parameters.push(("!b_global", b_type.replace(", offset: ?>>", ", offset: ?>, #gpu.address_space<global>>")));
        parameters.extend(narrow::parameters(&b_element, Layout::AlongN, Kind::Skinny, k));
        let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let how = if view.is_none() { "_atomic" } else { "" };
        let name = format!("attention_row_product_{b_element}{how}");
        let instance = Instance { template: &TEMPLATE, parameters: &parameters, launcher: "attention", name: &name };
        let body = |kernels: Op| {
            narrow::set_widen(kernels, &b_element, Layout::AlongN, Kind::Skinny)?;
            if let Some(e) = work.epilogue.as_ref().filter(|_| view.is_none()) {
                let inputs: Vec<_> = [e.sum].into_iter().chain(e.extras.iter().map(|(_, v)| *v)).collect();
                set_whole_body(kernels, "epilogue", e.op.blocks(0)[0], &inputs)?;
            }
            if reads_written {
                set_written(kernels)?;
            }
            match (&chain.score, &mask) {
                (Some(score), Some(mask)) => score.set_key_mask(kernels, mask),
                _ => chain.set_row_score(kernels),
            }
        };
        let symbol = kernels.place(cx, at, module, instance, body)?;

        let mut text = Text::default();
        let (mut arguments, mut types) = (vec![], vec![]);
        for (name, _, operand, rows) in operands {
            let base = text.operand(name, operand);
            text.view(&format!("{name}v"), &base, &operand.strides, &[heads, rows, depth], any);
            text.line(&format!("%{name}s = memref.cast %{name}v : {any} to {}", fixed(operand)));
            arguments.push(format!("%{name}s"));
            types.push(fixed(operand));
        }
        let base = text.operand("b", &work.b);
        text.view("bv", &base, &work.b.strides[1..], &[k, n], &b_any);
        text.line(&format!("%bs = memref.cast %bv : {b_any} to {b_type}"));
        let mut inputs: Vec<(String, Value)> = vec![
            ("q".into(), chain.q.buffer),
            ("k".into(), chain.k.buffer),
            ("v".into(), chain.v.buffer),
            ("b".into(), work.b.buffer),
        ];
        // The parts one behind another in memory of their own, or all at the place of the result.
        let (result, offset) = (work.target.buffer, work.target.offset);
        let (to, step, base) = match view {
            Some(_) => {
                let slabs = Work::workspace(&mut text);
                text.constant("first", 0);
                (cx.check(at, workspaces.of(at, heads * n))?, n, (slabs.0, "%first".to_string()))
            }
            None => (result, 0, text.operand("s", &Operand { buffer: result, offset, strides: [0; 3] })),
        };
        inputs.push(("s".into(), to));
        text.view("wv", &base, &[step, 1], &[heads, n], parts_type);
        // What is not there is not read: the row itself.
        for (i, name) in ["x0", "x1", "x2"].into_iter().enumerate() {
            let extra = work.extras().nth(i).filter(|_| view.is_none());
            let from = extra.map(|e| text.operand(name, e));
            let step = extra.map_or(1, |e| e.strides[2]);
            text.view(&format!("{name}v"), from.as_ref().unwrap_or(&base), &[step], &[n], beside);
            inputs.extend(extra.map(|e| (name.to_string(), e.buffer)));
        }
        match extra {
            Some(extra) => {
                inputs.push(("x".into(), extra));
                text.line(&format!("%xv = memref.cast %x : {} to {extra_type}", extra.ty()));
            }
            // Nothing reads it: the first element of Q.
            None => text.line(
                "%xv = memref.reinterpret_cast %q_base to offset: [0], sizes: [], strides: [] : memref<f32> to memref<f32>",
            ),
        }
        arguments.extend(["%bs", "%wv", "%xv", "%x0v", "%x1v", "%x2v"].map(String::from));
        types.extend([b_type, parts_type.into(), extra_type]);
        types.extend(vec![beside.to_string(); 3]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        text.call_writing(&symbol, &arguments, &types, &[4]);
        if let Some(view) = view {
            cx.check(at, parts::write_row(&mut text, &work, &base.0, view))?;
            inputs.extend(parts::inputs(&work));
            inputs.push(("row".into(), view));
            move_definition(view, at);
        }
        let inputs: Vec<(&str, Value)> = inputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();

        let size = format!("{heads}x1x{keys}x{depth}, {k}x{n}");
        let message = format!(
            "and {} operations before it, with the product behind it, become {name} ({}): {heads} batches, one row, {keys} keys of \
             {depth}, by {k}x{n} in as many parts",
            chain.ops.len() - 1,
            TEMPLATE.file
        );
        let facts = [
            ("kernel", name.as_str()),
            ("template", TEMPLATE.file),
            ("size", &size),
            ("why", "products around a softmax of one row, and the product that alone reads its result"),
        ];
        cx.passed_with(chain.ops[chain.ops.len() - 1], &message, &facts);
        at.stand_for(chain.ops.iter().copied().chain(work.fill).chain([work.op]));
        cx.check(at, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        match view {
            Some(_) => cx.check(at, parts::set_body(&work))?,
            None => cx.check(at, zeroed.add(source(result)))?,
        }
        cx.count("kernels");
        cx.count("products");
        let rows = source(chain.out.buffer);
        work.remove();
        chain.erase();
        erase_unread(rows);
        if let Some(mask) = mask {
            let array = source(mask.op.operand(1));
            if users(array).iter().all(|user| *user == mask.op || user.is("memref.dealloc")) {
                mask.op.erase();
                erase_unread(array);
            }
        }
        Ok(())
    }
}

/// Makes `@written` of a kernel's gpu.module the number that its only argument holds.
fn set_written(kernels: Op) -> Result<(), String> {
    let missing = || "internal error: no function @written".to_string();
    let body = *kernels.lookup("written").ok_or_else(missing)?.blocks(0).first().ok_or_else(missing)?;
    let (array, end) = (*body.arguments().first().ok_or_else(missing)?, body.terminator());
    let rank = array.ty().shape().map_or(0, |s| s.len());
    let element = array.ty().element().ok_or_else(missing)?;
    let zeros = vec!["%zero"; rank].join(", ");
    let row = if element.is("index") {
        "return %v : index".to_string()
    } else {
        format!("%i = arith.index_cast %v : {element} to index\nreturn %i : index")
    };
    let text = format!("%zero = arith.constant 0 : index\n%v = memref.load %x[{zeros}] : {}\n{row}", array.ty());
    let row = end.build_before(&[("x", array)], "", &text)?;
    end.set_operands(&row);
    Ok(())
}

/// The product among the users of a buffer, which it does not write.
fn product_of(buffer: Value) -> Option<Op> {
    let reads = |op: &Op| source(op.operand(2)) != buffer;
    users(buffer).into_iter().find(|op| op.is_linalg() && Contraction::of(*op).is_ok() && reads(op))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_hold_few_rows_of_the_matrix_each() {
        let of = |keys, depth, n| Division::of(keys, depth, n).map(|d| (d.threads, d.b_groups, d.b_each));
        assert_eq!(of(1024, 64, 768), Some((384, 16, 4)));
        assert_eq!(of(256, 32, 128), Some((256, 32, 1)));
        assert_eq!(of(1024, 64, 1600), Some((416, 8, 8)), "50 threads read a row of a block's columns");
        assert_eq!(of(1024, 64, 4096), Some((512, 4, 16)));
        assert_eq!((of(1024, 64, 8192), of(1024, 64, 776)), (None, None));
    }

    #[test]
    fn every_key_is_taken_once() {
        for keys in [1, 127, 1024, 1025, 4096, 10_000] {
            let d = Division::of(keys, 64, 768).unwrap();
            let (groups, at_once) = (d.threads / LANES, d.at_once);
            assert!(at_once <= MOST_AT_ONCE && d.turns * at_once * groups * CLUSTER >= keys, "{keys}: {d:?}");
            assert!((d.turns * at_once - d.turns) * groups * CLUSTER < keys, "{keys}: {d:?}");
        }
    }
}
