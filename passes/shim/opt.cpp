// mlir-opt's main with everything upstream's has, and ours.
#include "observe.h"
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
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
void tmHonourNoColor() {
  if (const char *value = std::getenv("NO_COLOR"); value && *value)
    llvm::WithColor::setAutoDetectFunction([](const llvm::raw_ostream &) { return false; });
}
int tmOptMain(int argc, char **argv, MlirStringRef banner, void (*registerOurs)(), const TmDriver *driver) {
  tmHonourNoColor();
  registerAllPasses();
  registerOurs();
  DialectRegistry registry;
  registerAllDialects(registry);
  tmRegisterExtensions(wrap(&registry));

  static llvm::cl::OptionCategory category("tinymlir", "See what the passes do");
  std::vector<std::unique_ptr<llvm::cl::opt<std::string>>> flags;
  for (size_t i = 0; i < driver->numFlags; ++i) {
    const TmFlag &f = driver->flags[i];
    auto expected = f.value.length == 0 ? llvm::cl::ValueDisallowed
                    : f.optional        ? llvm::cl::ValueOptional
                                        : llvm::cl::ValueRequired;
    flags.push_back(std::make_unique<llvm::cl::opt<std::string>>(unwrap(f.name), llvm::cl::desc(unwrap(f.description)),
                                                                 llvm::cl::value_desc(unwrap(f.value)), expected,
                                                                 llvm::cl::cat(category)));
  }
  auto [input, output] = registerAndParseCLIOptions(argc, argv, unwrap(banner), registry);
  std::vector<MlirStringRef> values;
  for (auto &flag : flags)
    values.push_back(flag->getNumOccurrences() ? wrap(StringRef(flag->getValue())) : MlirStringRef{nullptr, 0});
  if (int code = driver->start(driver->self, values.data(), wrap(StringRef(input))); code >= 0)
    return code;

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  config.setPassPipelineSetupFn([driver, inner = config](PassManager &manager) -> LogicalResult {
    if (failed(inner.setupPassPipeline(manager)))
      return failure();
    if (const TmObserver *observer = driver->observe(driver->self))
      tmObserveManager(manager, observer);
    return success();
  });
  llvm::InitLLVM init(argc, argv);
  if (input == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";
  std::string message;
  auto file = openInputFile(input, &message);
  if (!file)
    return llvm::errs() << message << "\n", 1;
  auto out = openOutputFile(output, &message);
  if (!out)
    return llvm::errs() << message << "\n", 1;
  if (failed(MlirOptMain(out->os(), std::move(file), registry, config)))
    return 1;
  out->keep();
  return 0;
}
void tmPassOptions(MlirStringRef argument, void (*append)(MlirStringRef, void *), void *out) {
  const PassInfo *pass = PassInfo::lookup(unwrap(argument));
  OpPassManager manager(OpPassManager::Nesting::Implicit);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (pass && succeeded(pass->addToPipeline(manager, "", [](const Twine &) { return failure(); })))
    manager.printAsTextualPipeline(stream);
  append(wrap(StringRef(text)), out);
}
bool tmDescribePass(MlirStringRef argument, void (*append)(MlirStringRef, void *), void *out) {
  auto say = [&](const PassRegistryEntry *entry) {
    append(wrap(entry->getPassDescription()), out);
    return true;
  };
  if (const PassInfo *pass = PassInfo::lookup(unwrap(argument)))
    return say(pass);
  if (const PassPipelineInfo *pipeline = PassPipelineInfo::lookup(unwrap(argument)))
    return say(pipeline);
  return false;
}
}
