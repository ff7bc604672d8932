// Readers of raw files: the first byte chooses the format, the
// second its options, the rest is a file.  scripts/fuzz bounds the memory.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/recipe/recipe_reader.h"

namespace {

using namespace dl::vectorize;

std::unique_ptr<Reader> open_table(int variant, const std::string& path,
                                   ReaderOptions options, BadRecords& bad) {
  CsvOptions csv;
  csv.label = "-1";
  csv.header = (variant & 1) != 0;
  options.regression = (variant & 2) != 0;
  if ((variant & 4) != 0) csv.id = "1";
  if ((variant & 8) != 0) {
    csv.sequence = (variant & 64) != 0 ? "line:" : "1";
    csv.steps = 3;
    csv.per_step = (variant & 16) != 0;
    csv.longer = (variant & 32) != 0 ? "truncate" : "skip";
  }
  csv.missing = (variant & 64) != 0 ? "fill:0" : "skip";
  return open_csv({path, path}, options, csv, bad);
}

// Tables of other kinds, as a recipe has them.
std::unique_ptr<Reader> open_by_recipe(int variant, const std::string& path,
                                       BadRecords& bad) {
  const char* sources[] = {
      R"({"type": "arff"})",
      R"({"type": "fixed", "widths": [2, 3, 1]})",
      R"({"type": "fixed", "widths": [2, 3, 1], "names": ["a", "b", "c"]})",
      R"({"type": "csv", "encoding": "utf-16le"})",
      R"({"type": "csv", "encoding": "windows-1252", "decimal": ",",
          "delimiter": ";", "decimal_of": ["a"]})",
      R"({"type": "jsonl"})"};
  const dl::Json json = {
      {"source",
       dl::parse_json(sources[variant / 2 % 6], "the source", dl::Code::kBug)},
      {"tensors",
       {{"features",
         {{{"type", "number"}, {"from", {"a"}}, {"missing", "previous"}},
          {{"type", "bins"}, {"from", "b"}, {"edges", {0, 1, 2}}}}},
        {"id", {{"type", "id"}, {"from", "c"}}}}}};
  return open_recipe(Recipe::from_json(json, "the recipe", dl::Code::kBug),
                     Inputs{.operands = {path}}, {}, bad);
}

std::unique_ptr<Reader> open(int format, int variant, const std::string& path,
                             BadRecords& bad) {
  ReaderOptions options;
  options.batch = (variant & 128) != 0 ? 1'000'000'000 : 4;
  SvmlightOptions svmlight;
  svmlight.features = 8;
  svmlight.zero_based = (variant & 1) != 0;
  svmlight.multilabel = (variant & 2) != 0;
  if (format == 6) return open_by_recipe(variant, path, bad);
  switch (format % 6) {
    case 0:
      return open_idx({path}, false, options, bad);
    case 1:
      options.regression = (variant & 1) != 0;
      return open_idx({path, path}, true, options, bad);
    case 2:
      return open_table(variant, path, options, bad);
    case 3:
      if (svmlight.multilabel) options.classes = "3";
      return open_svmlight({path}, options, svmlight, bad);
    case 5:
      options.shape = "2,3";
      options.dtype = (variant & 1) != 0 ? "f32" : "u8";
      options.regression = (variant & 2) != 0;
      options.id_bytes = (variant & 8) != 0 ? 3 : 0;
      return open_raw({path}, options,
                      {.labels = (variant & 4) != 0, .targets = 2}, bad);
    default:
      return open_cifar({path}, (variant & 1) != 0 ? "100" : "10", options,
                        bad);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  if (size < 2) return 0;
  int file = memfd_create("fuzz", 0);
  bool written = write(file, data + 2, size - 2) >= 0;
  BadRecords bad(data[1] % 2 == 0 ? 0 : 100);
  try {
    auto reader =
        open(data[0], data[1], "/proc/self/fd/" + std::to_string(file), bad);
    for (dl::data::DataSet set; written && reader->read(set);) set.check();
    reader->metadata();
  } catch (const dl::Error& error) {
    if (error.code() == dl::Code::kBug) __builtin_trap();
  }
  close(file);
  return 0;
}
