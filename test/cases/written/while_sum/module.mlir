func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, i32) {
  %n0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %lim = arith.constant 1000.0 : f32
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r:2 = scf.while (%t = %x, %n = %n0) : (tensor<8xf32>, i32) -> (tensor<8xf32>, i32) {
    %s = linalg.reduce {arith.addf} ins(%t : tensor<8xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %v = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf olt, %v, %lim : f32
    scf.condition(%c) %t, %n : tensor<8xf32>, i32
  } do {
  ^bb0(%t: tensor<8xf32>, %n: i32):
    %d = arith.mulf %t, %two : tensor<8xf32>
    %m = arith.addi %n, %c1 : i32
    scf.yield %d, %m : tensor<8xf32>, i32
  }
  return %r#0, %r#1 : tensor<8xf32>, i32
}
