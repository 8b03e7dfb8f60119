// What was loaded from a global stays what it was, and a value is stored as it is where it is used again.
// RUN: tinymlir-runner %s --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [5 6]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [0 1]
// CHECK-NEXT: result 2:
// CHECK-NEXT: [5 7]
// CHECK-NEXT: result 3:
// CHECK-NEXT: 17
ml_program.global private mutable @n(dense<[5, 6]> : tensor<2xi64>) : tensor<2xi64>
func.func private @swap(%x: tensor<2xi64>) -> tensor<2xi64> {
  %old = ml_program.global_load @n : tensor<2xi64>
  ml_program.global_store @n = %x : tensor<2xi64>
  return %old : tensor<2xi64>
}
func.func private @double() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = ml_program.global_load @n : tensor<2xi64>
  %s = arith.addi %v, %v : tensor<2xi64>
  ml_program.global_store @n = %s : tensor<2xi64>
  %a = tensor.extract %s[%c0] : tensor<2xi64>
  %b = tensor.extract %v[%c1] : tensor<2xi64>
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func @main(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, i64) {
  %a = call @swap(%x) : (tensor<2xi64>) -> tensor<2xi64>
  %y = arith.addi %x, %a : tensor<2xi64>
  %b = call @swap(%y) : (tensor<2xi64>) -> tensor<2xi64>
  %c = call @swap(%y) : (tensor<2xi64>) -> tensor<2xi64>
  %d = call @double() : () -> i64
  return %a, %b, %c, %d : tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, i64
}
