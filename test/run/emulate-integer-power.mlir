// A power of integers becomes a loop in a function, which a kernel of rows does not take in.
// RUN: tinymlir-runner %s --gpu --emulate --schedule fast --arg x=iota | FileCheck %s
// CHECK: [ 256 3125]
func.func @main(%x: tensor<3x2xi32> {tinymlir.name = "x"}) -> tensor<2xi32> {
  %least = arith.constant -2147483648 : i32
  %empty = tensor.empty() : tensor<2xi32>
  %init = linalg.fill ins(%least : i32) outs(%empty : tensor<2xi32>) -> tensor<2xi32>
  %m = linalg.reduce ins(%x : tensor<3x2xi32>) outs(%init : tensor<2xi32>) dimensions = [0]
    (%a: i32, %b: i32) {
      %0 = arith.maxsi %a, %b : i32
      linalg.yield %0 : i32
    }
  %p = linalg.map ins(%m, %m : tensor<2xi32>, tensor<2xi32>) outs(%empty : tensor<2xi32>)
    (%a: i32, %b: i32, %o: i32) {
      %0 = math.ipowi %a, %b : i32
      linalg.yield %0 : i32
    }
  return %p : tensor<2xi32>
}
