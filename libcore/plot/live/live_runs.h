// Runs that grow while they are looked at, as the pages of a server.
//
// "" is the page of the only run, or the list of all; "run?name=a&name=b" is
// that of some of them; "events?..." watches these pages.  Histories are read
// when somebody looks, and a page is drawn so seldom that it takes a hundredth
// of a core, though at once after an epoch.

#ifndef DL_LIBCORE_PLOT_LIVE_LIVE_RUNS_H_
#define DL_LIBCORE_PLOT_LIVE_LIVE_RUNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/plot/live/web_server.h"
#include "libcore/plot/run.h"

namespace dl::plot {

class LiveRuns {
 public:
  // paths: runs, histories, and folders of runs, in which new ones may appear.
  // work: measures what drawing costs.
  // Throws Error: kNoInput, there is no such file.
  explicit LiveRuns(std::vector<std::string> paths,
                    Clock& clock = monotonic_clock(),
                    Clock& work = work_clock());

  WebAnswer answer(const std::string& target);
  std::optional<std::string> state(const std::string& target);
  // Pages show the newest from now on, whatever drawing them costs.
  void hurry() { hurried_ = true; }

 private:
  struct Entry {
    std::string path;
    std::optional<Run> run;  // nothing: it was not read yet, or cannot be
    std::string error;
    std::uint64_t shown = 0;                 // which state of it pages show
    bool changed = false, decisive = false;  // since that; by an epoch
    double looked_at = -1, shown_at = 0, epoch_shown_at = 0, cost = 0;
  };
  struct Page {
    std::string state, html;
  };

  bool alone() const;
  void find();
  void add(const std::string& path);
  void look_at(Entry& entry);
  void read(Entry& entry);
  // Entries of a target; nothing: one is not there.
  std::optional<std::vector<Entry*>> entries(const std::string& target);
  std::string state_of(const std::vector<Entry*>& entries);
  std::string draw(const std::vector<Entry*>& entries, const std::string& state,
                   bool list);
  std::string list_page(const std::string& state);

  std::vector<std::string> paths_;
  Clock& clock_;
  Clock& work_;
  std::string start_;                         // tells this server from others
  std::map<std::string, Entry> entries_;      // by name
  std::map<std::string, std::string> known_;  // names, by path
  std::map<std::string, Page> pages_;         // the last of each target
  double found_at_ = -1;
  bool hurried_ = false;
};

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_LIVE_LIVE_RUNS_H_
