// FileCheck over LLVM's own library: what its driver does, without the annotated dump of the input.

#include "llvm/ADT/SmallString.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
struct List {
  const char *const *data;
  size_t length;
  void appendTo(std::vector<StringRef> &out) const { out.insert(out.end(), data, data + length); }
};

/// Reads a file, canonicalizes it into `text` and adds it to `sources`. Null if it cannot be read.
std::unique_ptr<MemoryBuffer> read(FileCheck &check, SourceMgr &sources, const char *name, SmallString<4096> &storage,
                                   StringRef &text) {
  auto file = MemoryBuffer::getFileOrSTDIN(name, /*IsText=*/true);
  if (std::error_code error = file.getError()) {
    errs() << "error: could not open '" << name << "': " << error.message() << '\n';
    return nullptr;
  }
  text = check.CanonicalizeFile(**file, storage);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text, (*file)->getBufferIdentifier()), SMLoc());
  return std::move(*file);
}
} // namespace

/// Exit status: 0 if the input satisfies the checks, 1 if not, 2 if the checks or a file cannot be read.
extern "C" int tinymlirFileCheck(const char *checks, const char *input, List prefixes, List implicitNots, List defines,
                                 bool allowEmpty, bool allowUnused, bool fullLines, bool strictWhitespace) {
  FileCheckRequest request;
  prefixes.appendTo(request.CheckPrefixes);
  implicitNots.appendTo(request.ImplicitCheckNot);
  defines.appendTo(request.GlobalDefines);
  request.AllowEmptyInput = allowEmpty;
  request.AllowUnusedPrefixes = allowUnused;
  request.MatchFullLines = fullLines;
  request.NoCanonicalizeWhiteSpace = strictWhitespace;
  FileCheck check(request);
  if (!check.ValidateCheckPrefixes())
    return 2;
  SourceMgr sources;
  SmallString<4096> checkStorage, inputStorage;
  StringRef checkText, inputText;
  auto checkFile = read(check, sources, checks, checkStorage, checkText);
  if (!checkFile || check.readCheckFile(sources, checkText))
    return 2;
  auto inputFile = read(check, sources, input, inputStorage, inputText);
  if (!inputFile)
    return 2;
  if (inputFile->getBufferSize() == 0 && !allowEmpty) {
    errs() << "FileCheck error: '" << input << "' is empty.\n";
    return 2;
  }
  return check.checkInput(sources, inputText) ? 0 : 1;
}
