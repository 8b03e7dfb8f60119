func.func @main(%a: tensor<9xi8>, %b: tensor<9xi8>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %one = arith.constant 1 : i32
  %d0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    tensor.yield %v : i32
  } : tensor<10x10xi32>
  %r = scf.for %i = %c1 to %c10 step %c1 iter_args(%d = %d0) -> (tensor<10x10xi32>) {
    %im = arith.subi %i, %c1 : index
    %p = tensor.extract %a[%im] : tensor<9xi8>
    %e = scf.for %j = %c1 to %c10 step %c1 iter_args(%f = %d) -> (tensor<10x10xi32>) {
      %jm = arith.subi %j, %c1 : index
      %q = tensor.extract %b[%jm] : tensor<9xi8>
      %ne = arith.cmpi ne, %p, %q : i8
      %cost = arith.extui %ne : i1 to i32
      %x = tensor.extract %f[%im, %jm] : tensor<10x10xi32>
      %y = tensor.extract %f[%im, %j] : tensor<10x10xi32>
      %z = tensor.extract %f[%i, %jm] : tensor<10x10xi32>
      %xs = arith.addi %x, %cost : i32
      %ys = arith.addi %y, %one : i32
      %zs = arith.addi %z, %one : i32
      %m = arith.minsi %xs, %ys : i32
      %n = arith.minsi %m, %zs : i32
      %g = tensor.insert %n into %f[%i, %j] : tensor<10x10xi32>
      scf.yield %g : tensor<10x10xi32>
    }
    scf.yield %e : tensor<10x10xi32>
  }
  %o = tensor.extract %r[%c9, %c9] : tensor<10x10xi32>
  return %o : i32
}
