#include "libcore/cluster/master/launch/plot_server.h"

#include <chrono>
#include <csignal>

#include "libcore/base/error.h"
#include "libcore/cluster/master/launch/worker_command.h"

namespace dl::cluster {
namespace {

constexpr std::chrono::seconds kSlowestStart{10};

}  // namespace

PlotServer::PlotServer(const std::string& address, const std::string& run,
                       const Log& log) {
  std::string said;
  try {
    process_.emplace(ChildProcess::Order{
        .words = {program_beside("dl-plot"), "--serve", address, "--", run},
        .environment = environment_of({}),
        .input = {},
        .heard = true});
    said = process_->output(kSlowestStart);
  } catch (const Error& error) {
    said = error.what();
  }
  while (said.ends_with('\n')) said.pop_back();
  if (said.starts_with("http://"))
    log(Level::kInfo, "the run is drawn at " + said);
  else
    log(Level::kWarning, "--plot: the run is not drawn: " +
                             (said.empty() ? "dl-plot says nothing" : said));
}

PlotServer::~PlotServer() {
  if (!process_) return;
  const pid_t pid = process_->pid();
  process_->send(SIGTERM);
  wait_for_process(pid);
}

}  // namespace dl::cluster
