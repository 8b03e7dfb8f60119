// The sum of three parts of a product with bias, residual and a norm of its rows, as tinymlir-tuned-matmul leaves it; and the sum alone.
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#i = affine_map<(i, j) -> (i)>
!part0 = memref<9x132xf32, strided<[132, 1]>>
!part1 = memref<9x132xf32, strided<[132, 1], offset: 1188>>
!part2 = memref<9x132xf32, strided<[132, 1], offset: 2376>>
func.func @norm(%parts: memref<3564xf32>, %bias: memref<132xf32>, %x: memref<9x132xf32>) -> (memref<9x132xf32>, memref<9x132xf32>) {
  %zero = arith.constant 0.0 : f32
  %p0 = memref.reinterpret_cast %parts to offset: [0], sizes: [9, 132], strides: [132, 1] : memref<3564xf32> to !part0
  %p1 = memref.reinterpret_cast %parts to offset: [1188], sizes: [9, 132], strides: [132, 1] : memref<3564xf32> to !part1
  %p2 = memref.reinterpret_cast %parts to offset: [2376], sizes: [9, 132], strides: [132, 1] : memref<3564xf32> to !part2
  %sum = memref.alloc() : memref<9x132xf32>
  linalg.generic {indexing_maps = [#ij, #ij, #ij, #j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %p1, %p2, %bias, %x : !part0, !part1, !part2, memref<132xf32>, memref<9x132xf32>)
      outs(%sum : memref<9x132xf32>) attrs = {tinymlir.parts} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.addf %2, %e : f32
    linalg.yield %3 : f32
  }
  %squares = memref.alloc() : memref<9xf32>
  linalg.fill ins(%zero : f32) outs(%squares : memref<9xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%sum : memref<9x132xf32>) outs(%squares : memref<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %y = memref.alloc() : memref<9x132xf32>
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %squares : memref<9x132xf32>, memref<9xf32>) outs(%y : memref<9x132xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.sqrt %b : f32
    %1 = arith.divf %a, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %squares : memref<9xf32>
  return %sum, %y : memref<9x132xf32>, memref<9x132xf32>
}
func.func @alone(%parts: memref<3564xf32>) -> memref<9x132xbf16> {
  %p0 = memref.reinterpret_cast %parts to offset: [0], sizes: [9, 132], strides: [132, 1] : memref<3564xf32> to !part0
  %p1 = memref.reinterpret_cast %parts to offset: [1188], sizes: [9, 132], strides: [132, 1] : memref<3564xf32> to !part1
  %sum = memref.alloc() : memref<9x132xbf16>
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %p1 : !part0, !part1) outs(%sum : memref<9x132xbf16>) attrs = {tinymlir.parts} {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.addf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  }
  return %sum : memref<9x132xbf16>
}
