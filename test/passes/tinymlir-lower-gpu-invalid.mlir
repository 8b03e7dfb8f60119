// RUN: not tinymlir-opt %s --tinymlir-lower-gpu=chip=sm_1 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tinymlir-opt %s --tinymlir-lower-gpu=format=cubin 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tinymlir-opt %s --tinymlir-lower-gpu=toolkit=%t.none 2>&1 | FileCheck %s --check-prefix=TOOLKIT

// CHIP:    error: 'builtin.module' op cannot be lowered: chip 'sm_1' is none of sm_75, sm_80,
// FORMAT:  error: 'builtin.module' op cannot be lowered: format 'cubin' is none of isa, bin, nvvm
// TOOLKIT: error: 'builtin.module' op cannot be lowered: there is no nvvm/libdevice/libdevice.10.bc in {{.*}}.none (run tools/setup, or give toolkit=)
func.func @nothing() {
  return
}
