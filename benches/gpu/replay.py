"""The launches of a function of GPT-2, and nothing else, as one CUDA graph: how long all take, and each kind one behind another.

    emit="tinymlir-gpt2 emit step --model random:124M --gpu --schedule fast --memory device --chip sm_90a"
    $emit --stage outlined -o step.mlir && $emit --stage ptx -o step.ptx
    python3 benches/gpu/replay.py step [NAME...]

NAME.mlir is a module with one function, such as `step` or `prefill --tokens 32`, NAME.ptx its kernels. Several names, say of
`--reductions atomic` or of kernels that were changed by hand, are timed in one process. Arguments are random; a function with a
position is timed at 100 and 960. "early" is with programmatic dependent launches, as the runtime launches. "same" says that two
runs leave the same bits in the caches of keys and values.
"""

import ctypes
import math
import re
import statistics
import sys

import torch
from cuda.bindings import driver

from harness import check

BYTES = {"f64": 8, "f32": 4, "i32": 4, "i64": 8, "bf16": 2, "f16": 2, "i8": 1, "i1": 1}
POSITIONS = (100, 960)


def layout(ty):
    """Sizes, strides, offset and element type of a static memref type; what is dynamic reads as the cast's source."""
    sizes, element, strides, offset = re.match(
        r"memref<((?:\d+x)*)(\w+)(?:, strided<\[([^\]]*)\](?:, offset: (\d+))?>)?", ty
    ).groups()
    sizes = [int(size) for size in sizes.split("x") if size]
    if strides is None:
        strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    else:
        strides = [int(stride) for stride in strides.split(",") if stride.strip()]
    return sizes, strides, int(offset or 0), element


def random_argument(name, ty):
    sizes, _, _, element = layout(ty)
    if element in ("i32", "i64", "i8"):
        dtype = {"i32": torch.int32, "i64": torch.int64, "i8": torch.int8}[element]
        return torch.full(sizes, 32, device="cuda", dtype=dtype)
    generator = torch.Generator(device="cuda").manual_seed(int(name[4:]))
    values = torch.randn(sizes, generator=generator, device="cuda") * 0.02
    return values.to({"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[element])


class Launch:
    """A kernel's name, its grid and block, bytes of dynamic workgroup memory, parameters and blocks of a cluster."""

    def __init__(self, kernel, grid, block, shared, words, cluster):
        self.kernel, self.grid, self.block = kernel, grid, block
        self.shared, self.words, self.cluster = shared, words, cluster


class Function:
    """The launches of a module's function, on memory of this process."""

    def __init__(self, name):
        with open(name + ".mlir") as file:
            text = file.read()
        head, *lines = text[re.search(r"func\.func @", text).start() :].split("\n")
        # A value is an index, or a pointer and a static memref type.
        self.values, self.launches = {}, []
        arguments = {}
        names = dict(re.findall(r'(%arg\d+): memref<[^>]*> \{tinymlir\.name = "([^"]*)"', head))
        for argument, ty in re.findall(r"(%arg\d+): (memref<[^>]*>)", head):
            arguments[argument] = random_argument(argument, ty)
            self.values[argument] = (arguments[argument].data_ptr(), ty)
        self.position = [arguments[a] for a, name in names.items() if name == "position"]
        # What a step leaves for the next one, such as its token.
        self.numbers = [array for array in arguments.values() if not array.is_floating_point()]
        self.caches = [arguments[a] for a, name in names.items() if ".cache." in name]
        # Torch returns what nothing holds.
        self.kept = list(arguments.values())
        for line in lines:
            self.read(line.strip())
        with open(name + ".ptx", "rb") as file:
            self.module = check(driver.cuModuleLoadData(file.read() + b"\0"))
        self.functions = {}

    def read(self, line):
        if m := re.match(r"(%\w+) = arith\.constant (-?\d+) : (?:index|i32)", line):
            self.values[m[1]] = int(m[2])
        elif m := re.match(r"(%\w+)(?:, %\w+)? = gpu\.alloc .*: (memref<.*>)$", line):
            sizes, _, _, element = layout(m[2])
            memory = torch.zeros(max(1, math.prod(sizes)) * BYTES[element], dtype=torch.uint8, device="cuda")
            self.kept.append(memory)
            self.values[m[1]] = (memory.data_ptr(), m[2])
        elif m := re.match(r"(%\w+) = memref\.view (%\w+)\[(%\w+)\]\[\] : .* to (memref<.*>)$", line):
            self.values[m[1]] = (self.values[m[2]][0] + self.values[m[3]], m[4])
        elif m := re.match(r"(%\w+) = memref\.(cast|reinterpret_cast|subview|expand_shape|collapse_shape) (%\w+)", line):
            pointer, ty = self.values[m[3]]
            self.values[m[1]] = (pointer, ty if m[2] == "cast" else re.split(r" to | into ", line)[-1])
        elif m := re.match(r"(%\w+), .* = memref\.extract_strided_metadata (%\w+)", line):
            self.values[m[1]] = (self.values[m[2]][0], "memref<f32>")
        elif m := re.search(
            r"gpu\.launch_func .*@\w+::@(\w+) (?:clusters in \((%\w+)[^)]*\) )?blocks in \(([^)]*)\) threads in \(([^)]*)\)"
            r"\s*(?:dynamic_shared_memory_size (%\w+))?\s*args\((.*)\)$",
            line,
        ):
            sizes = lambda names: [self.values[name.strip()] for name in names.split(",")]
            one = lambda name: self.values[name] if name else 0
            words = []
            for name in re.findall(r"(%\w+) : ", m[6]):
                words += self.words(self.values[name])
            self.launches.append(Launch(m[1], sizes(m[3]), sizes(m[4]), one(m[5]), words, one(m[2])))

    @staticmethod
    def words(value):
        """A parameter as 64-bit words: an index, or a memref's descriptor."""
        if isinstance(value, int):
            return [value]
        sizes, strides, offset, _ = layout(value[1])
        return [value[0], value[0], offset, *sizes, *strides]

    def run(self, launches=None, early=True):
        stream = torch.cuda.current_stream().cuda_stream
        for i, launch in enumerate(launches or self.launches):
            if launch.kernel not in self.functions:
                self.functions[launch.kernel] = check(driver.cuModuleGetFunction(self.module, launch.kernel.encode()))
            function = self.functions[launch.kernel]
            if launch.shared > 48 * 1024:
                most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                check(driver.cuFuncSetAttribute(function, most, launch.shared))
            config, attributes = driver.CUlaunchConfig(), []
            config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid
            config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
            config.sharedMemBytes, config.hStream = launch.shared, stream
            if launch.cluster:
                attribute = driver.CUlaunchAttribute()
                attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
                size = attribute.value.clusterDim
                size.x, size.y, size.z = launch.cluster, 1, 1
                attributes.append(attribute)
            if early and i:
                attribute = driver.CUlaunchAttribute()
                attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
                attribute.value.programmaticStreamSerializationAllowed = 1
                attributes.append(attribute)
            if attributes:
                config.attrs, config.numAttrs = attributes, len(attributes)
            packed = (tuple(launch.words), (ctypes.c_int64,) * len(launch.words))
            check(driver.cuLaunchKernelEx(config, function, packed, 0))

    def go_to(self, position):
        for array in self.numbers:
            array.fill_(32)
        for array in self.position:
            array.fill_(position)
        torch.cuda.synchronize()

    def microseconds(self, launches=None, early=True):
        """The median of 25 replays of a graph of these launches, or of all."""
        self.run(launches, early)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.run(launches, early)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(28):
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
        return statistics.median(times[3:])

    def is_repeatable(self):
        left = []
        for _ in range(2):
            self.go_to(900)
            self.run()
            torch.cuda.synchronize()
            left.append([cache.clone() for cache in self.caches])
        return all(torch.equal(a, b) for a, b in zip(*left))


def main():
    torch.zeros(1, device="cuda")  # makes the context
    for name in sys.argv[1:]:
        function = Function(name)
        same = "same" if function.is_repeatable() else "DIFFERS"
        times = []
        for position in POSITIONS if function.position else (0,):
            function.go_to(position)
            times.append(f"{function.microseconds():.1f}")
        late = function.microseconds(early=False)
        print(f"{name}: {len(function.launches)} launches {' / '.join(times)} us; not early {late:.1f}; {same}", flush=True)
        kinds = {}
        for launch in function.launches:
            kinds.setdefault((launch.kernel, *launch.grid), []).append(launch)
        for (kernel, blocks, *_), alike in kinds.items():
            if len(alike) > 4:
                early, late = (function.microseconds(alike, e) / len(alike) for e in (True, False))
                print(f"    {kernel}, {blocks} blocks, {len(alike)} times: {early:.2f} us early, {late:.2f} not", flush=True)


if __name__ == "__main__":
    main()
