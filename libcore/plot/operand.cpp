// Recognition of operands.

#include "libcore/plot/operand.h"

#include <cstddef>
#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::plot {

Subject subject_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || path.ends_with(".jsonl"))
    return Subject::kRun;
  const auto source = io::open_file(path);
  std::byte first{};
  if (io::read_full(*source, {&first, 1}) == 0)
    throw Error{Code::kData, in_quotes(path) +
                                 " is empty: want a run directory, a report "
                                 "of dl-eval --json or a model"};
  return first == std::byte{'{'} ? Subject::kReport : Subject::kModel;
}

}  // namespace dl::plot
