// run_tool(): from the command line to the exit status.

#include "libcore/cli/tool.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/heap.h"
#include "libcore/cli/common.h"
#include "libcore/cli/options_state.h"
#include "libcore/cli/standard_output.h"

namespace dl::cli {
namespace {

// A process may be started without descriptors 0 to 2; a file opened later
// would become one of them.  A tool that writes to a missing standard output
// must learn it, so its place is taken by something that cannot be written.
void open_standard_files() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
      if (open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) _exit(70);
}

// OpenBLAS starts threads before main() that nothing here computes on
// (linalg/openblas.h).  Each wants its own memory, and where the process may
// not have it, as in a batch job with a limit, it raises SIGINT or tries for
// ever.  So this comes before the libraries' own beginnings, when there is
// nothing but system calls: the tool begins again with one thread.
void begin_with_one_thread(int, char** argv, char** environment) {
  static char setting[] = "OPENBLAS_NUM_THREADS=1";
  constexpr std::size_t kName = sizeof setting - 2;
  static std::array<char*, 4096> changed;
  static std::array<char, PATH_MAX> self;
  struct rlimit memory {};
  if (getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur == RLIM_INFINITY)
    return;
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count + 2 >= changed.size() ||
        std::strncmp(environment[count], setting, kName) == 0)
      return;
    changed[count] = environment[count];
  }
  changed[count] = setting;
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0) return;
  const char* name = std::strrchr(self.data(), '/');
  if (name == nullptr || std::strncmp(name, "/dl-", 4) != 0) return;
  execve(self.data(), argv, changed.data());  // where that fails, as it was
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const begin)(int, char**, char**) = begin_with_one_thread;

void (*clean_up)() noexcept = nullptr;  // for the signal handler

void die_of(int signal) {
  clean_up();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A parent may have left SIGPIPE ignored; a filter must die of it.  The others
// stay ignored if they were: that is what nohup and `command &` ask for.  A
// file over the limit of `ulimit -f` is an error like a full disk, not a death.
void restore_signals(const ToolInfo& tool) {
  std::signal(SIGPIPE, tool.filter ? SIG_DFL : SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  clean_up = tool.on_kill;
  if (clean_up == nullptr) return;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, die_of) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool wants(int argc, char** argv, std::string_view name, char letter) {
  const char short_form[] = {'-', letter, '\0'};
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i)
    if (argv[i] == name ||
        (letter != '\0' && std::strcmp(argv[i], short_form) == 0))
      return true;
  return false;
}

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (char c : lines) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text + "\n";
}

void print_help(const ToolInfo& tool, const Options::State& options) {
  std::cout << "Usage:\n"
            << indented(tool.usage) << "\n"
            << tool.summary << "\n\nExamples:\n"
            << indented(tool.examples) << options.help_text()
            << "\nSee also: man " << tool.name << ", man dl\n";
}

void print_version(const ToolInfo& tool, const Describe& describe) {
  std::cout << tool.name << " " << DL_VERSION << "\n";
  std::cout << "compiler " << __VERSION__ << "\n";
#ifdef DL_FAILPOINTS
  std::cout << "failpoints\n";
#endif
  if (describe)
    for (const std::string& line : describe()) std::cout << line << "\n";
}

// The last act: what the caller was promised on stdout must have arrived.
int close_stdout(const ToolInfo& tool, int status, StandardOutput& output) {
  try {
    output.flush();
    if (close(STDOUT_FILENO) != 0 && errno != EBADF)
      throw Error{Code::kIo, std::string("cannot write standard output: ") +
                                 std::strerror(errno)};
  } catch (const Error& error) {
    if (status != 0) return status;
    report(tool.name, error.what());
    return static_cast<int>(error.code());
  }
  return status;
}

// A name in a hostile file may have a megabyte: the beginning of a message says
// what is wrong, its end what to do.
std::string without_middle(std::string message) {
  constexpr std::size_t kBegin = 3000, kEnd = 1000;
  if (message.size() > kBegin + kEnd)
    message.replace(kBegin, message.size() - kBegin - kEnd, " ... ");
  return message;
}

int fail(const ToolInfo& tool, Code code, const std::string& message,
         StandardOutput& output) {
  try {
    output.flush();  // so that messages come after the product
  } catch (const Error&) {
    // Reports only the first error.
  }
  report(tool.name, without_middle(message));
  if (code == Code::kUsage)
    write_line(std::string("Try '") + tool.name + " --help'");
  return static_cast<int>(code);
}

int run_checked(const ToolInfo& tool, int argc, char** argv, Options& options,
                const CommonOptions& common, const std::function<void()>& run,
                const Describe& describe) {
  if (wants(argc, argv, "--help", 'h')) {
    print_help(tool, options.state());
    return 0;
  }
  if (wants(argc, argv, "--version", '\0')) {
    print_version(tool, describe);
    return 0;
  }
  options.state().parse(argc, argv);
  set_up(tool, common);
  if (common.print_config) {
    std::cout << options.state().config_text();
    return 0;
  }
  run();
  return 0;
}

int run_and_report(const ToolInfo& tool, int argc, char** argv,
                   const std::function<void(Options&)>& declare,
                   const std::function<void()>& run, const Describe& describe) {
  StandardOutput output;
  int status = 0;
  try {
    Options options(tool.name);
    CommonOptions common;
    declare(options);
    common.declare(options);
    status = run_checked(tool, argc, argv, options, common, run, describe);
  } catch (const Error& error) {
    status = fail(tool, error.code(), error.what(), output);
  } catch (const std::filesystem::filesystem_error& error) {
    status =
        fail(tool, Code::kIo,
             in_quotes(error.path1().string()) + ": " + error.code().message() +
                 (error.code() == std::errc::too_many_files_open
                      ? "; raise the limit, ulimit -n"
                      : ""),
             output);
  } catch (const std::bad_alloc&) {
    status =
        fail(tool, Code::kUnavailable, "there is not enough memory", output);
  } catch (const std::system_error& error) {
    // A limit may forbid further threads.
    const bool few = error.code() == std::errc::resource_unavailable_try_again;
    status =
        fail(tool, few ? Code::kUnavailable : Code::kBug,
             few ? "cannot make another thread: a limit of processes, or too "
                   "little memory"
                 : std::string("internal error: ") + error.what(),
             output);
  } catch (const std::exception& error) {
    status = fail(tool, Code::kBug,
                  std::string("internal error: ") + error.what(), output);
  }
  return close_stdout(tool, status, output);
}

}  // namespace

int run_tool(const ToolInfo& tool, int argc, char** argv,
             const std::function<void(Options&)>& declare,
             const std::function<void()>& run, const Describe& describe) {
  open_standard_files();
  if (!tool.filter) keep_freed_memory();
  restore_signals(tool);
  try {
    std::ios::sync_with_stdio(false);  // takes memory
    return run_and_report(tool, argc, argv, declare, run, describe);
  } catch (const std::bad_alloc&) {  // for the message as well
    for (const std::string_view text :
         {std::string_view(tool.name),
          std::string_view(": there is not enough memory\n")})
      [[maybe_unused]] const auto n = ::write(2, text.data(), text.size());
    return static_cast<int>(Code::kUnavailable);
  }
}

}  // namespace dl::cli
