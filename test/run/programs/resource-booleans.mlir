// A mask in a resource, one byte an element, as torch-mlir writes it.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [ 0. -1.  2.  3. -1.]
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %m = arith.constant dense_resource<mask> : tensor<5xi1>
  %n = arith.constant dense<-1.0> : tensor<5xf32>
  %r = arith.select %m, %x, %n : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

{-#
  dialect_resources: {
    builtin: {
      mask: "0x080000000100010100"
    }
  }
#-}
