// RUN: tinymlir-opt %s --tinymlir-verify-input -split-input-file -verify-diagnostics

func.func @elided() -> tensor<2xf32> {
  // expected-error @below {{'arith.constant' op has no elements: the file does not hold the resource '__elided__', which was left out when it was printed (print it with neither --mlir-elide-elementsattrs-if-larger nor --mlir-elide-resource-strings-if-larger)}}
  %w = arith.constant dense_resource<__elided__> : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

// expected-error @below {{'memref.global' op has no elements: the file does not hold the resource 'weights'}}
memref.global constant @w : memref<2xf32> = dense_resource<weights>

// -----

// expected-error @below {{'func.func' op has the name of a function that compiled code calls, 'expf' (give it another, or make it private)}}
func.func @expf(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has the name of a function that compiled code calls, 'memcpy'}}
func.func @memcpy() {
  return
}

// -----

// expected-error @below {{has the name of a function that compiled code calls, 'tinymlirParallelFor'}}
func.func @tinymlirParallelFor(%n: i64) {
  return
}

// -----

func.func @barrier(%m: memref<40xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c7 = arith.constant 7 : index
    %in = arith.cmpi ult, %tx, %c7 : index
    // expected-note @below {{whether 'scf.if' runs it depends on the thread}}
    scf.if %in {
      // expected-error @below {{'gpu.barrier' op is reached by some threads of a block only, which is undefined and may hang (move it out of the branch)}}
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

// -----

gpu.module @kernels {
  gpu.func @loop(%n: index) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    // expected-note @below {{whether 'scf.for' runs it depends on the thread}}
    scf.for %i = %t to %n step %c1 {
      // expected-error @below {{'gpu.barrier' op is reached by some threads of a block only}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

#sparse = #sparse_tensor.encoding<{map = (d) -> (d : compressed)}>
// expected-error @below {{'func.func' op has a value of type tensor<4xf32, #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>: tensors with an encoding are not supported (lower them first)}}
func.func @sparse(%x: tensor<4xf32, #sparse>) {
  return
}

// -----

func.func @outer() {
  return
}
// expected-error @+1 {{'builtin.module' op with functions is inside of another module, which is not supported (give it alone)}}
module {
  func.func @inner() {
    return
  }
}

// -----

func.func @too_large() -> tensor<1048576x1048576x1048576xf32> {
  // expected-error-re @+1 {{'arith.constant' op has 4611686018427387904 bytes, more than this machine's memory of {{[0-9]+}} (make it smaller, or broadcast a smaller one)}}
  %c = arith.constant dense<1.0> : tensor<1048576x1048576x1048576xf32>
  return %c : tensor<1048576x1048576x1048576xf32>
}

// -----

func.func @small_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.truncf' op has a value of type tensor<4xf8E4M3FN>: floats of less than 16 bits are not supported (use f16 or bf16)}}
  %t = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  %r = arith.extf %t : tensor<4xf8E4M3FN> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op has two arguments with the 'tinymlir.name' "x" (rename one)}}
func.func @twice(%x: tensor<4xf32> {tinymlir.name = "x"}, %y: tensor<4xf32> {tinymlir.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has 3 : i32 as 'tinymlir.name' of argument 0 (give a string)}}
func.func @number(%x: tensor<4xf32> {tinymlir.name = 3 : i32}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has [4] as 'tinymlir.range' of argument 0, which is of type tensor<4xi32> (give [FIRST, END] to an argument of integers)}}
func.func @half_range(%x: tensor<4xi32> {tinymlir.range = [4]}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has [0, 4] as 'tinymlir.range' of argument 0, which is of type tensor<4xf32> (give [FIRST, END] to an argument of integers)}}
func.func @range_of_floats(%x: tensor<4xf32> {tinymlir.range = [0, 4]}) {
  return
}

// -----

// expected-error @+1 {{'ml_program.global' op is of type memref<2xf32>: only tensors are supported (use a tensor, or memref.global)}}
ml_program.global private mutable @g(dense<4.0> : memref<2xf32>) : memref<2xf32>

// -----

// expected-error @+1 {{'func.func' op has an argument or result of type tuple<f32, f32>, which is not supported (use integers or floats)}}
func.func @tuple(%x: tuple<f32, f32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has an argument or result of type memref<4xtf32>, which is not supported (use integers or floats)}}
func.func @tf32(%x: memref<4xtf32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has the name of an intrinsic function of LLVM's, 'llvm.memcpy' (rename it)}}
func.func @llvm.memcpy() {
  return
}

// -----

// expected-error @+1 {{'func.func' op has a zero byte in its name (rename it)}}
func.func @"a\00b"() {
  return
}

// -----

// Upstream compares sizes where it knows all of them: here the batch hides what does not fit.
func.func @inner_sizes(%a: tensor<?x4xf32>, %b: tensor<5x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'linalg.matmul' op sizes differ: 5 and 4, along dimension 0 of operand 1 and dimension 1 of operand 0}}
  %r = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<5x8xf32>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

func.func @window(%a: memref<?x1x11x5xf32>, %b: memref<1x1x4x3xf32>, %c: memref<?x1x4x3xf32>) {
  // expected-error @+1 {{'linalg.conv_2d_nchw_fchw' op window is out of bounds: it reaches index 12 of dimension 2 of operand 0, whose size is 11}}
  linalg.conv_2d_nchw_fchw {dilations = dense<[2, 1]> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%a, %b : memref<?x1x11x5xf32>, memref<1x1x4x3xf32>) outs(%c : memref<?x1x4x3xf32>)
  return
}

// -----

// A map that counts down reads before the first element.
func.func @reversed(%a: memref<?x3xf32>, %b: memref<?x4xf32>) {
  // expected-error @+1 {{'linalg.generic' op window is out of bounds: it reaches index -1 of dimension 1 of operand 0, whose size is 3}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 2 - j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<?x3xf32>) outs(%b : memref<?x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

func.func @short() -> tensor<5xf32> {
  // expected-error @+1 {{'arith.constant' op has a resource of 5 bytes where tensor<5xf32> takes 20 (correct the type or the data)}}
  %c = arith.constant dense_resource<short> : tensor<5xf32>
  return %c : tensor<5xf32>
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x080000000100010100"
    }
  }
#-}
