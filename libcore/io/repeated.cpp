#include "libcore/io/repeated.h"

#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/io/source.h"

namespace dl::io {

std::string repeated(const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::unordered_map<std::string, std::string> names;  // by whole path
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!names_file(input)) continue;
    const fs::path whole = fs::canonical(input, error);
    if (error) continue;
    const auto [found, is_new] = names.emplace(whole.string(), input);
    if (!is_new)
      return in_quotes(input) +
             (input == found->second
                  ? " is named twice"
                  : " is the input " + in_quotes(found->second) + " again");
  }
  for (const auto& [whole, input] : names)
    for (fs::path above = fs::path(whole).parent_path();;
         above = above.parent_path()) {
      if (const auto found = names.find(above.string()); found != names.end())
        return in_quotes(input) + " lies in the input " +
               in_quotes(found->second);
      if (above == above.parent_path()) break;
    }
  return "";
}

}  // namespace dl::io
