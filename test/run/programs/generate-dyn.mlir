// tensor.generate of dynamic size.
// RUN: tinymlir-runner %s --strict-args --arg 0=3 | FileCheck %s
// CHECK: {{\[\[}}0 1]
// CHECK-NEXT: [1 2]
// CHECK-NEXT: [2 3]]
func.func @main(%n: index) -> tensor<?x2xi64> {
 %g = tensor.generate %n {
 ^bb0(%i: index, %j: index):
  %s = arith.addi %i, %j : index
  %v = arith.index_cast %s : index to i64
  tensor.yield %v : i64
 } : tensor<?x2xi64>
 return %g : tensor<?x2xi64> }
