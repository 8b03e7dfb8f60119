// Every product kernel of the selection table once: what benches/gpu/build makes PTX of.
#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>

func.func @tiled(%a: memref<1024x3072xf32>, %b: memref<3072x768xf32>, %c: memref<1024x768xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x768xf32>)
  linalg.matmul ins(%a, %b : memref<1024x3072xf32>, memref<3072x768xf32>) outs(%c : memref<1024x768xf32>)
  return
}
func.func @tiled_low(%a: memref<1024x768xf32>, %b: memref<768x2304xf32>, %c: memref<1024x2304xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x2304xf32>)
  linalg.matmul ins(%a, %b : memref<1024x768xf32>, memref<768x2304xf32>) outs(%c : memref<1024x2304xf32>)
  return
}
func.func @tiled_tail(%a: memref<4096x4096xf32>, %b: memref<4096x4096xf32>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4096x4096xf32>)
  linalg.matmul ins(%a, %b : memref<4096x4096xf32>, memref<4096x4096xf32>) outs(%c : memref<4096x4096xf32>)
  return
}
func.func @tiled_nt(%a: memref<1024x768xf32>, %b: memref<50257x768xf32>, %c: memref<1024x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x50257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1024x768xf32>, memref<50257x768xf32>) outs(%c : memref<1024x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @skinny_1(%a: memref<1x768xf32>, %b: memref<768x2304xf32>, %c: memref<1x2304xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1x2304xf32>)
  linalg.matmul ins(%a, %b : memref<1x768xf32>, memref<768x2304xf32>) outs(%c : memref<1x2304xf32>)
  return
}
func.func @skinny_nt_1(%a: memref<1x768xf32>, %b: memref<50257x768xf32>, %c: memref<1x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1x50257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x768xf32>, memref<50257x768xf32>) outs(%c : memref<1x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @skinny_4(%a: memref<4x768xf32>, %b: memref<768x2304xf32>, %c: memref<4x2304xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x2304xf32>)
  linalg.matmul ins(%a, %b : memref<4x768xf32>, memref<768x2304xf32>) outs(%c : memref<4x2304xf32>)
  return
}
func.func @skinny_nt_4(%a: memref<4x768xf32>, %b: memref<50257x768xf32>, %c: memref<4x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x50257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x768xf32>, memref<50257x768xf32>) outs(%c : memref<4x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @skinny_8(%a: memref<8x768xf32>, %b: memref<768x2304xf32>, %c: memref<8x2304xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x2304xf32>)
  linalg.matmul ins(%a, %b : memref<8x768xf32>, memref<768x2304xf32>) outs(%c : memref<8x2304xf32>)
  return
}
func.func @skinny_nt_8(%a: memref<8x768xf32>, %b: memref<50257x768xf32>, %c: memref<8x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x50257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x768xf32>, memref<50257x768xf32>) outs(%c : memref<8x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @tiled_32(%a: memref<32x768xf32>, %b: memref<768x2304xf32>, %c: memref<32x2304xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x2304xf32>)
  linalg.matmul ins(%a, %b : memref<32x768xf32>, memref<768x2304xf32>) outs(%c : memref<32x2304xf32>)
  return
}
func.func @tiled_32_nt(%a: memref<32x768xf32>, %b: memref<50257x768xf32>, %c: memref<32x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x50257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x768xf32>, memref<50257x768xf32>) outs(%c : memref<32x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
