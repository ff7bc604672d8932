#include "libcore/cluster/master/launch/plot_processes.h"

#include <chrono>
#include <csignal>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/cluster/master/launch/worker_command.h"

namespace dl::cluster {
namespace {

constexpr std::chrono::seconds kSlowestStart{10};

}  // namespace

PlotProcesses::PlotProcesses(const MasterOptions& options,
                             const std::string& run, const Log& log) {
  const auto tell = [&](const char* option, const char* where, const char* sign,
                        const std::string& said) {
    if (said.starts_with(sign))
      log(Level::kInfo, where + said);
    else
      log(Level::kWarning, option + std::string(": the run is not drawn: ") +
                               (said.empty() ? "dl-plot says nothing" : said));
  };
  if (!options.plot.empty())
    tell("--plot", "the run is drawn at ", "http://",
         start({"--serve", options.plot, "--", run}));
  if (!options.tensorboard.empty())
    tell("--tensorboard", "for TensorBoard: ", "writing",
         start({"--tensorboard", options.tensorboard, "--follow", "--", run}));
}

// Returns the first that it says.
std::string PlotProcesses::start(std::vector<std::string> words) {
  std::string said;
  try {
    words.insert(words.begin(), program_beside("dl-plot"));
    processes_.emplace_back(
        ChildProcess::Order{.words = std::move(words),
                            .environment = environment_of({}),
                            .input = {},
                            .heard = true});
    said = processes_.back().output(kSlowestStart);
  } catch (const Error& error) {
    said = error.what();
  }
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

PlotProcesses::~PlotProcesses() {
  for (const ChildProcess& process : processes_) {
    const pid_t pid = process.pid();
    process.send(SIGTERM);
    wait_for_process(pid);
  }
}

}  // namespace dl::cluster
