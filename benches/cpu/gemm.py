"""The products of a prefill alone, by the fastest CBLAS that is here: a bound on what a pass over that many tokens can take."""

import ctypes
import os
import time

import model
import numpy as np

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


def libraries():
    """Each CBLAS that is here: a name, and `sgemm(m, n, k, a, b, c)` on pointers."""
    wheel, system = os.path.join(os.path.dirname(np.__file__), "../numpy.libs"), "libopenblas.so.0"
    found = [(f"OpenBLAS of NumPy {np.__version__}", os.path.join(wheel, f), "scipy_cblas_sgemm64_", ctypes.c_int64) for f in os.listdir(wheel) if "openblas" in f]
    found += [("OpenBLAS of the system", system, "cblas_sgemm", ctypes.c_int)]
    try:
        import scipy_openblas32

        folder = scipy_openblas32.get_lib_dir()
        found += [("OpenBLAS of scipy-openblas32", os.path.join(folder, f), "scipy_cblas_sgemm", ctypes.c_int) for f in os.listdir(folder) if f.endswith(".so")]
    except ImportError:
        pass
    for name, path, symbol, integer in found:
        try:
            function = getattr(ctypes.CDLL(path), symbol)
        except (OSError, AttributeError):
            continue
        function.restype = None
        function.argtypes = [ctypes.c_int] * 3 + [integer] * 3 + [ctypes.c_float, ctypes.c_void_p, integer, ctypes.c_void_p, integer, ctypes.c_float, ctypes.c_void_p, integer]
        yield name, lambda m, n, k, a, b, c, f=function: f(ROW_MAJOR, PLAIN, PLAIN, m, n, k, 1.0, a, k, b, n, 0.0, c, n)
    try:
        import torch

        def mkl(m, n, k, a, b, c):
            view = lambda p, rows, columns: torch.from_numpy(np.ctypeslib.as_array(ctypes.cast(p, ctypes.POINTER(ctypes.c_float)), (rows, columns)))
            torch.mm(view(a, m, k), view(b, k, n), out=view(c, m, n))

        if torch.backends.mkl.is_available():
            yield "MKL of PyTorch", mkl
    except ImportError:
        pass


def seconds(sgemm, tokens, rounds):
    """The sum of the medians of the products, each with weights that no cache holds: those of twelve layers in turn."""
    total = 0.0
    for count, m, n, k in model.products(tokens):
        weights = [np.full((k, n), 0.01, np.float32) for _ in range(count)]
        a, c = np.ones((m, k), np.float32), np.empty((m, n), np.float32)
        times = []
        for _ in range(rounds + 1):
            start = time.perf_counter()
            for b in weights:
                sgemm(m, n, k, a.ctypes.data, b.ctypes.data, c.ctypes.data)
            times.append(time.perf_counter() - start)
        total += float(np.median(times[1:]))
    return total


def best(tokens, rounds=3):
    """The fastest library's name and seconds."""
    return min(((seconds(sgemm, tokens, rounds), name) for name, sgemm in libraries()), default=(None, None))
