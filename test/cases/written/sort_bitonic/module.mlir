func.func @main(%x: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %kk = %c1 to %c3 step %c1 iter_args(%a = %x) -> (tensor<8xi32>) { scf.yield %a : tensor<8xi32> }
  %s = scf.for %p = %c0 to %c3 step %c1 iter_args(%a = %r) -> (tensor<8xi32>) {
    %k0 = arith.addi %p, %c1 : index
    %k = arith.shli %c1, %k0 : index
    %b = scf.for %q = %c0 to %k0 step %c1 iter_args(%d = %a) -> (tensor<8xi32>) {
      %sh = arith.subi %p, %q : index
      %j = arith.shli %c1, %sh : index
      %n = tensor.generate {
      ^bb0(%i: index):
        %l = arith.xori %i, %j : index
        %u = tensor.extract %d[%i] : tensor<8xi32>
        %v = tensor.extract %d[%l] : tensor<8xi32>
        %lo = arith.minsi %u, %v : i32
        %hi = arith.maxsi %u, %v : i32
        %dirk = arith.andi %i, %k : index
        %up = arith.cmpi eq, %dirk, %c0 : index
        %first = arith.cmpi ult, %i, %l : index
        %take = arith.cmpi eq, %up, %first : i1
        %y = arith.select %take, %lo, %hi : i32
        tensor.yield %y : i32
      } : tensor<8xi32>
      scf.yield %n : tensor<8xi32>
    }
    scf.yield %b : tensor<8xi32>
  }
  return %s : tensor<8xi32>
}
