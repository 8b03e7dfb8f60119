// Loops whose step is not positive, which would not end.
// RUN: %fails tinymlir-runner %s -e for --strict-args --arg 0=0 2>&1 | FileCheck %s --check-prefix=FOR
// RUN: tinymlir-runner %s -e for --strict-args --arg 0=3 | FileCheck %s --check-prefix=FINE
// RUN: %fails tinymlir-runner %s -e parallel --strict-args --arg 0=-1 2>&1 | FileCheck %s --check-prefix=PARALLEL
// FOR: 'scf.for' op has a step that is not positive
// FINE: 4
// PARALLEL: 'scf.parallel' op has a step that is not positive
func.func @for(%s: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %s iter_args(%a = %c0) -> index {
    %b = arith.addi %a, %c1 : index
    scf.yield %b : index
  }
  return %r : index
}
func.func @parallel(%s: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.parallel (%i, %j) = (%c0, %c0) to (%c10, %c10) step (%c1, %s) init (%c0) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %t = arith.addi %a, %b : index
      scf.reduce.return %t : index
    }
  }
  return %r : index
}
