// The kernels of rows and of attention of one row at the sizes that benches/gpu/rows.py measures.
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#key = affine_map<(b, i, j) -> (j)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#all2 = affine_map<(i, j) -> (i, j)>
#row2 = affine_map<(i, j) -> (i)>
#column2 = affine_map<(i, j) -> (j)>

func.func @softmax(%x: memref<16384x4096xf32>, %y: memref<16384x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %max = memref.alloc() : memref<16384xf32>
  %sum = memref.alloc() : memref<16384xf32>
  %e = memref.alloc() : memref<16384x4096xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<16384xf32>)
  linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<16384x4096xf32>) outs(%max : memref<16384xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all2, #row2, #all2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<16384x4096xf32>, memref<16384xf32>) outs(%e : memref<16384x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<16384xf32>)
  linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<16384x4096xf32>) outs(%sum : memref<16384xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all2, #row2, #all2], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<16384x4096xf32>, memref<16384xf32>) outs(%y : memref<16384x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %max : memref<16384xf32>
  memref.dealloc %sum : memref<16384xf32>
  memref.dealloc %e : memref<16384x4096xf32>
  return
}

func.func @layer_norm(%x: memref<16384x4096xf32>, %g: memref<4096xf32>, %b: memref<4096xf32>, %y: memref<16384x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %sum = memref.alloc() : memref<16384xf32>
  %centred = memref.alloc() : memref<16384x4096xf32>
  %squares = memref.alloc() : memref<16384xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<16384xf32>)
  linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]} ins(%x : memref<16384x4096xf32>) outs(%sum : memref<16384xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all2, #row2, #all2], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<16384x4096xf32>, memref<16384xf32>) outs(%centred : memref<16384x4096xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%squares : memref<16384xf32>)
  linalg.generic {indexing_maps = [#all2, #row2], iterator_types = ["parallel", "reduction"]} ins(%centred : memref<16384x4096xf32>) outs(%squares : memref<16384xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all2, #row2, #column2, #column2, #all2], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %g, %b : memref<16384x4096xf32>, memref<16384xf32>, memref<4096xf32>, memref<4096xf32>) outs(%y : memref<16384x4096xf32>) {
  ^bb0(%a: f32, %s: f32, %gain: f32, %bias: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %epsilon : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %gain : f32
    %5 = arith.addf %4, %bias : f32
    linalg.yield %5 : f32
  }
  return
}

func.func @step(%q: memref<12x1x64xf32>, %k: memref<12x1024x64xf32>, %v: memref<12x1024x64xf32>, %mask: memref<1024xi1>, %r: memref<12x1x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %s = memref.alloc() : memref<12x1x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<12x1x1024xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<12x1x64xf32>, memref<12x1024x64xf32>) outs(%s : memref<12x1x1024xf32>)
  linalg.generic {indexing_maps = [#key, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask : memref<1024xi1>) outs(%s : memref<12x1x1024xf32>) {
  ^bb0(%keeps: i1, %x: f32):
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  }
  %max = memref.alloc() : memref<12x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<12x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<12x1x1024xf32>) outs(%max : memref<12x1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<12x1x1024xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<12x1x1024xf32>, memref<12x1xf32>) outs(%e : memref<12x1x1024xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  }
  %sum = memref.alloc() : memref<12x1xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<12x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : memref<12x1x1024xf32>) outs(%sum : memref<12x1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.addf %x, %out : f32
    linalg.yield %m : f32
  }
  %o = memref.alloc() : memref<12x1x64xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<12x1x64xf32>)
  linalg.batch_matmul ins(%e, %v : memref<12x1x1024xf32>, memref<12x1024x64xf32>) outs(%o : memref<12x1x64xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %sum : memref<12x1x64xf32>, memref<12x1xf32>) outs(%r : memref<12x1x64xf32>) {
  ^bb0(%x: f32, %l: f32, %out: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  }
  return
}
