// RUN: %fails tinymlir-opt %s --tinymlir-tuned-matmul=precision=fp8 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: %fails tinymlir-opt %s --tinymlir-tuned-matmul=chip=gfx90a 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: %fails tinymlir-opt %s --tinymlir-tuned-matmul=reductions=any 2>&1 | FileCheck %s --check-prefix=REDUCTIONS

// PRECISION: error: 'builtin.module' op cannot choose kernels: a precision is fp32, tf32 or bf16, not `fp8`
// CHIP: error: 'builtin.module' op cannot choose kernels: chip 'gfx90a' is none (sm_NN)
// REDUCTIONS: error: 'builtin.module' op cannot choose kernels: reductions are ordered or atomic, not `any`
func.func @empty() {
  return
}
