// Readers of raw files: the first byte chooses the format, the rest is a file.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "libcore/base/error.h"
#include "libcore/vectorize/reader.h"

namespace {

using namespace dl::vectorize;

std::unique_ptr<Reader> open(int format, const std::string& path,
                             BadRecords& bad) {
  ReaderOptions options;
  options.batch = 4;
  CsvOptions csv;
  csv.label = "-1";
  csv.missing = "skip";
  SvmlightOptions svmlight;
  svmlight.features = 8;
  switch (format % 5) {
    case 0:
      return open_idx({path}, false, options, bad);
    case 1:
      return open_idx({path, path}, true, options, bad);
    case 2:
      csv.header = format >= 128;
      return open_csv({path}, options, csv, bad);
    case 3:
      return open_svmlight({path}, options, svmlight, bad);
    default:
      return open_cifar({path}, "10", options, bad);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  int file = memfd_create("fuzz", 0);
  bool written = write(file, data + 1, size - 1) >= 0;
  BadRecords bad(100);
  try {
    auto reader = open(data[0], "/proc/self/fd/" + std::to_string(file), bad);
    for (dl::data::DataSet set; written && reader->read(set);) set.check();
    reader->metadata();
  } catch (const dl::Error& error) {
    if (error.code() == dl::Code::kBug) __builtin_trap();
  }
  close(file);
  return 0;
}
