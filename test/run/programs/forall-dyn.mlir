// scf.forall of dynamic size.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@3 | FileCheck %s
// CHECK: [0. 2. 4.]
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
 %c0 = arith.constant 0 : index
 %d = tensor.dim %x, %c0 : tensor<?xf32>
 %e = tensor.empty(%d) : tensor<?xf32>
 %r = scf.forall (%i) in (%d) shared_outs(%o = %e) -> tensor<?xf32> {
  %s = tensor.extract_slice %x[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %q = tensor.extract_slice %o[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %a = linalg.add ins(%s, %s : tensor<1xf32>, tensor<1xf32>) outs(%q : tensor<1xf32>) -> tensor<1xf32>
  scf.forall.in_parallel { tensor.parallel_insert_slice %a into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32> }
 }
 return %r : tensor<?xf32> }
