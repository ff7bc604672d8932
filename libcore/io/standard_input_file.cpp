#include "libcore/io/standard_input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"

namespace dl::io {
namespace {

bool can_be_read_again() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
         ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 &&
         ::access(kStandardInputFile, R_OK) == 0;
}

std::string folder_of_copy() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/var/tmp";
}

// A file that has no name any more.
int open_nameless(const std::string& folder) {
  std::string name = folder + "/dl-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    throw Error{Code::kCantCreate,
                "cannot keep standard input in " + in_quotes(folder) + ": " +
                    std::strerror(errno) + " (TMPDIR names another folder)"};
  (void)::unlink(name.c_str());
  return file;
}

void write_all(int file, std::string_view bytes, const std::string& folder) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error{Code::kIo,
                  "cannot keep standard input in " + in_quotes(folder) + ": " +
                      std::strerror(errno) + " (TMPDIR names another folder)"};
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

KeptInput keep_standard_input() {
  if (can_be_read_again()) return {};
  const auto source = open_source("-");
  KeptInput kept{folder_of_copy()};
  const int file = open_nameless(kept.folder);
  try {
    std::vector<std::byte> buffer(std::size_t{1} << 18);
    while (const std::size_t n = source->read(buffer)) {
      write_all(file, {reinterpret_cast<const char*>(buffer.data()), n},
                kept.folder);
      kept.bytes += static_cast<std::int64_t>(n);
    }
  } catch (...) {
    ::close(file);
    throw;
  }
  source->close();
  if (::dup2(file, STDIN_FILENO) < 0) {
    ::close(file);
    throw Error{Code::kIo, std::string("cannot replace standard input: ") +
                               std::strerror(errno)};
  }
  ::close(file);
  return kept;
}

}  // namespace dl::io
