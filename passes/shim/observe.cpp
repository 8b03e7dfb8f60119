// What goes by while passes run: the passes themselves, remarks, and where each operation stands in printed text.
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "observe.h"
using namespace mlir;

namespace {
struct Instrumentation final : PassInstrumentation {
  TmObserver observer;
  explicit Instrumentation(const TmObserver &o) : observer(o) {}
  // Adaptors run passes on nested operations and are no passes themselves.
  static bool isAdaptor(Pass *pass) { return pass->getName().ends_with("OpToOpPassAdaptor"); }
  static StringRef nameOf(Pass *pass) { return pass->getArgument().empty() ? pass->getName() : pass->getArgument(); }
  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      observer.before(observer.self, wrap(nameOf(pass)), wrap(op));
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      observer.after(observer.self, wrap(nameOf(pass)), wrap(op), true);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      observer.after(observer.self, wrap(nameOf(pass)), wrap(op), false);
  }
};

struct Streamer final : remark::detail::MLIRRemarkStreamerBase {
  TmObserver observer;
  explicit Streamer(const TmObserver &o) : observer(o) {}
  void streamOptimizationRemark(const remark::detail::Remark &r) override {
    std::vector<MlirStringRef> parts;
    for (const auto &argument : r.getArgs()) {
      parts.push_back(wrap(StringRef(argument.key)));
      parts.push_back(wrap(StringRef(argument.val)));
    }
    int kind = 2;
    switch (r.getRemarkType()) {
    case llvm::remarks::Type::Passed:
      kind = 0;
      break;
    case llvm::remarks::Type::Missed:
    case llvm::remarks::Type::Failure:
      kind = 1;
      break;
    default:
      break;
    }
    observer.remark(observer.self, kind, wrap(r.getLocation()), wrap(r.getRemarkName()), wrap(r.getFunction()),
                    parts.data(), parts.size() / 2);
  }
};
} // namespace

void tmObserveManager(PassManager &manager, const TmObserver *observer) {
  MLIRContext *context = manager.getContext();
  // One pass at a time, so that states and remarks come in order.
  context->disableMultithreading();
  if (observer->passes)
    manager.addInstrumentation(std::make_unique<Instrumentation>(*observer));
  if (!observer->remarks)
    return;
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = categories.failed = "^tinymlir$";
  // Replaces the engine that the context may have.
  (void)remark::enableOptimizationRemarks(*context, std::make_unique<Streamer>(*observer),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

extern "C" {
void tmObserve(MlirPassManager manager, const TmObserver *observer) { tmObserveManager(*unwrap(manager), observer); }

void tmUnobserve(MlirContext context) { unwrap(context)->setRemarkEngine(nullptr); }

void tmPrintPlaced(MlirOperation op, bool debugInfo, MlirStringCallback append, void *out,
                   void (*place)(void *out, MlirOperation op, unsigned line)) {
  OpPrintingFlags flags;
  flags.assumeVerified().elideLargeElementsAttrs(32).elideLargeResourceString(64);
  if (debugInfo)
    flags.enableDebugInfo(true, true);
  AsmState::LocationMap places;
  AsmState state(unwrap(op), flags, &places);
  std::string text;
  llvm::raw_string_ostream stream(text);
  unwrap(op)->print(stream, state);
  append(wrap(StringRef(text)), out);
  for (auto &[inner, position] : places)
    place(out, wrap(inner), position.first);
}

void tmLocationPositions(MlirLocation location, void *out,
                         void (*visit)(void *out, MlirStringRef file, unsigned line, unsigned column)) {
  unwrap(location)->walk([&](Location inner) {
    if (auto position = dyn_cast<FileLineColLoc>(inner))
      visit(out, wrap(position.getFilename().getValue()), position.getLine(), position.getColumn());
    return WalkResult::advance();
  });
}
}
