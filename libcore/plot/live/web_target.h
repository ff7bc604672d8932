// Targets of requests: a path and a query.

#ifndef DL_LIBCORE_PLOT_LIVE_WEB_TARGET_H_
#define DL_LIBCORE_PLOT_LIVE_WEB_TARGET_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dl::plot {

struct WebTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;  // decoded

  std::vector<std::string> values(std::string_view key) const;
};

// "run?name=a%20b" -> {"run", {{"name", "a b"}}}
WebTarget parse_web_target(std::string_view target);

// A value as it stands in a query.
std::string in_query(std::string_view value);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_LIVE_WEB_TARGET_H_
