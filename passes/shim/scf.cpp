// Rewrites of one scf.parallel: what upstream offers as a C++ function, or as a pass over whole functions only.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
using namespace mlir;

// Whether a bound that starts at zero may end below it.
static bool mayBeNegative(Value upper) {
  if (std::optional<int64_t> constant = getConstantIntValue(upper))
    return *constant < 0;
  return !upper.getDefiningOp<memref::DimOp>();
}

extern "C" {
size_t tmLinalgNumParallel(MlirOperation op) { return cast<linalg::LinalgOp>(unwrap(op)).getNumParallelLoops(); }

void tmLinalgParallelFirst(MlirOperation op) {
  auto linalgOp = cast<linalg::LinalgOp>(unwrap(op));
  SmallVector<unsigned> order;
  linalgOp.getParallelDims(order);
  SmallVector<unsigned> others;
  for (unsigned dim = 0; dim < linalgOp.getNumLoops(); ++dim)
    if (!llvm::is_contained(order, dim))
      others.push_back(dim);
  order.append(others);
  if (llvm::is_sorted(order) || !linalgOp.hasPureBufferSemantics())
    return;
  IRRewriter rewriter(linalgOp.getContext());
  rewriter.setInsertionPoint(linalgOp);
  auto generic = dyn_cast<linalg::GenericOp>(linalgOp.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, linalgOp);
    if (failed(made))
      return;
    generic = *made;
  }
  rewriter.setInsertionPoint(generic);
  (void)linalg::interchangeGenericOp(rewriter, generic, order); // an operation that cannot be is left in its order
}

MlirOperation tmScfCollapseParallel(MlirOperation op, const unsigned *groups, size_t dims, size_t numGroups) {
  auto loop = cast<scf::ParallelOp>(unwrap(op));
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  // Upstream computes trip counts without a look at their sign: two empty dimensions would multiply to a full one.
  SmallVector<Value> uppers(loop.getUpperBound());
  for (auto [lower, upper] : llvm::zip_equal(loop.getLowerBound(), uppers))
    if (getConstantIntValue(lower) != 0 || mayBeNegative(upper))
      upper = arith::MaxSIOp::create(rewriter, loop.getLoc(), lower, upper);
  loop.getUpperBoundMutable().assign(uppers);
  std::vector<std::vector<unsigned>> combined(numGroups);
  for (size_t i = 0; i < dims; ++i)
    combined[groups[i]].push_back(i);
  SmallVector<std::vector<unsigned>> list(combined.begin(), combined.end());
  Operation *next = loop->getNextNode(); // never null: a loop is no terminator
  collapseParallelLoops(rewriter, loop, list);
  return wrap(next->getPrevNode());
}

void tmScfTileParallel(MlirOperation op, const int64_t *sizes, size_t n) {
  scf::tileParallelLoop(cast<scf::ParallelOp>(unwrap(op)), ArrayRef(sizes, n), /*noMinMaxBounds=*/true);
}

void tmScfParallelToFor(MlirOperation op) {
  auto loop = cast<scf::ParallelOp>(unwrap(op));
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  auto body = [&](OpBuilder &builder, Location loc, ValueRange ivs, ValueRange partial) -> scf::ValueVector {
    IRMapping map;
    map.map(loop.getInductionVars(), ivs);
    for (Operation &inner : loop.getBody()->without_terminator())
      builder.clone(inner, map);
    scf::ValueVector values;
    for (auto [region, operand, sum] : llvm::zip_equal(reduce.getReductions(), reduce.getOperands(), partial)) {
      Block &step = region.front();
      map.map(step.getArgument(0), sum);
      map.map(step.getArgument(1), map.lookupOrDefault(operand));
      for (Operation &inner : step.without_terminator())
        builder.clone(inner, map);
      values.push_back(map.lookupOrDefault(cast<scf::ReduceReturnOp>(step.getTerminator()).getResult()));
    }
    return values;
  };
  scf::LoopNest nest = scf::buildLoopNest(rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                          loop.getStep(), loop.getInitVals(), body);
  rewriter.replaceOp(loop, nest.results);
}
}
