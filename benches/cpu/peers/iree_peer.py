"""GPT-2 in IREE, from the functions that tinymlir emits (linalg on tensors), compiled for this machine's CPU at level 3.

The cache becomes mutable globals, as IREE's models keep state, and the loop that writes its new rows an insert_slice: IREE takes
no `scf.forall` as input. The globals get their zeros by a call: as initial values, IREE 3.13 lets equal ones share memory that is
then updated in place. The weights are arguments in IREE's memory.
"""

import hashlib
import os
import re

import emitted
import iree.compiler
import iree.runtime
import model
import numpy as np
from iree.compiler import version as compiler_version

# Its default limit of the stack refuses the layer norm of 128 rows.
FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=262144"]
LOOP = re.compile(
    r"^    (%\w+) = scf\.forall \([^)]*\) in \((\d+), (\d+), (\d+)\) shared_outs\(%\w+ = (%[\w.]+)\) -> \((tensor<[^>]*>)\) \{\n"
    r"(.*?)tensor\.extract_slice (%\w+)\[.*?\] : (tensor<[^>]*>) to .*?^    \}\n",
    flags=re.S | re.M,
)


def insert(match):
    result, *sizes, cache, cache_type, before, rows, rows_type = match.groups()
    # What the loop's body computed of the position: a scalar that it extracts, or none where it is the constant 0.
    position = re.search(r"tensor\.extract (%[\w.]+)\[[^\]]*\] : (tensor<[^>]*>)", before)
    name = result[1:]
    lines = [f"%zero_{name} = arith.constant 0 : index"]
    if position:
        source, ty = position.groups()
        indices = "" if ty == "tensor<i32>" else f"%zero_{name}"
        lines += [f"%value_{name} = tensor.extract {source}[{indices}] : {ty}", f"%row_{name} = arith.index_cast %value_{name} : i32 to index"]
    else:
        lines += [f"%row_{name} = arith.constant 0 : index"]
    sizes = ", ".join(sizes)
    lines += [f"{result} = tensor.insert_slice {rows} into {cache}[0, %row_{name}, 0] [{sizes}] [1, 1, 1] : {rows_type} into {cache_type}"]
    return "".join(f"    {line}\n" for line in lines)


def adapted(functions):
    """The module, and the names of the arguments that are left of each function."""
    names, texts, declared = {}, [], {}
    for name, text in functions.items():
        every = emitted.arguments(text)
        caches = {argument: ty for argument, ty in every if ".cache." in argument}
        kept = [(argument, ty) for argument, ty in every if argument not in caches]
        declared |= caches
        values, types = emitted.results(text)
        body = text[text.index(" {\n", text.index(") -> (")) + 3 : text.rindex("    return ")]
        symbol = {argument: "@" + argument.replace(".", "_") for argument in caches}
        loads = "".join(f"    %{a} = util.global.load {symbol[a]} : {ty}\n" for a, ty in caches.items())
        # After the token and the logits come the arrays of the cache, in the order of the arguments.
        stores = zip(values[2:], caches.items())
        stores = "".join(f"    util.global.store {value}, {symbol[a]} : {ty}\n" for value, (a, ty) in stores)
        head = ", ".join(f"%{argument}: {ty}" for argument, ty in kept)
        texts.append(f"  func.func @{name}({head}) -> {types[1]} {{\n{loads}{LOOP.sub(insert, body)}{stores}    return {values[1]} : {types[1]}\n  }}\n")
        names[name] = [argument for argument, _ in kept]
    symbols = {a: (a.replace(".", "_"), ty) for a, ty in declared.items()}
    globals_ = "".join(f"  util.global private mutable @{symbol} : {ty}\n" for symbol, ty in symbols.values())
    head = ", ".join(f"%{symbol}: {ty}" for symbol, ty in symbols.values())
    stores = "".join(f"    util.global.store %{symbol}, @{symbol} : {ty}\n" for symbol, ty in symbols.values())
    names["reset"] = list(declared)
    return f"module {{\n{globals_}  func.func @reset({head}) {{\n{stores}    return\n  }}\n" + "".join(texts) + "}\n", names


class Peer:
    title = f"IREE {compiler_version.VERSION}, tinymlir's linalg"

    def __init__(self, folder):
        weights, _ = model.weights(folder)
        self.folder, self.programs = folder, {}
        config = iree.runtime.Config("local-task")
        self.device, self.instance = config.device, config.vm_instance
        self.config = config
        self.weights = {name: iree.runtime.asdevicearray(self.device, np.array(array)) for name, array in weights.items()}

    def program(self, tokens):
        if tokens not in self.programs:
            text, names = adapted(emitted.functions(tokens))
            digest = hashlib.sha256(repr((text, FLAGS, self.title)).encode()).hexdigest()[:16]
            path = os.path.join(self.folder, f"iree-{digest}.vmfb")
            if not os.path.exists(path):
                code = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="auto", extra_args=FLAGS)
                with open(path + ".part", "wb") as out:
                    out.write(code)
                os.replace(path + ".part", path)
            loaded = iree.runtime.SystemContext(config=self.config)
            with open(path, "rb") as file:
                loaded.add_vm_module(iree.runtime.VmModule.copy_buffer(self.instance, file.read()))
            module = loaded.modules.module
            zeros = np.zeros((model.HEADS, model.CONTEXT, model.DEPTH), np.float32)
            module.reset(*(iree.runtime.asdevicearray(self.device, zeros) for _ in names["reset"]))
            self.programs[tokens] = (module, names)
        return self.programs[tokens]

    def call(self, tokens, function, **others):
        module, names = self.program(tokens)
        others = {name: iree.runtime.asdevicearray(self.device, np.array(value, np.int32)) for name, value in others.items()}
        arguments = [self.weights[name] if name in self.weights else others[name] for name in names[function]]
        return module[function](*arguments).to_host()[0]

    def prefill(self, ids):
        return self.call(len(ids), "prefill", ids=ids, length=[len(ids)])

    def fill(self, ids):
        # Step by step: the cache of a position is the one that these functions share.
        tokens = 1 << (len(ids) - 1).bit_length()
        self.filled = tokens
        self.call(tokens, "prefill", ids=ids + [0] * (tokens - len(ids)), length=[len(ids)])

    def decode(self, token, position):
        return self.call(self.filled, "step", token=[token], position=[position])
