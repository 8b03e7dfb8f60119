// RUN: %fails tinymlir-opt %s --tinymlir-tuned-matmul=precision=fp8 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: %fails tinymlir-opt %s --tinymlir-tuned-matmul=chip=gfx90a 2>&1 | FileCheck %s --check-prefix=CHIP

// PRECISION: error: 'builtin.module' op cannot choose kernels: a precision is fp32, tf32 or bf16, not `fp8`
// CHIP: error: 'builtin.module' op cannot choose kernels: chip 'gfx90a' is none (sm_NN)
func.func @empty() {
  return
}
