memref.global "private" constant @w : memref<8xf32> = dense<[1.0, -2.0, 3.0, 0.5, 4.0, 0.0, 1.0, 2.0]>
func.func @main(%x: memref<6x8xf32>) -> memref<3x8xf32> {
  %w = memref.get_global @w : memref<8xf32>
  %s = memref.subview %x[1, 0] [3, 8] [2, 1] : memref<6x8xf32> to memref<3x8xf32, strided<[16, 1], offset: 8>>
  %o = memref.alloc() : memref<3x8xf32>
  linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%s, %w : memref<3x8xf32, strided<[16, 1], offset: 8>>, memref<8xf32>) outs(%o : memref<3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  }
  return %o : memref<3x8xf32>
}
