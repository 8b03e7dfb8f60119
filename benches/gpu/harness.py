"""Launches kernels that the compiler made, from their PTX, and times them beside torch in the same process."""

import ctypes
import os
import statistics

import torch
from cuda.bindings import driver

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "out")


def check(result):
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA: {result[0]}")
    return result[1] if len(result) == 2 else result[1:]


class Module:
    """The kernels of a PTX file in benches/gpu/out."""

    def __init__(self, name):
        torch.zeros(1, device="cuda")  # makes the context
        with open(os.path.join(OUT, name + ".ptx"), "rb") as file:
            code = file.read()
        self.text = code.decode()
        self.module = check(driver.cuModuleLoadData(code + b"\0"))
        self.functions = {}

    def launch(self, kernel, grid, block, arguments, shared=0):
        """Arguments: View (a memref descriptor) or int (an index); `shared` is bytes of dynamic shared memory."""
        if kernel not in self.functions:
            self.functions[kernel] = check(driver.cuModuleGetFunction(self.module, kernel.encode()))
        values = []
        for argument in arguments:
            values += argument.words() if isinstance(argument, View) else [argument]
        stream = torch.cuda.current_stream().cuda_stream
        packed = (tuple(values), (ctypes.c_int64,) * len(values))
        check(driver.cuLaunchKernel(self.functions[kernel], grid, 1, 1, block, 1, 1, shared, stream, packed, 0))


class View:
    """A memref descriptor over a tensor: sizes and strides in elements."""

    def __init__(self, tensor, sizes, strides, offset=0):
        self.tensor, self.sizes, self.strides, self.offset = tensor, sizes, strides, offset

    def words(self):
        pointer = self.tensor.data_ptr()
        return [pointer, pointer, self.offset, *self.sizes, *self.strides]


def compare(label, ours, theirs, c, exact, operations, most_error):
    """Runs a product that writes `c` twice, times it beside `theirs`, and prints a line: rates, the largest error relative to
    the largest element of `exact`, and whether both runs gave the same bits."""
    ours()
    error = (c.double() - exact).abs().max().item() / exact.abs().max().item()
    first = c.clone()
    ours()
    same = "same" if torch.equal(first, c) else "DIFFERS"
    time, base = median_us(ours), median_us(theirs)
    bad = "" if error < most_error else "  WRONG"
    print(f"{label:52s} {time:8.2f} us {operations / time / 1e6:6.1f} TFLOP/s  cuBLAS {operations / base / 1e6:6.1f}"
          f"  {100 * base / time:5.1f} %  error {error:.1e} {same}{bad}", flush=True)


def gelu_after(product, bias):
    """What the modules of products compute of one: GELU with tanh of its sum with a row."""
    return torch.nn.functional.gelu(product + bias.to(product.dtype), approximate="tanh")


def allow_shared(function, size):
    """Lets a kernel have so many bytes of dynamic shared memory."""
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuFuncSetAttribute(function, attribute, size))


def up(a, b):
    return -(-a // b)


def median_us(run, repeats=9, target_us=3000):
    """The median time of one call in microseconds, many calls in one CUDA graph."""
    run()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    end.synchronize()
    calls = max(2, min(100, int(target_us / max(1.0, start.elapsed_time(end) * 1e3))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)
