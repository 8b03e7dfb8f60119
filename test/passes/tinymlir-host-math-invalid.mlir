// RUN: tinymlir-opt %s --tinymlir-host-math -verify-diagnostics

func.func private @expm1(vector<2xf64>) -> vector<2xf64>

func.func @f(%x: f64) -> f64 {
  // expected-error @below {{needs a function @expm1 of type (f64) -> f64, but the module has one of type (vector<2xf64>) -> vector<2xf64> (rename it)}}
  %0 = math.expm1 %x : f64
  return %0 : f64
}
