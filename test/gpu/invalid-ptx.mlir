// PTX that the driver does not take is refused with the driver's own log when the module is loaded, before anything runs.
// REQUIRES: cuda
// RUN: %fails tinymlir-runner %s --gpu -e main 2>&1 | FileCheck %s
// CHECK-NOT: 7777
// CHECK: error: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (kernel @bad, sm_{{[0-9]+}}): {{.*}}
// CHECK-NOT: 7777
module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_75">, assembly = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry bad() { no.such.instruction; }\0A\00">]
func.func private @printI64(i64)
func.func @main() {
  %before = arith.constant 7777 : i64
  call @printI64(%before) : (i64) -> ()
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@bad blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}
