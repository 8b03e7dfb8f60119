"""GPT-2 in stock `mlir-opt` and `mlir-runner`, from the functions that tinymlir emits, by passes of upstream's alone.

Elementwise operations are fused, bufferization is one-shot and in place, products and the rest become loops, and LLVM
compiles those at level 3: what upstream has without a schedule written for the model. Each call is a run of `mlir-runner`
that reads the weights from a file and times itself.
"""

import os
import re
import subprocess
import tempfile

import emitted
import model
import numpy as np

PREFIX = os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")
TENSORS = (
    "canonicalize,cse,linalg-fuse-elementwise-ops,canonicalize,cse,eliminate-empty-tensors,empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},"
    "drop-equivalent-buffer-results,buffer-deallocation-pipeline,canonicalize,cse"
)
MEMREFS = (
    "func.func(convert-linalg-to-loops,scf-forall-to-for,loop-invariant-code-motion),expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,math-expand-ops{ops=tanh},convert-math-to-llvm,convert-math-to-libm,arith-expand,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)
LIBRARY = """
  func.func private @rtclock() -> f64
  func.func private @printF64(f64)
  func.func private @printNewline()
  llvm.mlir.global internal constant @file("{file}\\00")
  llvm.mlir.global internal constant @out("{out}\\00")
  llvm.mlir.global internal constant @read("rb\\00")
  llvm.mlir.global internal constant @write("wb\\00")
  llvm.func @fopen(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.func @fread(!llvm.ptr, i64, i64, !llvm.ptr) -> i64
  llvm.func @fwrite(!llvm.ptr, i64, i64, !llvm.ptr) -> i64
  llvm.func @fclose(!llvm.ptr) -> i32
"""


def mlir_opt(text, passes):
    command = [os.path.join(PREFIX, "bin/mlir-opt"), f"--pass-pipeline=builtin.module({passes})"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def memref(ty):
    return "memref" + ty[len("tensor") :]


def pointer(value, ty, name):
    return [
        f"%index_{name} = memref.extract_aligned_pointer_as_index {value} : {ty} -> index",
        f"%integer_{name} = arith.index_cast %index_{name} : index to i64",
        f"%pointer_{name} = llvm.inttoptr %integer_{name} : i64 to !llvm.ptr",
    ]


def main(arguments, function, calls, results):
    """A function that reads every argument from the file, calls `function`, times more calls and writes the logits."""
    lines = ["%one = arith.constant 1 : i64", "%path = llvm.mlir.addressof @file : !llvm.ptr", "%rb = llvm.mlir.addressof @read : !llvm.ptr"]
    lines += ["%file = llvm.call @fopen(%path, %rb) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr"]
    for i, (_, ty) in enumerate(arguments):
        size = 4 * int(np.prod(emitted.shape(ty)[0]))
        lines += [f"%a{i} = memref.alloc() : {memref(ty)}", *pointer(f"%a{i}", memref(ty), f"a{i}"), f"%size{i} = arith.constant {size} : i64"]
        lines += [f"%got{i} = llvm.call @fread(%pointer_a{i}, %one, %size{i}, %file) : (!llvm.ptr, i64, i64, !llvm.ptr) -> i64"]
    lines += ["%closed = llvm.call @fclose(%file) : (!llvm.ptr) -> i32"]
    operands = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(memref(ty) for _, ty in arguments)
    returned = ", ".join(results)
    # A step writes the next token and position over its arguments, so that each call goes on from the one before.
    for call in range(calls):
        lines += [f"%start{call} = func.call @rtclock() : () -> f64", f"%r{call}:{len(results)} = func.call @{function}({operands}) : ({types}) -> ({returned})"]
        lines += [f"%end{call} = func.call @rtclock() : () -> f64", f"%time{call} = arith.subf %end{call}, %start{call} : f64"]
        lines += [f"func.call @printF64(%time{call}) : (f64) -> ()", "func.call @printNewline() : () -> ()"]
    logits = next(i for i, ty in enumerate(results) if ty == f"memref<1x{model.VOCABULARY}xf32>")
    lines += pointer(f"%r0#{logits}", results[logits], "logits")
    lines += [f"%bytes = arith.constant {4 * model.VOCABULARY} : i64", "%target = llvm.mlir.addressof @out : !llvm.ptr", "%wb = llvm.mlir.addressof @write : !llvm.ptr"]
    lines += ["%sink = llvm.call @fopen(%target, %wb) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr"]
    lines += ["%put = llvm.call @fwrite(%pointer_logits, %one, %bytes, %sink) : (!llvm.ptr, i64, i64, !llvm.ptr) -> i64"]
    lines += ["%done = llvm.call @fclose(%sink) : (!llvm.ptr) -> i32", "return"]
    return "  func.func @main() {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


class Peer:
    title = "stock mlir-opt + mlir-runner 22.1.8"

    def __init__(self, folder):
        self.weights, _ = model.weights(folder)
        self.place = tempfile.mkdtemp(prefix="stock-")

    def run(self, tokens, function, calls, others):
        text = emitted.functions(tokens)[function]
        arguments = emitted.arguments(text)
        data, out = os.path.join(self.place, "arguments"), os.path.join(self.place, "logits")
        with open(data, "wb") as file:
            for name, ty in arguments:
                shape, element = emitted.shape(ty)
                value = self.weights[name] if name in self.weights else others.get(name, np.zeros(shape))
                file.write(np.asarray(value, {"f32": np.float32, "i32": np.int32}[element]).reshape(shape).tobytes())
        private = text.replace("func.func @", "func.func private @", 1)
        memrefs = mlir_opt("module {\n" + private + "}\n", TENSORS)
        signature = re.search(rf"func\.func private @{function}\(.*?\) -> \(?(.*?)\)? \{{", memrefs, flags=re.S)[1]
        results = re.findall(r"memref<[^>]*>", signature)
        end = memrefs.rindex("}")
        library = LIBRARY.replace("{file}", data).replace("{out}", out)
        lowered = mlir_opt(memrefs[:end] + library + main(arguments, function, calls, results) + "}\n", MEMREFS)
        runner = [os.path.join(PREFIX, "bin/mlir-runner"), "-O3", "-e", "main", "--entry-point-result=void"]
        runner += [f"--shared-libs={PREFIX}/lib/libmlir_c_runner_utils.so,{PREFIX}/lib/libmlir_runner_utils.so"]
        run = subprocess.run(runner, input=lowered, capture_output=True, text=True, check=True)
        return [float(line) for line in run.stdout.split()], np.fromfile(out, np.float32)

    def time(self, kind, size, calls):
        """Seconds of each call but the first, and the logits of that."""
        if kind == "prefill":
            seconds, logits = self.run(size, "prefill", calls + 1, {"ids": model.prompt(size), "length": [size]})
        else:
            seconds, logits = self.run(1, "step", calls + 1, {"token": [0], "position": [size], **self.cache(size)})
        return seconds[1:], logits

    def cache(self, position):
        """The keys and values of the prompt before `position`, from NumPy."""
        import numpy_peer

        filled = numpy_peer.Peer.__new__(numpy_peer.Peer)
        filled.w, filled.cache = self.weights, np.zeros((2, model.LAYERS, model.HEADS, model.CONTEXT, model.DEPTH), np.float32)
        filled.fill(model.prompt(position))
        return {f"h.{layer}.cache.{part}": filled.cache[i, layer] for i, part in enumerate("kv") for layer in range(model.LAYERS)}
