// The runtime serves stock mlir-runner, and prints what LLVM's own runner libraries print.
// REQUIRES: plugin
// RUN: mlir-opt %s --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --expand-strided-metadata \
// RUN:   --finalize-memref-to-llvm=use-generic-functions --convert-func-to-llvm --convert-arith-to-llvm \
// RUN:   --convert-cf-to-llvm --reconcile-unrealized-casts -o %t.mlir
// RUN: mlir-runner %t.mlir -e main -entry-point-result=void --shared-libs=%runtime | FileCheck %s
// RUN: mlir-opt %s --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --expand-strided-metadata \
// RUN:   --finalize-memref-to-llvm --convert-func-to-llvm \
// RUN:   --convert-arith-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts -o %t.mlir
// RUN: mlir-runner %t.mlir -e main -entry-point-result=void \
// RUN:   --shared-libs=%libs/libmlir_runner_utils.so,%libs/libmlir_c_runner_utils.so,%libs/libmlir_float16_utils.so \
// RUN:   | FileCheck %s

memref.global "private" constant @letters : memref<3xi8> = dense<[65, 66, 67]>
memref.global "private" constant @floats : memref<2x3xf32> =
  dense<[[1.0, 2.5, 1.0e10], [1.0e-7, 0x7FC00000, 123456789.0]]>
memref.global "private" constant @complex : memref<2xcomplex<f32>> = dense<[(1.0, 2.0), (-3.5, 0.0)]>
memref.global "private" constant @cube : memref<2x2x2xi32> = dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]>

func.func private @printMemrefI8(memref<*xi8>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefF32(memref<*xf32>)
func.func private @printMemrefC32(memref<*xcomplex<f32>>)
func.func private @printMemrefShapeF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemref1dI8(memref<3xi8>) attributes {llvm.emit_c_interface}
func.func private @verifyMemRefF32(memref<*xf32>, memref<*xf32>) -> i64 attributes {llvm.emit_c_interface}

func.func @main() {
  // An i8 is a character, as in C++.
  // CHECK:      Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 1 offset = 0 sizes = [3] strides = [1] data = {{$}}
  // CHECK-NEXT: {{^}}[A,  B,  C]{{$}}
  %letters = memref.get_global @letters : memref<3xi8>
  %letters_any = memref.cast %letters : memref<3xi8> to memref<*xi8>
  call @printMemrefI8(%letters_any) : (memref<*xi8>) -> ()
  // CHECK-NEXT: {{^}}Memref base@ = 0x{{[0-9a-f]+}} rank = 1
  // CHECK-NEXT: {{^}}[A,  B,  C]{{$}}
  call @printMemref1dI8(%letters) : (memref<3xi8>) -> ()

  // Six significant digits.
  // CHECK:      sizes = [2, 3] strides = [3, 1] data = {{$}}
  // CHECK-NEXT: {{^}}[{{\[}}1,   2.5,   1e+10], {{$}}
  // CHECK-NEXT: {{^}} [1e-07,   nan,   1.23457e+08]]{{$}}
  // CHECK-NEXT: {{^}}Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 2 offset = 0 sizes = [2, 3] strides = [3, 1]{{$}}
  %floats = memref.get_global @floats : memref<2x3xf32>
  %floats_any = memref.cast %floats : memref<2x3xf32> to memref<*xf32>
  call @printMemrefF32(%floats_any) : (memref<*xf32>) -> ()
  call @printMemrefShapeF32(%floats_any) : (memref<*xf32>) -> ()

  // CHECK:      {{^}}[(1,2),  (-3.5,0)]{{$}}
  %complex = memref.get_global @complex : memref<2xcomplex<f32>>
  %complex_any = memref.cast %complex : memref<2xcomplex<f32>> to memref<*xcomplex<f32>>
  call @printMemrefC32(%complex_any) : (memref<*xcomplex<f32>>) -> ()

  // CHECK:      {{^}}[{{\[\[}}1,    2], {{$}}
  // CHECK-NEXT: {{^}}  [3,    4]], {{$}}
  // CHECK-NEXT: {{^}} [{{\[}}5,    6], {{$}}
  // CHECK-NEXT: {{^}}  [7,    8]]]{{$}}
  %cube = memref.get_global @cube : memref<2x2x2xi32>
  %cube_any = memref.cast %cube : memref<2x2x2xi32> to memref<*xi32>
  call @printMemrefI32(%cube_any) : (memref<*xi32>) -> ()

  // A strided copy goes through memrefCopy; rank 0 has brackets.
  // CHECK:      sizes = [2] strides = [1] data = {{$}}
  // CHECK-NEXT: {{^}}[2.5,  nan]{{$}}
  // CHECK:      rank = 0 offset = 0 sizes = [] strides = [] data = {{$}}
  // CHECK-NEXT: {{^}}[1.5]{{$}}
  %column = memref.subview %floats[0, 1] [2, 1] [1, 1] : memref<2x3xf32> to memref<2xf32, strided<[3], offset: 1>>
  %dense = memref.alloc() : memref<2xf32>
  memref.copy %column, %dense : memref<2xf32, strided<[3], offset: 1>> to memref<2xf32>
  %dense_any = memref.cast %dense : memref<2xf32> to memref<*xf32>
  call @printMemrefF32(%dense_any) : (memref<*xf32>) -> ()
  memref.dealloc %dense : memref<2xf32>
  %scalar = memref.alloc() : memref<f32>
  %value = arith.constant 1.5 : f32
  memref.store %value, %scalar[] : memref<f32>
  %scalar_any = memref.cast %scalar : memref<f32> to memref<*xf32>
  call @printMemrefF32(%scalar_any) : (memref<*xf32>) -> ()

  // CHECK-NEXT: {{^}}0{{$}}
  %differences = call @verifyMemRefF32(%scalar_any, %scalar_any) : (memref<*xf32>, memref<*xf32>) -> i64
  vector.print %differences : i64
  memref.dealloc %scalar : memref<f32>

  // CHECK-NEXT: {{^}}( 1.5, 0.0999756 ){{$}}
  // CHECK-NEXT: {{^}}( 1.5, 0.100098 ){{$}}
  // CHECK-NEXT: {{^}}( 1.5, 0.123457 ){{$}}
  // CHECK-NEXT: {{^}}( -1, 18446744073709551615 ){{$}}
  %half = arith.constant dense<[1.5, 0.1]> : vector<2xf16>
  vector.print %half : vector<2xf16>
  %brain = arith.constant dense<[1.5, 0.1]> : vector<2xbf16>
  vector.print %brain : vector<2xbf16>
  %double = arith.constant dense<[1.5, 0.1234567891]> : vector<2xf64>
  vector.print %double : vector<2xf64>
  vector.print punctuation <open>
  %minus = arith.constant -1 : i64
  vector.print %minus : i64 punctuation <comma>
  %all = arith.constant -1 : index
  vector.print %all : index punctuation <no_punctuation>
  vector.print punctuation <close>
  vector.print punctuation <newline>

  // The last line has no end.
  // CHECK-NEXT: {{^}}end{{$}}
  vector.print str "end"
  return
}
