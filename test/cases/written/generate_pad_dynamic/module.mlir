func.func @main(%x: tensor<?x3xf32>, %n: index) -> (tensor<?x5xf32>, tensor<?xindex>) {
  %z = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 1] high[%n, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x3xf32> to tensor<?x5xf32>
  %g = tensor.generate %n {
  ^bb0(%i: index):
    %q = arith.muli %i, %i : index
    tensor.yield %q : index
  } : tensor<?xindex>
  return %p, %g : tensor<?x5xf32>, tensor<?xindex>
}
