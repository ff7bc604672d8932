// A run directory, or a history alone, as a page shows it.

#ifndef DL_LIBCORE_PLOT_RUN_H_
#define DL_LIBCORE_PLOT_RUN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/plot/history.h"

namespace dl::plot {

// Copies are of the same run: what one reads, all have.
class Run {
 public:
  // path: the folder, or its events.jsonl.
  // Throws Error: kNoInput, there is no history; kData, run.json is damaged.
  explicit Run(const std::string& path);

  // Reads on; returns whether there was anything new.  Throws as the
  // constructor, and is as before then.
  bool read();

  // The folder, also of a history that was named alone.
  std::string folder() const;
  const std::string& name() const noexcept { return contents_->name; }
  const History& history() const noexcept {
    return contents_->reader.history();
  }
  const Json& configuration() const noexcept {
    return contents_->configuration;
  }
  // Settings and network as rows of path and value, "settings.batch": "16".
  std::vector<std::pair<std::string, std::string>> settings() const;

 private:
  struct Contents {
    std::string name;
    HistoryReader reader;
    Json configuration;  // run.json; null: there is none
  };
  std::shared_ptr<Contents> contents_;
};

// "x" of "x.safetensors.run", "x.run" and their histories.
std::string run_name(const std::string& path);
// Whether it is a run directory, or a history.
bool is_run(const std::string& path);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_RUN_H_
