// A recursive function over tensors.
// RUN: tinymlir-runner %s --strict-args --arg 0=3 --arg 1=ones | FileCheck %s
// CHECK: [8. 8.]
func.func private @rec(%n: i64, %x: tensor<2xf32>) -> tensor<2xf32> {
 %z = arith.constant 0 : i64
 %one = arith.constant 1 : i64
 %c = arith.cmpi sle, %n, %z : i64
 %r = scf.if %c -> tensor<2xf32> { scf.yield %x : tensor<2xf32> } else {
  %m = arith.subi %n, %one : i64
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %f = func.call @rec(%m, %y) : (i64, tensor<2xf32>) -> tensor<2xf32>
  scf.yield %f : tensor<2xf32> }
 return %r : tensor<2xf32> }
func.func @main(%n: i64, %x: tensor<2xf32>) -> tensor<2xf32> { 
 %r = call @rec(%n, %x) : (i64, tensor<2xf32>) -> tensor<2xf32>
 return %r : tensor<2xf32> }
