// Kernels that a person wrote: reductions of a subgroup in every width, and printing.
// RUN: tinymlir-runner %s --gpu --emulate --arg 0=1.5 --arg 1=iota --arg 2=2 --arg 3=iota --arg 4=iota | FileCheck %s
// CHECK: lane 31: 31.0, 100% of 32
// CHECK-LABEL: argument 0:
// 32 times 1.5.
// CHECK-NEXT: [48. 48.
// CHECK-LABEL: argument 1:
// The largest of four.
// CHECK-NEXT: [ 3. 3. 3. 3. 7.
// CHECK-LABEL: argument 2:
// The product of each fourth.
// CHECK-NEXT: [256. 256.
// CHECK-LABEL: argument 3:
// 0 xor 1, 2 xor 3.
// CHECK-NEXT: [1 1 1 1
// CHECK-LABEL: argument 4:
// The product, which is 0, and the largest.
// CHECK-NEXT: [31 31
module attributes {gpu.container_module} {
  gpu.module @"hand written" {
    gpu.func @"k\22"(%f: memref<32xf32>, %h: memref<32xf16>, %d: memref<32xf64>, %b: memref<32xi8>, %i: memref<32xi32>) kernel {
      %t = gpu.thread_id x
      %vf = memref.load %f[%t] : memref<32xf32>
      %rf = gpu.subgroup_reduce add %vf : (f32) -> f32
      memref.store %rf, %f[%t] : memref<32xf32>
      %vh = memref.load %h[%t] : memref<32xf16>
      %rh = gpu.subgroup_reduce maximumf %vh cluster(size = 4) : (f16) -> f16
      memref.store %rh, %h[%t] : memref<32xf16>
      %vd = memref.load %d[%t] : memref<32xf64>
      %rd = gpu.subgroup_reduce mul %vd cluster(size = 8, stride = 4) : (f64) -> f64
      memref.store %rd, %d[%t] : memref<32xf64>
      %vb = memref.load %b[%t] : memref<32xi8>
      %rb = gpu.subgroup_reduce xor %vb cluster(size = 2) : (i8) -> i8
      memref.store %rb, %b[%t] : memref<32xi8>
      %vi = memref.load %i[%t] : memref<32xi32>
      %product = gpu.subgroup_reduce mul %vi : (i32) -> i32
      %largest = gpu.subgroup_reduce maxsi %vi : (i32) -> i32
      %ri = arith.addi %product, %largest : i32
      memref.store %ri, %i[%t] : memref<32xi32>
      %c31 = arith.constant 31 : index
      %last = arith.cmpi eq, %t, %c31 : index
      scf.if %last {
        %n = arith.constant 32 : i32
        %x = arith.sitofp %vi : i32 to f32
        gpu.printf "lane %lld: %.1f, 100%% of %d\n", %t, %x, %n : index, f32, i32
      }
      gpu.return
    }
  }
  func.func @main(%f: memref<32xf32> {tinymlir.writable}, %h: memref<32xf16> {tinymlir.writable}, %d: memref<32xf64> {tinymlir.writable}, %b: memref<32xi8> {tinymlir.writable}, %i: memref<32xi32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @"hand written"::@"k\22" blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%f : memref<32xf32>, %h : memref<32xf16>, %d : memref<32xf64>, %b : memref<32xi8>, %i : memref<32xi32>)
    return
  }
}
