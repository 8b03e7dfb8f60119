func.func @main(%x: memref<6xf32>) -> memref<3xf32> {
  %r = memref.reinterpret_cast %x to offset: [1], sizes: [3], strides: [2] : memref<6xf32> to memref<3xf32, strided<[2], offset: 1>>
  %o = memref.alloc() : memref<3xf32>
  memref.copy %r, %o : memref<3xf32, strided<[2], offset: 1>> to memref<3xf32>
  return %o : memref<3xf32>
}
