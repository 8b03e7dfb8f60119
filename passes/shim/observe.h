// Watching passes and remarks: the shim's side of `ir::observe`.
#pragma once
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Support.h"

extern "C" {
struct TmObserver {
  void *self;
  bool passes;  // whether `before` and `after` are wanted
  bool remarks; // whether `remark` is
  void (*before)(void *self, MlirStringRef pass, MlirOperation op);
  void (*after)(void *self, MlirStringRef pass, MlirOperation op, bool succeeded);
  // `parts` holds keys and values in turn; kind: 0 passed, 1 missed, 2 analysis.
  void (*remark)(void *self, int kind, MlirLocation location, MlirStringRef pass, MlirStringRef function,
                 const MlirStringRef *parts, size_t count);
};
void tmObserve(MlirPassManager manager, const TmObserver *observer);
// Takes the context's remark engine away.
void tmUnobserve(MlirContext context);
// Prints an operation, then calls `place` with each operation inside and its line (from 1), in no order.
void tmPrintPlaced(MlirOperation op, bool debugInfo, MlirStringCallback append, void *out,
                   void (*place)(void *out, MlirOperation op, unsigned line));
// Every file position in a location.
void tmLocationPositions(MlirLocation location, void *out,
                         void (*visit)(void *out, MlirStringRef file, unsigned line, unsigned column));
}
namespace mlir {
class PassManager;
}
void tmObserveManager(mlir::PassManager &manager, const TmObserver *observer);
