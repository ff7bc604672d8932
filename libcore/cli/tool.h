// The frame of every program of the toolkit: run_tool().
//
// It restores SIGPIPE, parses the command line and the environment, runs the
// tool, catches what it throws, prints "tool: message", closes standard output
// and checks that, and returns the exit status of dl(7).

#ifndef DL_LIBCORE_CLI_TOOL_H_
#define DL_LIBCORE_CLI_TOOL_H_

#include <functional>
#include <string>

#include "libcore/base/log.h"
#include "libcore/cli/options.h"

namespace dl::cli {

struct ToolInfo {
  const char* name;      // "dl-shard"
  const char* summary;   // one sentence
  const char* usage;     // "dl-shard [OPTION...] [INPUT...]"; \n between forms
  const char* examples;  // one command a line
  // false: a trainer.  SIGPIPE, SIGINT and SIGTERM are left to the tool, and
  // freed memory is kept (base/heap.h).
  bool filter = true;
  // Called before a filter dies of SIGINT, SIGTERM or SIGHUP:
  // io::remove_unfinished where it writes files. Async-signal-safe.
  void (*on_kill)() noexcept = nullptr;
};

// The message sink of this process, valid after parsing: warnings always
// reach stderr, info unless -q, detail with -v.  Whole lines, one write each.
const Log& log();
// Shows a line of another program, likewise.
void show(const std::string& line);
// Whether --verbose was given.
bool verbose();

// More lines for --version ("cpu (oneDNN 2.6.3 ...)").
using Describe = std::function<std::vector<std::string>()>;

// Returns the exit status.  declare() adds the options; run() does the work.
int run_tool(const ToolInfo& tool, int argc, char** argv,
             const std::function<void(Options&)>& declare,
             const std::function<void()>& run, const Describe& describe = {});

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_TOOL_H_
