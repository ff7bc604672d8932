// Checks that an output is none of the inputs.

#include "libcore/io/overwriting.h"

#include <sys/stat.h>
#include <unistd.h>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::io {
namespace {

// Whether `name`, or `standard` where it is "-", is a regular file.
bool find(const std::string& name, int standard, struct stat& info) {
  const int rc =
      name == "-" ? ::fstat(standard, &info) : ::stat(name.c_str(), &info);
  return rc == 0 && S_ISREG(info.st_mode);
}

}  // namespace

void refuse_overwriting(const std::string& output,
                        const std::vector<std::string>& inputs,
                        const char* what) {
  struct stat out {};
  if (!find(output, STDOUT_FILENO, out)) return;
  for (const std::string& input : inputs) {
    struct stat in {};
    if (input != "-" && !names_file(input)) continue;  // a command
    if (!find(input, STDIN_FILENO, in)) continue;
    if (in.st_dev != out.st_dev || in.st_ino != out.st_ino) continue;
    const auto shown = [](const std::string& name, const char* standard) {
      return name == "-" ? standard : in_quotes(name);
    };
    throw Error{Code::kUsage, shown(output, "standard output") + " " + what +
                                  " the input " +
                                  shown(input, "standard input")};
  }
}

}  // namespace dl::io
