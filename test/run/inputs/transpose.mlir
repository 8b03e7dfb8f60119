// Behind templates/transpose_tf32.mlir, whose module stays open: T[b, n, k] = B[b, k, n] for two matrices of 37 x 68. T has 40 columns.
func.func @main(%b: memref<2x37x68xf32>) -> memref<2x68x40xf32> {
  %t = memref.alloc() : memref<2x68x40xf32>
  %b_any = memref.cast %b : memref<2x37x68xf32> to !view
  %t_any = memref.cast %t : memref<2x68x40xf32> to !view
  func.call @transpose(%b_any, %t_any) : (!view, !view) -> ()
  return %t : memref<2x68x40xf32>
}
// Halves of the last place that stays are rounded away from zero; infinities, zeros and NaN stay.
func.func @edges() -> memref<1x4x4xf32> {
  %b = memref.get_global @edges_in : memref<1x1x4xf32>
  %in = memref.alloc() : memref<1x1x4xf32>
  memref.copy %b, %in : memref<1x1x4xf32> to memref<1x1x4xf32>
  %t = memref.alloc() : memref<1x4x4xf32>
  %b_any = memref.cast %in : memref<1x1x4xf32> to !view
  %t_any = memref.cast %t : memref<1x4x4xf32> to !view
  func.call @transpose(%b_any, %t_any) : (!view, !view) -> ()
  return %t : memref<1x4x4xf32>
}
// 1 + 2^-11, -(1 + 2^-11), minus infinity, a NaN whose bits are all set.
memref.global "private" constant @edges_in : memref<1x1x4xf32> = dense<[[[0x3F801000, 0xBF801000, 0xFF800000, 0x7FFFFFFF]]]>
}
