// RUN: tinymlir-opt %s --tinymlir-record-signatures | FileCheck %s

// Types, and our attributes of arguments and results, survive the lowering; the attributes of others are not copied.
// CHECK-LABEL: func.func @named(
// CHECK-SAME:    tinymlir.arg_attrs = [{tinymlir.name = "x"}, {}]
// CHECK-SAME:    tinymlir.res_attrs = [{}, {tinymlir.name = "y"}]
// CHECK-SAME:    tinymlir.signature = (memref<2xf32>, i32) -> (i32, memref<2xf32>)
func.func @named(%x: memref<2xf32> {tinymlir.name = "x", llvm.noalias}, %n: i32) -> (i32, memref<2xf32> {tinymlir.name = "y"}) {
  return %n, %x : i32, memref<2xf32>
}

// CHECK-LABEL: func.func @plain(
// CHECK-NOT:     tinymlir.arg_attrs
// CHECK-NOT:     tinymlir.res_attrs
// CHECK-SAME:    tinymlir.signature = (i32) -> i32
func.func @plain(%n: i32) -> i32 {
  return %n : i32
}

// Nobody outside can call it.
// CHECK-LABEL: func.func private @inner(
// CHECK-NOT:     tinymlir.signature
// CHECK:         return
func.func private @inner(%n: i32 {tinymlir.name = "n"}) -> i32 {
  return %n : i32
}
