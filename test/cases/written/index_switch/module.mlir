func.func @main(%x: tensor<4xf32>, %s: tensor<i32>) -> tensor<4xf32> {
  %v = tensor.extract %s[] : tensor<i32>
  %i = arith.index_cast %v : i32 to index
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %r = scf.index_switch %i -> tensor<4xf32>
  case 1 {
    %a = arith.addf %x, %two : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  case 2 {
    %a = math.absf %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
