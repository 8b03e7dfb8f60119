// Rewrites of the vector dialect that upstream offers as a pass over func.func only.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
using namespace mlir;

extern "C" {
bool tmVectorLowerReductions(MlirOperation root) {
  RewritePatternSet patterns(unwrap(root)->getContext());
  vector::populateVectorMultiReductionLoweringPatterns(patterns, vector::VectorMultiReductionLowering::InnerParallel);
  return succeeded(applyPatternsGreedily(unwrap(root), std::move(patterns)));
}
}
