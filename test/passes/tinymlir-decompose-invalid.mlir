// RUN: tinymlir-opt %s --tinymlir-decompose -verify-diagnostics -split-input-file

func.func @packdyn(%x: tensor<?x4xf32>, %e: tensor<?x2x?x2xf32>, %t: index) -> tensor<?x2x?x2xf32> {
  // expected-error @below {{'linalg.pack' op cannot be lowered: it needs static tiles and tensors}}
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [%t, 2] into %e : tensor<?x4xf32> -> tensor<?x2x?x2xf32>
  return %r : tensor<?x2x?x2xf32>
}

// -----

// Upstream's decomposition crashes on it.
func.func @softmax(%x: tensor<2x8xi32>, %e: tensor<2x8xi32>) -> tensor<2x8xi32> {
  // expected-error @below {{'linalg.softmax' op cannot be lowered: its elements are no floating-point numbers}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8xi32>) outs(%e : tensor<2x8xi32>) -> tensor<2x8xi32>
  return %r : tensor<2x8xi32>
}

// -----

// Upstream's decomposition leaves operations that mix both.
func.func @buffers(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @below {{'linalg.softmax' op cannot be lowered: its operands are buffers (use tensors)}}
  linalg.softmax dimension(0) ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @winograd(%filter: tensor<2x3x3x5xindex>, %out: tensor<6x6x5x2xindex>) -> tensor<6x6x5x2xindex> {
  // expected-error @below {{'linalg.winograd_filter_transform' op cannot be lowered: its elements are no floating-point numbers}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%filter : tensor<2x3x3x5xindex>) outs(%out : tensor<6x6x5x2xindex>) -> tensor<6x6x5x2xindex>
  return %0 : tensor<6x6x5x2xindex>
}

// -----

func.func @winograd_output(%value: tensor<6x6x1x1x2x2xi32>, %out: tensor<2x4x4x2xi32>) -> tensor<2x4x4x2xi32> {
  // expected-error @below {{'linalg.winograd_output_transform' op cannot be lowered: its elements are no floating-point numbers}}
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%value : tensor<6x6x1x1x2x2xi32>) outs(%out : tensor<2x4x4x2xi32>) -> tensor<2x4x4x2xi32>
  return %0 : tensor<2x4x4x2xi32>
}

// -----

func.func @winograd_double(%filter: tensor<2x3x3x5xf64>, %out: tensor<6x6x5x2xf64>) -> tensor<6x6x5x2xf64> {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op cannot be lowered: its elements are not f32 (convert them)}}
  %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%filter : tensor<2x3x3x5xf64>) outs(%out : tensor<6x6x5x2xf64>) -> tensor<6x6x5x2xf64>
  return %r : tensor<6x6x5x2xf64>
}

// -----

func.func @slice_size(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %a = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' op takes 2 elements where its result has 1, along dimension 1 (correct its start, size or type)}}
  %r = tosa.slice %x, %a, %b : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// -----

func.func @slice_past(%x: tensor<2x3xf32>) -> tensor<2x?xf32> {
  %a = tosa.const_shape {values = dense<[0, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' op takes 2 elements from 2 on of 3, along dimension 1 (correct its start, size or type)}}
  %r = tosa.slice %x, %a, %b : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{'tosa.tanh' op has a value of unknown rank, tensor<*xf32> (give it one with tensor.cast)}}
  %r = tosa.tanh %x : (tensor<*xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @custom(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tosa.custom' op has no lowering (write it with operations of linalg, tensor, arith, math or scf)}}
  %0 = tosa.custom %x {operator_name = "my_op", domain_name = "d", implementation_attrs = ""} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @cut(%x: tensor<3xf32>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %c9 = arith.constant 9 : index
  // expected-error @below {{'tensor.pad' op cuts off 4 elements along dimension 0, which has 3 (pad it by no less than -3)}}
  %0 = tensor.pad %x low[-4] high[%c9] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<3xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @layout(%x: memref<3x4xf32>) {
  // expected-error @below {{'memref.alloc' op makes a buffer of type memref<3x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, whose layout is no strides, and is used by more than loads and stores (use the shape in memory)}}
  %a = memref.alloc() : memref<3x4xf32, affine_map<(i, j) -> (j, i)>>
  memref.copy %x, %a : memref<3x4xf32> to memref<3x4xf32, affine_map<(i, j) -> (j, i)>>
  return
}

// -----

// expected-error @below {{'func.func' op has an argument or result of type memref<3x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, whose layout is no strides (use the shape in memory)}}
func.func @layout_argument(%x: memref<3x4xf32, affine_map<(i, j) -> (j, i)>>) {
  return
}

// -----

func.func @atomic(%m: memref<3xf64>, %v: f64, %i: index) {
  // expected-error @below {{'memref.atomic_rmw' op updates a floating-point number as no target does atomically (use one add, maximum or minimum)}}
  %o = memref.atomic_rmw mulf %v, %m[%i] : (f64, memref<3xf64>) -> f64
  return
}

// -----

func.func @generic_atomic(%m: memref<3xf32>, %v: f32, %i: index) {
  // expected-error @below {{'memref.generic_atomic_rmw' op updates a floating-point number as no target does atomically (use one add, maximum or minimum)}}
  %o = memref.generic_atomic_rmw %m[%i] : memref<3xf32> {
  ^bb0(%old: f32):
    %new = arith.subf %v, %old : f32
    memref.atomic_yield %new : f32
  }
  return
}
