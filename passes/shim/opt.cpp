// mlir-opt's main with everything upstream's has, and ours.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
using namespace mlir;

extern "C" {
void tmRegisterExtensions(MlirDialectRegistry registry) {
  registerAllExtensions(*unwrap(registry));
  registerAllGPUToLLVMIRTranslations(*unwrap(registry)); // gpu-module-to-binary
}
MlirOperation tmParseModule(MlirContext context, MlirStringRef source, MlirStringRef file) {
  ParserConfig config(unwrap(context));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(unwrap(source), config, unwrap(file));
  return wrap(module ? module.release().getOperation() : nullptr);
}
int tmOptMain(int argc, char **argv, MlirStringRef banner, void (*registerOurs)()) {
  registerAllPasses();
  registerOurs();
  DialectRegistry registry;
  registerAllDialects(registry);
  tmRegisterExtensions(wrap(&registry));
  return asMainReturnCode(MlirOptMain(argc, argv, unwrap(banner), registry));
}
}
