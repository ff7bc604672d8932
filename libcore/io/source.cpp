// Sources: standard input, files, commands, patterns.

#include "libcore/io/source.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/process.h"

namespace dl::io {
namespace {

class FdSource : public Source {
 public:
  FdSource(int fd, std::string name) : Source(std::move(name)), fd_(fd) {}
  ~FdSource() override { release(); }

  std::size_t read(std::span<std::byte> buf) override {
    while (true) {
      if (stop_ >= 0) wait();
      const ssize_t n = ::read(fd_, buf.data(), buf.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR)
        throw Error{Code::kIo,
                    "cannot read " + name() + ": " + std::strerror(errno)};
    }
  }
  void close() override { release(); }

  bool ready() override {
    pollfd input{fd_, POLLIN, 0};
    return ::poll(&input, 1, 0) != 0;
  }
  void stop_at(int stop) override { stop_ = stop; }

 protected:
  void release() noexcept {
    if (fd_ > STDIN_FILENO) ::close(fd_);
    fd_ = -1;
  }

 private:
  // Errors that poll() cannot report are left to read().
  void wait() const {
    pollfd either[] = {{fd_, POLLIN, 0}, {stop_, POLLIN, 0}};
    while (::poll(either, 2, -1) < 0 && errno == EINTR) {
    }
    if (either[1].revents != 0)
      throw Error{Code::kIo, name() + " is no longer read"};
  }

  int fd_;
  int stop_ = -1;
};

class PipeSource : public FdSource {
 public:
  PipeSource(int fd, pid_t child, std::string name)
      : FdSource(fd, std::move(name)), child_(child) {}
  ~PipeSource() override { reap(); }

  std::size_t read(std::span<std::byte> buf) override {
    const std::size_t n = FdSource::read(buf);
    if (n == 0 && !buf.empty()) ended_ = true;
    return n;
  }

  void close() override {
    if (child_ < 0) return;
    const int status = reap();
    if (!ended_) return;
    if (WIFSIGNALED(status))
      throw Error{Code::kIo, name() + " was killed by signal " +
                                 std::to_string(WTERMSIG(status))};
    if (WEXITSTATUS(status) != 0)
      throw Error{Code::kIo, name() + " exited with status " +
                                 std::to_string(WEXITSTATUS(status))};
  }

 private:
  int reap() noexcept {
    if (child_ < 0) return 0;
    release();
    // A command that waits for something else would never notice that nobody
    // reads it any more.
    if (!ended_) ::kill(child_, SIGTERM);
    return wait_for_process(std::exchange(child_, -1));
  }

  pid_t child_;
  bool ended_ = false;
};

// Starts `sh -c command` with `output` as its standard output.  SIGPIPE is
// set back to its default: ignored, it would be inherited, and commands would
// complain instead of dying of it.
pid_t spawn_shell(const std::string& command, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  sigset_t defaults, mask;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
  sigemptyset(&mask);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string sh = "sh", flag = "-c", text = command;
  char* argv[] = {sh.data(), flag.data(), text.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, "/bin/sh", &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    return -1;
  }
  return child;
}

std::unique_ptr<Source> open_pipe(std::string_view spec) {
  const char* forbidden = std::getenv("DL_NO_PIPE");
  if (forbidden && *forbidden != '\0' && std::string_view(forbidden) != "0")
    throw Error{
        Code::kUsage,
        in_quotes(spec) + ": --no-pipe or DL_NO_PIPE forbids 'pipe:' inputs"};
  const std::string command(spec.substr(5));
  if (command.find_first_not_of(" \t\n") == std::string::npos)
    throw Error{Code::kUsage, "'pipe:' needs a command"};
  Pipe pipe;
  const pid_t child = spawn_shell(command, pipe.writer());
  if (child < 0)
    throw Error{Code::kNoInput, "cannot start " + in_quotes(spec) + ": " +
                                    std::strerror(errno)};
  return std::make_unique<PipeSource>(pipe.take_reader(), child,
                                      in_quotes(spec));
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

// The spec that means the file of this name.
std::string file_spec(const std::string& path) {
  return path == "-" || path.starts_with("pipe:") ? "./" + path : path;
}

// Appends what the pattern matches, sorted by bytes whatever the locale.
void expand_pattern(const std::string& pattern, std::vector<std::string>& out) {
  glob_t found{};
  const int rc = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> names(
      found.gl_pathv, found.gl_pathv + (rc == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (names.empty())
    throw Error{Code::kNoInput, "no file matches " + in_quotes(pattern)};
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) out.push_back(file_spec(name));
}

}  // namespace

std::unique_ptr<Source> open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  int error = fd < 0 || ::fstat(fd, &info) < 0 ? errno : 0;
  if (error == 0 && S_ISDIR(info.st_mode)) error = EISDIR;
  if (error != 0) {
    if (fd >= 0) ::close(fd);
    throw Error{Code::kNoInput,
                "cannot open " + in_quotes(path) + ": " + std::strerror(error)};
  }
  return std::make_unique<FdSource>(fd, in_quotes(path));
}

bool names_file(std::string_view spec) {
  if (spec == "-") return false;
  return !spec.starts_with("pipe:") || exists(std::string(spec));
}

bool is_regular(const std::string& spec, struct stat& info) {
  return names_file(spec) && ::stat(spec.c_str(), &info) == 0 &&
         S_ISREG(info.st_mode);
}

std::unique_ptr<Source> open_source(std::string_view spec) {
  if (spec.empty()) throw Error{Code::kUsage, "the name of an input is empty"};
  if (names_file(spec)) return open_file(std::string(spec));
  if (spec != "-") return open_pipe(spec);
  if (::isatty(STDIN_FILENO))
    throw Error{Code::kUsage,
                "standard input is a terminal; name a file or use a pipe"};
  return std::make_unique<FdSource>(STDIN_FILENO, "standard input");
}

std::vector<std::string> expand_operands(
    const std::vector<std::string>& specs) {
  std::vector<std::string> out;
  for (const std::string& spec : specs) {
    if (!names_file(spec))
      out.push_back(spec);
    else if (spec.find_first_of("*?[") == std::string::npos || exists(spec))
      out.push_back(file_spec(spec));
    else
      expand_pattern(spec, out);
  }
  return out;
}

std::size_t read_full(Source& source, std::span<std::byte> buf) {
  std::size_t done = 0;
  while (done < buf.size()) {
    const std::size_t n = source.read(buf.subspan(done));
    if (n == 0) break;
    done += n;
  }
  return done;
}

std::string read_all(Source& source, std::size_t max_bytes) {
  std::string text;
  std::byte buffer[16384];
  while (const std::size_t n = source.read(buffer)) {
    if (n > max_bytes - text.size())
      throw Error{Code::kData, source.name() + " has more than " +
                                   std::to_string(max_bytes) + " bytes"};
    text.append(reinterpret_cast<const char*>(buffer), n);
  }
  return text;
}

}  // namespace dl::io
