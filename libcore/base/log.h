// The library's log.  libcore prints nothing itself: a tool hands it a Log
// (cli/tool.h has the one that writes to stderr).

#ifndef DL_LIBCORE_BASE_LOG_H_
#define DL_LIBCORE_BASE_LOG_H_

#include <functional>
#include <string>

namespace dl {

enum class Level {
  kWarning,
  kInfo,
  kDetail
};  // -q hides info, -v shows detail

// Called from any thread, one complete line without its newline at a time.
using Log = std::function<void(Level, const std::string& line)>;

// Drops every line.
inline Log silent() {
  return [](Level, const std::string&) {};
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_LOG_H_
