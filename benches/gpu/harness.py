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
