// A function that calls itself.
// RUN: tinymlir-runner %s --strict-args --arg 0=5 | FileCheck %s
// CHECK: 120
func.func private @fact(%n: i64) -> i64 {
 %z = arith.constant 0 : i64
 %one = arith.constant 1 : i64
 %c = arith.cmpi sle, %n, %z : i64
 %r = scf.if %c -> i64 { scf.yield %one : i64 } else {
  %m = arith.subi %n, %one : i64
  %f = func.call @fact(%m) : (i64) -> i64
  %p = arith.muli %n, %f : i64
  scf.yield %p : i64 }
 return %r : i64 }
func.func @main(%n: i64) -> i64 { 
 %r = call @fact(%n) : (i64) -> i64
 return %r : i64 }
