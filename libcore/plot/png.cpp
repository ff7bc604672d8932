// A process that draws: a library of its own would bring fonts, text layout and
// a dozen others into a program that needs them for this alone.

#include "libcore/plot/png.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <span>

#include "libcore/base/error.h"
#include "libcore/base/process.h"
#include "libcore/io/sink.h"
#include "libcore/io/temporary_folder.h"

namespace dl::plot {
namespace {

// Twice the size of the page, as screens have it now.
[[noreturn]] void become_renderer(const char* svg, int output) {
  ::dup2(output, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::execlp("rsvg-convert", "rsvg-convert", "--zoom=2", "--unlimited", svg,
           static_cast<char*>(nullptr));
  ::_exit(127);
}

std::string read_to_end(int from) {
  std::string text;
  std::array<char, 65536> bytes{};
  for (;;) {
    const ssize_t size = ::read(from, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::string to_png(const std::string& svg) {
  const io::TemporaryFolder folder;
  const std::string path = (folder.path() / "picture.svg").string();
  io::write_whole(path, svg);
  Pipe pipe;
  const pid_t child = fork_process(SIGTERM);
  if (child == 0) become_renderer(path.c_str(), pipe.writer());
  pipe.close_writer();
  std::string png = read_to_end(pipe.reader());
  const ProcessEnd end = process_end(wait_for_process(child));
  if (end.status == 127)
    throw Error{Code::kUnavailable,
                "a picture as PNG needs the program rsvg-convert, which is in "
                "Debian's librsvg2-bin; -o x.svg needs nothing"};
  if (end.status != 0)
    throw Error{Code::kUnavailable, "rsvg-convert " + end.how};
  return png;
}

}  // namespace dl::plot
