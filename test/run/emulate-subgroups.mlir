// Reductions of a block and shuffles of narrow types, and where a thread is among subgroups.
// RUN: tinymlir-runner %s --gpu --emulate --arg 0=iota --arg 1=iota --arg 2=zeros | FileCheck %s
// CHECK-LABEL: argument 0:
// The largest of 64, less the lane's neighbour of 0 to 63.
// CHECK-NEXT: [62. 63. 60. 61.
// CHECK-LABEL: argument 1:
// 0 + 1 + ... + 63 is 2016, which is -32 in 8 bits.
// CHECK-NEXT: [-32 -32
// CHECK-LABEL: argument 2:
// Two subgroups.
// CHECK-NEXT: [2 2 2
// CHECK: 3 3 3]
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%h: memref<64xf16>, %b: memref<64xi8>, %n: memref<64xi32>) kernel {
      %t = gpu.thread_id x
      %one = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %v = memref.load %h[%t] : memref<64xf16>
      %m = gpu.all_reduce maximumf %v uniform {} : (f16) -> (f16)
      %o, %ok = gpu.shuffle xor %v, %one, %width : f16
      %d = arith.subf %m, %o : f16
      memref.store %d, %h[%t] : memref<64xf16>
      %c = memref.load %b[%t] : memref<64xi8>
      %s = gpu.all_reduce add %c uniform {} : (i8) -> (i8)
      memref.store %s, %b[%t] : memref<64xi8>
      %g = gpu.subgroup_id : index
      %k = gpu.num_subgroups : index
      %l = gpu.subgroup_size : index
      %lanes = arith.constant 32 : index
      %zero = arith.subi %l, %lanes : index
      %q = arith.addi %g, %zero : index
      %a = arith.addi %q, %k : index
      %i = arith.index_cast %a : index to i32
      memref.store %i, %n[%t] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main(%h: memref<64xf16> {tinymlir.writable}, %b: memref<64xi8> {tinymlir.writable}, %n: memref<64xi32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%h : memref<64xf16>, %b : memref<64xi8>, %n : memref<64xi32>)
    return
  }
}
