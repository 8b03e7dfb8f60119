// Operands of different dynamic size.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota@3 --arg 1=iota@4 2>&1 | FileCheck %s
// CHECK: 'linalg.add' op sizes differ: 4 and 3, along dimension 0 of operand 1 and dimension 0 of operand 0
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
 %c0 = arith.constant 0 : index
 %d = tensor.dim %x, %c0 : tensor<?xf32>
 %e = tensor.empty(%d) : tensor<?xf32>
 %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
 return %r : tensor<?xf32> }
