// One C++ pass class over a definition made in Rust; registration of passes and pipelines.
#include "shim.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
using namespace mlir;

namespace {
using OptionList = std::vector<std::unique_ptr<llvm::cl::Option>>;
template <typename T> using Scalar = detail::PassOptions::Option<T>;
template <typename T> using List = detail::PassOptions::ListOption<T>;

// Makes the options of a definition in `parent`, a pass or a pipeline's options, which have a class each for an option.
template <template <typename> class MakeScalar, template <typename> class MakeList, typename Parent>
void makeOptions(Parent &parent, const TmOption *options, size_t count, OptionList &out) {
  for (size_t i = 0; i < count; ++i) {
    const TmOption &o = options[i];
    StringRef name = unwrap(o.name), initial = unwrap(o.initial);
    llvm::cl::desc description(unwrap(o.description));
    int64_t number = 0;
    switch (o.kind) {
    case TM_STRING:
      out.push_back(std::make_unique<MakeScalar<std::string>>(parent, name, description, llvm::cl::init(initial.str())));
      break;
    case TM_INTEGER:
      (void)initial.getAsInteger(10, number);
      out.push_back(std::make_unique<MakeScalar<int64_t>>(parent, name, description, llvm::cl::init(number)));
      break;
    case TM_BOOLEAN:
      out.push_back(std::make_unique<MakeScalar<bool>>(parent, name, description, llvm::cl::init(initial == "true")));
      break;
    case TM_INTEGERS:
      out.push_back(std::make_unique<MakeList<int64_t>>(parent, name, description));
      break;
    }
  }
}
template <typename T> decltype(auto) scalar(const OptionList &options, size_t i) {
  return static_cast<const Scalar<T> *>(options[i].get())->getValue();
}

struct RustPass final : Pass {
  template <typename T> using OwnScalar = Pass::Option<T>;
  template <typename T> using OwnList = Pass::ListOption<T>;
  const TmPass *definition;
  OptionList options;
  std::vector<std::unique_ptr<Statistic>> statistics;

  explicit RustPass(const TmPass *d)
      : Pass(TypeID::getFromOpaquePointer(d), d->anchor.length ? std::optional(unwrap(d->anchor)) : std::nullopt),
        definition(d) {
    makeOptions<OwnScalar, OwnList>(*this, d->options, d->numOptions, options);
    for (size_t i = 0; i < d->numStatistics; ++i)
      statistics.push_back(std::make_unique<Statistic>(this, d->statistics[i].name, d->statistics[i].description));
  }
  StringRef getName() const override { return unwrap(definition->argument); }
  StringRef getArgument() const override { return unwrap(definition->argument); }
  StringRef getDescription() const override { return unwrap(definition->description); }
  void getDependentDialects(DialectRegistry &registry) const override {
    tmPassDialects(definition->definition, wrap(&registry));
  }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || name.getStringRef() == *getOpName();
  }
  // Pass::clone copies the options' values.
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(definition); }
  void runOnOperation() override {
    if (!tmPassRun(definition->definition, wrap(getOperation()), this))
      signalPassFailure();
  }
  LogicalResult runText(StringRef text, Operation *op) {
    OpPassManager pm(op->getName().getStringRef());
    if (failed(parsePassPipeline(text, pm)))
      return failure();
    return runPipeline(pm, op);
  }
};

struct RustPipelineOptions : PassPipelineOptions<RustPipelineOptions> {
  OptionList options;
  explicit RustPipelineOptions(const TmPipeline *d) {
    makeOptions<Scalar, List>(static_cast<detail::PassOptions &>(*this), d->options, d->numOptions, options);
  }
};
} // namespace

static RustPass &asPass(void *p) { return *static_cast<RustPass *>(p); }
static const OptionList &ofPass(const void *p) { return static_cast<const RustPass *>(p)->options; }
static const OptionList &ofPipeline(const void *p) { return static_cast<const RustPipelineOptions *>(p)->options; }

extern "C" {
MlirStringRef tmPassString(const void *p, size_t i) { return wrap(StringRef(scalar<std::string>(ofPass(p), i))); }
int64_t tmPassInteger(const void *p, size_t i) { return scalar<int64_t>(ofPass(p), i); }
bool tmPassBoolean(const void *p, size_t i) { return scalar<bool>(ofPass(p), i); }
size_t tmPassIntegers(const void *p, size_t i, const int64_t **data) {
  ArrayRef<int64_t> values = *static_cast<const List<int64_t> *>(ofPass(p)[i].get());
  *data = values.data();
  return values.size();
}
void tmPassCount(void *p, size_t i, uint64_t by) { *asPass(p).statistics[i] += by; }
bool tmPassRunPipeline(void *p, MlirStringRef text, MlirOperation op) {
  return succeeded(asPass(p).runText(unwrap(text), unwrap(op)));
}
MlirStringRef tmOptionsString(const void *o, size_t i) { return wrap(StringRef(scalar<std::string>(ofPipeline(o), i))); }
int64_t tmOptionsInteger(const void *o, size_t i) { return scalar<int64_t>(ofPipeline(o), i); }
bool tmOptionsBoolean(const void *o, size_t i) { return scalar<bool>(ofPipeline(o), i); }

void tmRegisterPass(const TmPass *d) {
  if (!PassInfo::lookup(unwrap(d->argument))) // a second registration is fatal
    registerPass([d] { return std::make_unique<RustPass>(d); });
}
void tmRegisterPipeline(const TmPipeline *d) {
  if (PassPipelineInfo::lookup(unwrap(d->argument)))
    return;
  registerPassPipeline(
      unwrap(d->argument), unwrap(d->description),
      [d](OpPassManager &pm, StringRef text, function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        RustPipelineOptions options(d);
        if (failed(options.parseFromString(text)))
          return failure();
        std::string pipeline;
        tmPipelineExpand(
            d->definition, &options,
            [](MlirStringRef s, void *out) { *static_cast<std::string *>(out) += unwrap(s); }, &pipeline);
        std::string message;
        llvm::raw_string_ostream stream(message);
        if (failed(parsePassPipeline(pipeline, pm, stream)))
          return error(message);
        return success();
      },
      [d](function_ref<void(const detail::PassOptions &)> handle) { handle(RustPipelineOptions(d)); });
}

void tmEmit(MlirLocation l, int severity, MlirStringRef message, MlirLocation noteLocation, MlirStringRef note) {
  Location location = unwrap(l);
  auto diagnostic = location->getContext()->getDiagEngine().emit(location, static_cast<DiagnosticSeverity>(severity));
  diagnostic << unwrap(message);
  if (note.length)
    diagnostic.attachNote(unwrap(noteLocation)) << unwrap(note);
}
void tmRemark(MlirLocation l, int kind, MlirStringRef name, MlirStringRef function, MlirStringRef message,
              const MlirStringRef *parts, size_t count) {
  Location location = unwrap(l);
  remark::RemarkOpts options = remark::RemarkOpts::name(unwrap(name)).category("tinymlir").function(unwrap(function));
  auto emit = [&](remark::detail::InFlightRemark remark) {
    remark << unwrap(message);
    for (size_t i = 0; i < count; ++i)
      remark << remark::detail::Remark::Arg(unwrap(parts[2 * i]), unwrap(parts[2 * i + 1]));
  };
  switch (kind) {
  case 0:
    return emit(remark::passed(location, options));
  case 1:
    return emit(remark::missed(location, options));
  default:
    return emit(remark::analysis(location, options));
  }
}
bool tmAttributeIsMissingResource(MlirAttribute a) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(a));
  return resource && !resource.getRawHandle().getBlob();
}
MlirStringRef tmAttributeResource(MlirAttribute a) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(a));
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return mlirStringRefCreate(nullptr, 0);
  return mlirStringRefCreate(blob->getData().data(), blob->getData().size());
}
bool tmLocationFile(MlirLocation l, MlirStringRef *file, unsigned *line, unsigned *column) {
  bool found = false;
  unwrap(l)->walk([&](Location inner) {
    auto position = dyn_cast<FileLineColLoc>(inner);
    if (!position)
      return WalkResult::advance();
    *file = wrap(position.getFilename().getValue());
    *line = position.getLine();
    *column = position.getColumn();
    found = true;
    return WalkResult::interrupt();
  });
  return found;
}
}
