// mlir-opt's main with everything upstream's has, and ours.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
using namespace mlir;

extern "C" {
void tmRegisterExtensions(MlirDialectRegistry registry) {
  registerAllExtensions(*unwrap(registry));
  registerAllGPUToLLVMIRTranslations(*unwrap(registry)); // gpu-module-to-binary
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
