// Products of rows and a matrix of N x K, of every remainder.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>

func.func @even(%a: memref<12x256xf32>, %b: memref<96x256xf32>, %c: memref<12x96xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<12x96xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<12x256xf32>, memref<96x256xf32>) outs(%c : memref<12x96xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @rests(%a: memref<7x301xf32>, %b: memref<65x301xf32>, %c: memref<7x65xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<7x65xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<7x301xf32>, memref<65x301xf32>) outs(%c : memref<7x65xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @two(%a: memref<2x130xf32>, %b: memref<130x130xf32>, %c: memref<2x130xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x130xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<2x130xf32>, memref<130x130xf32>) outs(%c : memref<2x130xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @long(%a: memref<5x2311xf32>, %b: memref<21x2311xf32>, %c: memref<5x21xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x21xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<5x2311xf32>, memref<21x2311xf32>) outs(%c : memref<5x21xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @blocks(%a: memref<150x300xf32>, %b: memref<61x300xf32>, %c: memref<150x61xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<150x61xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<150x300xf32>, memref<61x300xf32>) outs(%c : memref<150x61xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @added(%a: memref<5x301xf32>, %b: memref<65x301xf32>, %c: memref<5x65xf32> {tinymlir.writable}) {
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<5x301xf32>, memref<65x301xf32>) outs(%c : memref<5x65xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @bf16(%a: memref<7x301xf32>, %b: memref<65x301xbf16>, %c: memref<7x65xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<7x65xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<7x301xf32>, memref<65x301xbf16>) outs(%c : memref<7x65xf32>) {
  ^bb0(%x: f32, %w: bf16, %s: f32):
    %wc = arith.extf %w : bf16 to f32
    %p = arith.mulf %x, %wc : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @half(%a: memref<5x301xf16>, %b: memref<65x301xf16>, %c: memref<5x65xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x65xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<5x301xf16>, memref<65x301xf16>) outs(%c : memref<5x65xf32>) {
  ^bb0(%x: f16, %w: f16, %s: f32):
    %xc = arith.extf %x : f16 to f32
    %wc = arith.extf %w : f16 to f32
    %p = arith.mulf %xc, %wc : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @i8(%a: memref<5x301xf32>, %b: memref<65x301xi8>, %c: memref<5x65xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x65xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<5x301xf32>, memref<65x301xi8>) outs(%c : memref<5x65xf32>) {
  ^bb0(%x: f32, %w: i8, %s: f32):
    %wc = arith.sitofp %w : i8 to f32
    %p = arith.mulf %x, %wc : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

func.func @f64(%a: memref<5x301xf64>, %b: memref<65x301xf64>, %c: memref<5x65xf64> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%c : memref<5x65xf64>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<5x301xf64>, memref<65x301xf64>) outs(%c : memref<5x65xf64>) {
  ^bb0(%x: f64, %w: f64, %s: f64):
    %p = arith.mulf %x, %w : f64
    %t = arith.addf %s, %p : f64
    linalg.yield %t : f64
  }
  return
}

func.func @turned(%a: memref<7x301xf32>, %b: memref<65x301xf32>, %c: memref<65x7xf32> {tinymlir.writable}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<65x7xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #nm], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<7x301xf32>, memref<65x301xf32>) outs(%c : memref<65x7xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
