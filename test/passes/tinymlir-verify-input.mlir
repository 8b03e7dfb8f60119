// RUN: tinymlir-opt %s --tinymlir-verify-input | FileCheck %s

// A resource that the file holds is there.
// CHECK-LABEL: func.func @held(
// CHECK:         dense_resource<w>
func.func @held() -> tensor<2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2xf32>
  return %w : tensor<2xf32>
}

// A private function gives way to the C function of its name, in its calls as well.
// CHECK-LABEL: func.func private @tanh_of_module(
// CHECK-LABEL: func.func @calls(
// CHECK:         call @tanh_of_module(
func.func private @tanh(%x: f32) -> f32 {
  return %x : f32
}
func.func @calls(%x: f32) -> f32 {
  %r = call @tanh(%x) : (f32) -> f32
  return %r : f32
}

// A declaration is a call of the C function, and what nothing calls is anyone's name.
// CHECK: func.func private @erff(f32) -> f32
func.func private @erff(f32) -> f32
// CHECK: func.func @malloc(
func.func @malloc(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// A barrier in a branch or a loop that all threads of a block take together is one.
// CHECK-LABEL: func.func @uniform(
// CHECK-COUNT-2: gpu.barrier
func.func @uniform(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
    }
    %first = arith.cmpi eq, %bx, %c0 : index
    scf.if %first {
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
