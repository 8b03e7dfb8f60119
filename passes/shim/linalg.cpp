// Upstream's linalg rewrites that no upstream pass offers as we need them.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
using namespace mlir;

// What a target substitutes by a library call or a template, whether it has a name or is a generic.
static bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && (linalg::isaContractionOpInterface(linalgOp) || linalg::isaConvolutionOpInterface(linalgOp));
}

// Whether a contraction reads [batch, m, k] and [batch, k, n] and writes [batch, m, n], with one batch or none. Upstream gives any
// order of these the name of this one, and so computes another product, and any number of batches that of one, and so crashes.
static bool isInNamedOrder(linalg::GenericOp op) {
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(cast<linalg::LinalgOp>(op.getOperation()));
  if (failed(dims) || dims->batch.size() > 1)
    return false;
  auto ordered = [&](unsigned map, ArrayRef<unsigned> outer, ArrayRef<unsigned> inner) {
    SmallVector<unsigned> expected(dims->batch.begin(), dims->batch.end());
    expected.append(outer.begin(), outer.end());
    expected.append(inner.begin(), inner.end());
    auto results = op.getIndexingMapsArray()[map].getResults();
    return results.size() == expected.size() && llvm::all_of(llvm::zip(results, expected), [](auto pair) {
             auto dim = dyn_cast<AffineDimExpr>(std::get<0>(pair));
             return dim && dim.getPosition() == std::get<1>(pair);
           });
  };
  return ordered(0, dims->m, dims->k) && ordered(1, dims->k, dims->n) && ordered(2, dims->m, dims->n);
}

// Whether two bodies compute the same from their arguments, up to the order of commutative operands.
static bool sameValue(Value a, Value b) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (first || second)
    return first && second && first.getArgNumber() == second.getArgNumber() && a.getType() == b.getType();
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (x->getName() != y->getName() || x->getAttrDictionary() != y->getAttrDictionary() || a.getType() != b.getType() ||
      x->getNumOperands() != y->getNumOperands() || x->getNumRegions() || y->getNumRegions())
    return false;
  if (llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()),
                   [](auto pair) { return sameValue(std::get<0>(pair), std::get<1>(pair)); }))
    return true;
  return x->hasTrait<OpTrait::IsCommutative>() && x->getNumOperands() == 2 &&
         sameValue(x->getOperand(0), y->getOperand(1)) && sameValue(x->getOperand(1), y->getOperand(0));
}

/// Whether every dimension is tiled, in order: only then is one tile a slice of the result, as upstream takes it to be where all
/// outer dimensions have one element.
template <typename T> static bool tilesAll(T op) {
  auto rankOf = [](Value value) { return cast<ShapedType>(value.getType()).getRank(); };
  int64_t rank = std::min(rankOf(op.getSource()), rankOf(op.getDest()));
  return llvm::equal(op.getInnerDimsPos(), llvm::seq<int64_t>(0, rank));
}

extern "C" {
bool tmLinalgIsLinalgOp(MlirOperation op) { return isa<linalg::LinalgOp>(unwrap(op)); }

MlirOperation tmLinalgGeneralize(MlirOperation op) {
  auto linalgOp = cast<linalg::LinalgOp>(unwrap(op));
  IRRewriter rewriter(linalgOp->getContext());
  rewriter.setInsertionPoint(linalgOp);
  FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, linalgOp);
  return succeeded(generic) ? wrap(generic->getOperation()) : op; // fails on a generic only
}

MlirOperation tmLinalgCollapse(MlirOperation op, const int64_t *dims, size_t count) {
  MlirOperation generic = tmLinalgGeneralize(op);
  auto linalgOp = cast<linalg::LinalgOp>(unwrap(generic));
  ReassociationIndices folded(dims, dims + count);
  if (!linalg::areDimSequencesPreserved(linalgOp.getIndexingMapsArray(), {folded}))
    return generic;
  IRRewriter rewriter(linalgOp->getContext());
  rewriter.setInsertionPoint(linalgOp);
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(linalgOp, {folded}, rewriter);
  if (failed(collapsed))
    return generic;
  rewriter.replaceOp(linalgOp, collapsed->results);
  return wrap(collapsed->collapsedOp.getOperation());
}

bool tmLinalgFuse(MlirOperation root) {
  Operation *op = unwrap(root);
  MLIRContext *context = op->getContext();
  // A generic that is exactly a contraction gets its name back.
  SmallVector<linalg::GenericOp> contractions;
  op->walk([&](linalg::GenericOp generic) {
    if (linalg::isaContractionOpInterface(generic) && isInNamedOrder(generic))
      contractions.push_back(generic);
  });
  IRRewriter rewriter(context);
  for (linalg::GenericOp generic : contractions) {
    rewriter.setInsertionPoint(generic);
    // Upstream looks at the kinds of operations only: tried on a copy, and kept where the named operation's body computes
    // the same (upstream would make a signed product of an unsigned one).
    auto copy = cast<linalg::GenericOp>(rewriter.clone(*generic));
    FailureOr<linalg::LinalgOp> named = linalg::specializeGenericOp(rewriter, copy);
    if (failed(named)) { // stays a generic where there is no name for it
      rewriter.eraseOp(copy);
    } else if (sameValue(generic.getBody()->getTerminator()->getOperand(0),
                         named->getBlock()->getTerminator()->getOperand(0))) {
      rewriter.replaceOp(generic, *named);
    } else {
      rewriter.eraseOp(*named);
    }
  }
  // A producer that asserts outlives its fusion, since it has effects; its assertions went along. What nothing used before is
  // marked here, so that only what lost its uses by fusion is erased, also where fusion made it.
  constexpr StringLiteral unused("tinymlir.unused");
  op->walk([&](linalg::GenericOp generic) {
    if (generic->use_empty())
      generic->setDiscardableAttr(unused, UnitAttr::get(context));
  });
  RewritePatternSet patterns(context);
  // Upstream's choice (a producer with one use), but a contraction takes part on neither side.
  linalg::ControlFusionFn control = [](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    // Into what nothing uses, nothing is fused: the operation that it would become could not be told from one that lost its uses.
    return producer && producer->hasOneUse() && !isContraction(producer) && !isContraction(fused->getOwner()) &&
           !fused->getOwner()->use_empty();
  };
  // Of the operations with a name none is turned into a generic to let a reshape through.
  linalg::ControlFusionFn controlReshapes = [](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    auto keeps = [](Operation *op) {
      return isContraction(op) || (isa<linalg::LinalgOp>(op) && !isa<linalg::GenericOp>(op));
    };
    return producer && producer->hasOneUse() && !keeps(producer) && !keeps(fused->getOwner());
  };
  linalg::populateElementwiseOpsFusionPatterns(patterns, control);
  // The size of a result is asked of the arguments: a use of the producer only for its size must not hinder fusion.
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, controlReshapes);
  tensor::populateBubbleUpExpandShapePatterns(patterns);
  linalg::populateConstantFoldLinalgOperations(patterns, controlReshapes);
  linalg::populateEraseUnnecessaryInputsPatterns(patterns);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  (void)applyPatternsGreedily(op, std::move(patterns), config); // stopping at the iteration limit is no error
  op->walk([&](linalg::GenericOp generic) {
    if (!generic->removeDiscardableAttr(unused) && generic->use_empty() && generic->getNumResults() != 0)
      rewriter.eraseOp(generic);
  });
  return true;
}

bool tmLinalgDecompose(MlirOperation root) {
  SmallVector<Operation *> found;
  unwrap(root)->walk([&](Operation *op) {
    if (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp, linalg::WinogradFilterTransformOp,
            linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp>(op))
      found.push_back(op);
  });
  IRRewriter rewriter(unwrap(root)->getContext());
  for (Operation *op : found) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      if (!pack.hasPureTensorSemantics() || failed(linalg::lowerPack(rewriter, pack, tilesAll(pack))))
        return op->emitOpError("cannot be lowered: it needs static tiles and tensors"), false;
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      if (!unpack.hasPureTensorSemantics() || failed(linalg::lowerUnPack(rewriter, unpack, tilesAll(unpack))))
        return op->emitOpError("cannot be lowered: it needs static tiles and tensors"), false;
    } else if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op)) {
      if (failed(linalg::decomposeWinogradFilterTransformOp(rewriter, filter)))
        return op->emitOpError("cannot be decomposed"), false;
    } else if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op)) {
      if (failed(linalg::decomposeWinogradInputTransformOp(rewriter, input)))
        return op->emitOpError("cannot be decomposed"), false;
    } else if (auto output = dyn_cast<linalg::WinogradOutputTransformOp>(op)) {
      if (failed(linalg::decomposeWinogradOutputTransformOp(rewriter, output)))
        return op->emitOpError("cannot be decomposed"), false;
    } else {
      FailureOr<SmallVector<Value>> values = cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
      if (failed(values))
        return op->emitOpError("cannot be decomposed"), false;
      rewriter.replaceOp(op, *values);
    }
  }
  return true;
}
}
