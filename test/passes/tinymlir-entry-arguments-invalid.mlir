// RUN: tinymlir-opt %s --tinymlir-entry-arguments -split-input-file -verify-diagnostics

// A loop of branches without an end has no structured form.
func.func @endless(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^end, ^loop(%x : tensor<4xf32>)
^loop(%y: tensor<4xf32>):
  %z = arith.addf %y, %y : tensor<4xf32>
  // expected-error @below {{'cf.br' op leads to no return: the loop has no way out (give it one)}}
  cf.br ^loop(%z : tensor<4xf32>)
^end:
  return %x : tensor<4xf32>
}
