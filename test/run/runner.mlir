// The runner's arguments and outputs.

// Two results, arguments by name and index; a scalar's range; integers without a range are zeros.
// RUN: tinymlir-runner %s -e f --arg a=iota --arg 2=7 2>%t.notes | FileCheck %s
// CHECK:      result 0:
// CHECK-NEXT: {{\[\[ 0.  2.  4.\]$}}
// CHECK-NEXT: {{^ \[ 6.  8. 10.\]\]$}}
// CHECK-NEXT: result 1:
// CHECK-NEXT: {{^7$}}
// CHECK-NEXT: result 2:
// CHECK-NEXT: {{^\[0 0\]$}}
// RUN: FileCheck %s --check-prefix=NOTES --input-file=%t.notes
// NOTES: note: argument 1: tensor<2xi64>: zeros
// NOTES-NOT: note

// What is left over is made up, the same each time, and announced; --strict-args refuses.
// RUN: tinymlir-runner %s -e f -o 0=%t.1.npy 2>&1 | FileCheck %s --check-prefix=FILLED
// RUN: tinymlir-runner %s -e f -o 0=%t.2.npy 2>%t.notes && cmp %t.1.npy %t.2.npy
// FILLED: note: argument 0 (a): tensor<2x3xf32>: random, seed 0
// FILLED: note: argument 2: i32: random, seed 2
// FILLED: result 1:
// FILLED-NEXT: {{^[3-8]$}}
// RUN: %fails tinymlir-runner %s -e f --strict-args 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: argument 0 (a) is not given: tensor<2x3xf32>

// A saved output is an argument and an expectation; the last --arg counts.
// RUN: tinymlir-runner %s -e f --arg a=ones --arg 2=3 -o 0=%t.twos.npy
// RUN: tinymlir-runner %s -e f --arg a=zeros --arg 0=%t.twos.npy --arg 2=3 -o 0=%t.fours.npy -o 1=%t.k.npy -o 2=%t.i.npy | count 0
// RUN: tinymlir-runner %s -e f --arg a=2 --arg 2=3 --expect 0=%t.fours.npy 2>%t.notes | FileCheck %s --check-prefix=EQUAL
// EQUAL-NOT: result 0:{{$}}
// EQUAL: result 0: equal (rtol 1e-5, atol 1e-8)
// RUN: %fails tinymlir-runner %s -e f --arg a=2.25 --arg 2=3 --expect 0=%t.fours.npy 2>&1 | FileCheck %s --check-prefix=APART
// RUN: tinymlir-runner %s -e f --arg a=2.25 --arg 2=3 --expect 0=%t.fours.npy --rtol 0.2
// APART: error: result 0: 6 of 6 elements differ; largest difference 5e-1; worst at [0, 0]: got 4.5, expected 4.0 (rtol 1e-5, atol 1e-8)

// Timing.
// RUN: tinymlir-runner %s -e f --repeat 3 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: 3 calls: least {{[0-9.]+}} ms, median

// Which functions there are.
// RUN: tinymlir-runner %s --list | FileCheck %s --check-prefix=LIST
// RUN: %fails tinymlir-runner %s 2>&1 | FileCheck %s --check-prefix=WHICH
// LIST:      @f(a: tensor<2x3xf32>, tensor<2xi64>, i32) -> (tensor<2x3xf32>, i32, tensor<2xi64>)
// LIST-NEXT: @rows(tensor<?x3xf32>) -> (tensor<?x3xf32>)
// LIST-NEXT: @store(x: tensor<2xf32>) -> ()
// LIST-NOT:  @helper
// WHICH: error: which function? Give -e with one of f, rows, store

// Dynamic sizes come from a file or are given.
// RUN: tinymlir-runner %s -e rows --arg 0=iota@2x3 | FileCheck %s --check-prefix=ROWS
// RUN: %fails tinymlir-runner %s -e rows 2>&1 | FileCheck %s --check-prefix=SIZES
// ROWS:      {{^\[\[0. 1. 2.\]$}}
// ROWS-NEXT: {{^ \[3. 4. 5.\]\]$}}
// SIZES: error: argument 0: the sizes of tensor<?x3xf32> are not known: give it a file, or sizes as in random@2x3

// An argument that the function wrote to is an output.
// RUN: tinymlir-runner %s -e store --arg x=iota | FileCheck %s --check-prefix=STORE
// RUN: tinymlir-runner %s -e store --arg x=iota -o x=%t.x.npy
// STORE: {{^\[9. 1.\]$}}

// Lowered modules are called through their recorded signature; every stage is an input.
// RUN: tinymlir-runner %s --emit lowered -O0 | tinymlir-runner - -e f --arg a=iota --arg 2=7 2>%t.notes | FileCheck %s
// RUN: tinymlir-runner %s --emit bufferized | tinymlir-runner - -e f --arg a=iota --arg 2=7 2>%t.notes | FileCheck %s
// RUN: tinymlir-runner %s --emit optimized | tinymlir-runner - -e store --arg x=iota | FileCheck %s --check-prefix=STORE
// RUN: tinymlir-runner %s --emit llvm | FileCheck %s --check-prefix=LLVM
// RUN: tinymlir-opt %s --emit-bytecode -o %t.mlirbc && tinymlir-runner %t.mlirbc -e store --arg x=iota | FileCheck %s --check-prefix=STORE
// LLVM: define {{.*}} @f(ptr

func.func @f(%a: tensor<2x3xf32> {tinymlir.name = "a"}, %i: tensor<2xi64>, %k: i32 {tinymlir.range = [3, 9]}) -> (tensor<2x3xf32>, i32, tensor<2xi64>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.add ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r, %k, %i : tensor<2x3xf32>, i32, tensor<2xi64>
}
func.func @rows(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %a : tensor<?x3xf32>
}
func.func @store(%x: memref<2xf32> {tinymlir.name = "x"}) {
  %c0 = arith.constant 0 : index
  call @helper(%x, %c0) : (memref<2xf32>, index) -> ()
  return
}
func.func private @helper(%x: memref<2xf32>, %i: index) {
  %v = arith.constant 9.0 : f32
  memref.store %v, %x[%i] : memref<2xf32>
  return
}
