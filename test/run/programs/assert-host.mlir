// A failing assertion on the host.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=0 2>&1 | FileCheck %s
// CHECK: n must be positive
func.func @main(%n: i32) -> i32 {
 %z = arith.constant 0 : i32
 %c = arith.cmpi sgt, %n, %z : i32
 cf.assert %c, "n must be positive"
 return %n : i32 }
