func.func @main(%x: tensor<?x4x9x10xf32>, %w: tensor<5x4x3x3xf32>, %b: tensor<5xf32>) -> tensor<?x5x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4x9x10xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<?x4x9x10xf32> to tensor<?x4x11x12xf32>
  %h = tensor.dim %p, %c2 : tensor<?x4x11x12xf32>
  %v = tensor.dim %p, %c3 : tensor<?x4x11x12xf32>
  %oh = affine.apply affine_map<()[s0] -> ((s0 - 5) floordiv 2 + 1)>()[%h]
  %ow = affine.apply affine_map<()[s0] -> ((s0 - 5) floordiv 2 + 1)>()[%v]
  %e = tensor.empty(%n, %oh, %ow) : tensor<?x5x?x?xf32>
  %bb = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<?x5x?x?xf32>) dimensions = [0, 2, 3]
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<2> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<?x4x11x12xf32>, tensor<5x4x3x3xf32>) outs(%bb : tensor<?x5x?x?xf32>) -> tensor<?x5x?x?xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(n,c,h,w)->(n,c,h,w)>, affine_map<(n,c,h,w)->(n,c,h,w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<?x5x?x?xf32>) outs(%e : tensor<?x5x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.cmpf ugt, %a, %z : f32
    %s = arith.select %t, %a, %z : f32
    linalg.yield %s : f32
  } -> tensor<?x5x?x?xf32>
  return %q : tensor<?x5x?x?xf32>
}
