func.func @main(%x: tensor<3x4xf32>, %n: tensor<i32>) -> tensor<3x4xf32> {
  %i0 = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = tosa.while_loop (%a = %x, %i = %i0) : (tensor<3x4xf32>, tensor<i32>) -> (tensor<3x4xf32>, tensor<i32>) {
    %c = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<3x4xf32>, %i: tensor<i32>):
    %b = tosa.add %a, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %j = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %b, %j : tensor<3x4xf32>, tensor<i32>
  }
  return %r#0 : tensor<3x4xf32>
}
