// The file of a ledger: its lines, and what they say.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_FILE_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_FILE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/source/ledger.h"

namespace dl::vectorize {

// An input, when it was taken.
struct LedgerEntry {
  std::int64_t bytes = 0, time = 0;  // time: of the last change, ns
  std::string digest = {};           // "": not known
  bool seen = false;                 // in this run
  bool gone = false;                 // which was told
};

class LedgerFile {
 public:
  LedgerFile(std::string path, LedgerBy by);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  std::unordered_map<std::string, LedgerEntry> entries;  // by name
  std::unordered_set<std::string> digests;
  std::vector<std::string> classes;
  Json recipe;

  // Writes lines behind the others, for good.
  // Throws Error: kIo.
  void append(const std::string& lines);
  // Takes off all behind that place.
  void cut(std::int64_t size);
  std::int64_t size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  // The lines of a run, until the one that ends it.
  struct Run;
  void lock();
  void read();
  void take(const std::string& line, std::int64_t start, Run& run);
  void enter(const Run& run);
  void finish(const Run& run);

  std::string path_, name_;
  LedgerBy by_;
  int file_ = -1;
  std::int64_t size_ = 0;
};

// "name" or "digest".
std::string word_of(LedgerBy by);
// XXH3 of the contents, and how many bytes they are.
// Throws Error: kNoInput, kIo.
std::string digest_of_file(const std::string& path, std::int64_t& bytes);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_LEDGER_FILE_H_
