// The options that every tool has, and the process's standard error.

#ifndef DL_LIBCORE_CLI_COMMON_H_
#define DL_LIBCORE_CLI_COMMON_H_

#include <string>

#include "libcore/cli/tool.h"

namespace dl::cli {

struct CommonOptions {
  bool help = false, version = false;  // acted on before parsing
  bool quiet = false, verbose = false;
  bool progress = false, progress_json = false, no_progress = false;
  bool no_pipe = false, print_config = false;
  void declare(Options& options);
};

// Makes log(), progress lines and sources obey the options.
void set_up(const ToolInfo& tool, const CommonOptions& common);

// "tool: message" to stderr, as one write.
void report(const std::string& tool, const std::string& message);
void write_line(const std::string& line);

// Progress lines are wanted: stderr is a terminal with us in its foreground,
// or --progress or --progress-json.
bool progress_wanted();
// Set while a progress line is on the terminal, so that write_line() clears it
// first.
void set_progress_shown(bool shown);

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_COMMON_H_
