#include "libcore/io/source_list.h"

#include <algorithm>
#include <memory>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::io {

std::vector<std::string> read_list(const std::string& file) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::unique_ptr<Source> source =
      file == "-" ? open_source(file) : open_file(file);
  const std::string text = read_all(*source, kMost);
  std::vector<std::string> out;
  std::size_t number = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    ++number;
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    try {
      if (!names_file(line))
        throw Error{Code::kData, in_quotes(line) +
                                     " is no file; commands and standard "
                                     "input are for the command line"};
      for (std::string& spec : expand_operands({line}))
        out.push_back(std::move(spec));
    } catch (Error& e) {
      e.add_context(source->name() + ", line " + std::to_string(number));
      throw;
    }
  }
  if (out.empty())
    throw Error{Code::kNoInput, source->name() + " lists no files"};
  return out;
}

}  // namespace dl::io
