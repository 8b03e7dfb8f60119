#in = affine_map<(n,f,h,w,c,i,j)->(n,c,h+i,w+j)>
#w = affine_map<(n,f,h,w,c,i,j)->(c,f,i,j)>
#o = affine_map<(n,f,h,w,c,i,j)->(n,f,h,w)>
func.func @main(%x: tensor<2x3x5x5xf32>, %w: tensor<3x4x3x3xf32>) -> tensor<2x4x7x7xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<2x3x5x5xf32> to tensor<2x3x9x9xf32>
  %we = tensor.empty() : tensor<3x4x3x3xf32>
  %wf = linalg.generic {indexing_maps = [affine_map<(a,b,i,j)->(a,b,i,j)>], iterator_types = ["parallel","parallel","parallel","parallel"]} outs(%we : tensor<3x4x3x3xf32>) {
  ^bb0(%q: f32):
    %c2 = arith.constant 2 : index
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ri = arith.subi %c2, %i : index
    %rj = arith.subi %c2, %j : index
    %v = tensor.extract %w[%a, %b, %ri, %rj] : tensor<3x4x3x3xf32>
    linalg.yield %v : f32
  } -> tensor<3x4x3x3xf32>
  %e = tensor.empty() : tensor<2x4x7x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x7x7xf32>) -> tensor<2x4x7x7xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #o], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]} ins(%p, %wf : tensor<2x3x9x9xf32>, tensor<3x4x3x3xf32>) outs(%f : tensor<2x4x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x4x7x7xf32>
  return %r : tensor<2x4x7x7xf32>
}
