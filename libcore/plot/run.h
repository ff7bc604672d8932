// A run directory, or a history alone, as a page shows it.

#ifndef DL_LIBCORE_PLOT_RUN_H_
#define DL_LIBCORE_PLOT_RUN_H_

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/plot/history.h"

namespace dl::plot {

class Run {
 public:
  // path: the folder, or its events.jsonl.
  // Throws Error: kNoInput, there is no history; kData, run.json is damaged.
  explicit Run(const std::string& path);

  const std::string& name() const noexcept { return name_; }
  const History& history() const noexcept { return reader_.history(); }
  const Json& configuration() const noexcept { return configuration_; }
  // Settings and network as rows of path and value, "settings.batch": "16".
  std::vector<std::pair<std::string, std::string>> settings() const;

 private:
  std::string name_;
  HistoryReader reader_;
  Json configuration_;  // run.json; null: there is none
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_H_
