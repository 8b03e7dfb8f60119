// What the C API lacks, for the crate's `ir` module: passes with options, pipelines, mlir-opt's main, a few upstream functions.
#pragma once
#include "mlir-c/AffineMap.h"
#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

extern "C" {
enum TmKind : uint8_t { TM_STRING, TM_INTEGER, TM_BOOLEAN, TM_INTEGERS };
struct TmOption {
  MlirStringRef name, description, initial;
  TmKind kind;
};
struct TmStatistic {
  const char *name, *description; // NUL-terminated
};
// Lives as long as the process; its address is the pass's TypeID.
struct TmPass {
  MlirStringRef argument, description, anchor; // anchor: "" for any operation
  const TmOption *options;
  size_t numOptions;
  const TmStatistic *statistics;
  size_t numStatistics;
  const void *definition; // the Rust side's own
};
struct TmPipeline {
  MlirStringRef argument, description;
  const TmOption *options;
  size_t numOptions;
  const void *definition;
};

// Written in Rust.
void tmPassDialects(const void *definition, MlirDialectRegistry registry);
bool tmPassRun(const void *definition, MlirOperation op, void *pass); // false: signalPassFailure
// Appends the pipeline's text by calling `append(text, out)`.
void tmPipelineExpand(const void *definition, const void *options, void (*append)(MlirStringRef, void *), void *out);

// Options and statistics of a running pass, by their place in the definition.
MlirStringRef tmPassString(const void *pass, size_t i);
int64_t tmPassInteger(const void *pass, size_t i);
bool tmPassBoolean(const void *pass, size_t i);
size_t tmPassIntegers(const void *pass, size_t i, const int64_t **data);
void tmPassCount(void *pass, size_t i, uint64_t by);
bool tmPassRunPipeline(void *pass, MlirStringRef pipeline, MlirOperation op);
// The same of a pipeline that is being expanded.
MlirStringRef tmOptionsString(const void *options, size_t i);
int64_t tmOptionsInteger(const void *options, size_t i);
bool tmOptionsBoolean(const void *options, size_t i);

void tmRegisterPass(const TmPass *);
void tmRegisterPipeline(const TmPipeline *);
// A flag of the driver beside mlir-opt's own. A value may be left out where `optional`, and not be given where `value` is "".
struct TmFlag {
  MlirStringRef name, value, description;
  bool optional;
};
struct TmObserver;
struct TmDriver {
  void *self;
  const TmFlag *flags;
  size_t numFlags;
  // With the value of each flag (null data where it is absent) and the input's file; an exit code, or -1 to go on.
  int (*start)(void *self, const MlirStringRef *values, MlirStringRef input);
  // Before passes run on a module: who watches them, or null.
  const TmObserver *(*observe)(void *self);
};
int tmOptMain(int argc, char **argv, MlirStringRef banner, void (*registerOurs)(), const TmDriver *driver);
int tmLspServerMain(int argc, char **argv);
int tmReduceMain(int argc, char **argv, void (*registerOurs)());
// Plain diagnostics where NO_COLOR is set and not empty.
void tmHonourNoColor();
// What a pass's or pipeline's registration says of it, by calling `append(text, out)`; false where there is none.
bool tmDescribePass(MlirStringRef argument, void (*append)(MlirStringRef, void *), void *out);
void tmRegisterExtensions(MlirDialectRegistry registry);
// Parses text (NUL-terminated behind its end) or bytecode; wraps what is no builtin.module in one. Null after a diagnostic.
MlirOperation tmParseModule(MlirContext context, MlirStringRef source, MlirStringRef file);

// severity: mlir::DiagnosticSeverity (0 note, 1 warning, 2 error, 3 remark).
void tmEmit(MlirLocation location, int severity, MlirStringRef message, MlirLocation noteLocation, MlirStringRef note);
// To the remark engine. kind: 0 passed, 1 missed, 2 analysis. Silent unless the engine was set up.
// `parts` holds keys and values in turn.
void tmRemark(MlirLocation location, int kind, MlirStringRef name, MlirStringRef function, MlirStringRef message,
              const MlirStringRef *parts, size_t count);
// The first file position inside a location; false when there is none. The file name lives as long as the context.
bool tmLocationFile(MlirLocation location, MlirStringRef *file, unsigned *line, unsigned *column);

// Whether it is a dense_resource whose elements the file does not hold.
bool tmAttributeIsMissingResource(MlirAttribute attribute);

// The bytes of a dense_resource, which the context keeps; no data where it is none or the file does not hold it.
MlirStringRef tmAttributeResource(MlirAttribute attribute);

// linalg
bool tmLinalgFuse(MlirOperation root);
bool tmLinalgDecompose(MlirOperation root);
bool tmLinalgIsLinalgOp(MlirOperation op);
// The generic that replaces a LinalgOp; itself where it is one.
MlirOperation tmLinalgGeneralize(MlirOperation op);
// The same, on tensors, with these loop dimensions as one where all indexing maps have them as neighbours.
MlirOperation tmLinalgCollapse(MlirOperation op, const int64_t *dims, size_t count);

// The number of parallel iterators of a LinalgOp.
size_t tmLinalgNumParallel(MlirOperation op);
// Makes the parallel iterators of a LinalgOp on buffers the outer ones, in their order.
void tmLinalgParallelFirst(MlirOperation op);

// scf.parallel. Collapse joins the dimensions that share a group and makes bases zero and steps one; it returns the new loop.
MlirOperation tmScfCollapseParallel(MlirOperation op, const unsigned *groups, size_t dims, size_t numGroups);
// Tiles a collapsed loop: the inner loop has the tile's size, and a check keeps what lies past the end from running.
void tmScfTileParallel(MlirOperation op, const int64_t *sizes, size_t n);
// Makes sequential loops of it, its reductions included.
void tmScfParallelToFor(MlirOperation op);

// Makes elementwise operations of every vector.multi_reduction inside.
bool tmVectorLowerReductions(MlirOperation root);
}
