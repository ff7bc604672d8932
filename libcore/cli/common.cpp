// Declaration and handling of the options that every tool has.

#include "libcore/cli/common.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "libcore/base/display.h"

namespace dl::cli {
namespace {

// The one place of process-wide state: what the command line said of stderr.
struct Terminal {
  bool progress = false, progress_json = false, verbose = false;
  std::atomic<bool> shown = false;
  Log log = [](Level, const std::string&) {};
} terminal;

bool in_foreground() {
  return isatty(STDERR_FILENO) == 1 && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

}  // namespace

void CommonOptions::declare(Options& options) {
  options.section("Common options");
  options.flag("help,h", &help, "show this help");
  options.flag("version", &version, "show the version and what is compiled in");
  options.flag("quiet,q", &quiet, "print only warnings and errors");
  options.flag("verbose,v", &verbose, "print more messages");
  options.flag("progress", &progress, "show progress even without a terminal");
  options.flag("progress-json", &progress_json,
               "write progress to standard error as JSON, for programs");
  options.flag("no-progress", &no_progress,
               "never show progress, even on a terminal");
  options.flag("no-pipe", &no_pipe, "refuse inputs of the form pipe:COMMAND");
  options.flag("print-config", &print_config,
               "print every setting and its source (command line, file or "
               "default), then exit");
}

void set_up(const ToolInfo& tool, const CommonOptions& common) {
  if (common.no_pipe) setenv("DL_NO_PIPE", "1", 1);
  terminal.progress_json = common.progress_json && !common.no_progress;
  terminal.progress =
      terminal.progress_json || (!common.no_progress && !common.quiet &&
                                 (common.progress || in_foreground()));
  terminal.verbose = common.verbose;
  Level most = common.quiet     ? Level::kWarning
               : common.verbose ? Level::kDetail
                                : Level::kInfo;
  terminal.log = [name = std::string(tool.name), most](
                     Level level, const std::string& line) {
    if (level <= most) report(name, line);
  };
}

const Log& log() { return terminal.log; }
void show(const std::string& line) { write_line(displayed_lines(line)); }
bool verbose() { return terminal.verbose; }

// No line of a message is to look as if it were another one.
void report(const std::string& tool, const std::string& message) {
  const std::string begin = tool + ": ";
  std::string text = displayed_lines(message);
  for (std::size_t at = 0;
       (at = text.find("\n" + begin, at)) != std::string::npos; ++at)
    text.replace(at, 1, "\\n");
  write_line(begin + text);
}

void write_line(const std::string& line) {
  std::string text = (terminal.shown ? "\r\033[K" : "") + line + "\n";
  // Nobody is left to be told if this fails.
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, text.data(), text.size());
}

bool progress_wanted() { return terminal.progress; }
bool progress_as_json() { return terminal.progress_json; }
void set_progress_shown(bool shown) { terminal.shown = shown; }

}  // namespace dl::cli
