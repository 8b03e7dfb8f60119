// Upstream's other mains with every dialect and pass, and ours: the language server and the reducer.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/InitLLVM.h"
using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  tmRegisterExtensions(wrap(&registry));
}

extern "C" {
int tmLspServerMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tmHonourNoColor();
  DialectRegistry registry;
  registerDialects(registry);
  return failed(MlirLspServerMain(argc, argv, registry));
}
int tmReduceMain(int argc, char **argv, void (*registerOurs)()) {
  llvm::InitLLVM init(argc, argv);
  tmHonourNoColor();
  registerAllPasses();
  registerOurs();
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context));
}
}
