//! Texts for the matrix instructions of a warp: registers go to the runtime, and come back, through memory.

use crate::ir::Op;

/// The registers that one instruction has at most.
pub(super) const REGISTERS: usize = 16;

fn address(i: usize) -> String {
    format!("%p{i} = llvm.getelementptr %registers[{}] : (!llvm.ptr) -> !llvm.ptr, i8\n", 4 * i)
}

/// Loads `count` registers of type `ty` from the one at `first` on, as `%r`, of type `result`.
fn results(first: usize, count: usize, ty: &str, result: &str) -> String {
    if count == 1 && ty == result {
        return format!("{}%r = llvm.load %p{first} : !llvm.ptr -> {ty}\nreturn %r : {result}", address(first));
    }
    let mut text = format!("%s0 = llvm.mlir.poison : {result}\n");
    for i in 0..count {
        let (register, next) = (first + i, i + 1);
        text += &format!(
            "{}%r{i} = llvm.load %p{register} : !llvm.ptr -> {ty}\n%s{next} = llvm.insertvalue %r{i}, %s{i}[{i}] : {result}\n",
            address(register)
        );
    }
    text + &format!("return %s{count} : {result}")
}

/// `nvvm.mma.sync` over `%t`, `%registers` and its operands `%a0` and so on; why not where it is of another kind.
pub(super) fn multiply(op: Op) -> Result<String, &'static str> {
    const OTHER: &str = "a matrix instruction that is not of 16x8 tiles of tf32, f16 or bf16 needs a card";
    let text = |name: &str| op.attr(name).map(|a| a.to_string()).unwrap_or_default();
    let shape = text("shape");
    let types = [text("multiplicandAPtxType"), text("multiplicandBPtxType")];
    let segments = op.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).unwrap_or_default();
    let [a, b, c] = segments[..] else { return Err(OTHER) };
    let kind = match types.each_ref().map(|t| t.trim_start_matches("#nvvm.mma_type<").trim_end_matches('>')) {
        ["tf32", "tf32"] => 0,
        ["f16" | "", "f16" | ""] if op.operand(0).ty().is("vector<2xf16>") => 1,
        ["bf16", "bf16"] => 2,
        _ => return Err(OTHER),
    };
    let layouts = text("layoutA").contains("row") && text("layoutB").contains("col");
    let (sum, result) = (op.operand((a + b) as usize).ty().to_string(), op.result(0).ty().to_string());
    let inside = result.strip_prefix("!llvm.struct<(").and_then(|r| r.strip_suffix(")>")).unwrap_or_default();
    let same = !inside.is_empty() && inside == vec![sum.as_str(); c as usize].join(", ");
    if !shape.contains("m = 16, n = 8") || !layouts || !same || (a + b + c) as usize > REGISTERS {
        return Err(OTHER);
    }
    let mut made = String::new();
    for (i, operand) in op.operands().iter().enumerate() {
        made += &format!("{}llvm.store %a{i}, %p{i} : {}, !llvm.ptr\n", address(i), operand.ty());
    }
    let narrow = sum == "vector<2xf16>";
    made += &format!(
        "%kind = llvm.mlir.constant({kind} : i32) : i32\n%narrow = llvm.mlir.constant({narrow}) : i1\n\
         %na = llvm.mlir.constant({a} : i32) : i32\n%nb = llvm.mlir.constant({b} : i32) : i32\n\
         llvm.call @tinymlirEmulatedMultiply(%t, %kind, %narrow, %na, %nb, %registers) : (!llvm.ptr, i32, i1, i32, i32, !llvm.ptr) -> ()\n"
    );
    // The sums' places have their addresses already; the text takes them anew.
    let tail = results((a + b) as usize, c as usize, &sum, &result).replace("%p", "%q");
    Ok(made + &tail)
}

/// `nvvm.ldmatrix`, likewise, and how many matrices it loads.
pub(super) fn load(op: Op) -> Result<(String, i64), &'static str> {
    let text = |name: &str| op.attr(name).map(|a| a.to_string()).unwrap_or_default();
    let count = op.attr("num").and_then(|n| n.as_int()).unwrap_or(0);
    if !text("eltType").contains("b16") || !text("shape").contains("m = 8, n = 8") || !(1..=4).contains(&count) {
        return Err("a load of matrices that are not 8x8 of 16 bits needs a card");
    }
    let transpose = text("layout").contains("col");
    let made = format!(
        "%transpose = llvm.mlir.constant({transpose}) : i1\n%count = llvm.mlir.constant({count} : i32) : i32\n\
         %row = llvm.addrspacecast %a0 : !llvm.ptr<3> to !llvm.ptr\n\
         llvm.call @tinymlirEmulatedLoadMatrix(%t, %transpose, %count, %row, %registers) : (!llvm.ptr, i1, i32, !llvm.ptr, !llvm.ptr) -> ()\n{}",
        results(0, count as usize, "i32", &op.result(0).ty().to_string())
    );
    Ok((made, count))
}
