#include "libcore/cluster/worker/auto_device.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/base/process.h"
#include "libcore/device/cuda_plugin.h"

namespace dl::cluster {
namespace {

// In a process of its own: one in which CUDA has been used cannot be divided.
device::Gpus count_gpus() {
  Pipe pipe;
  const pid_t child = fork_process(SIGTERM);
  if (child == 0) {
    const device::Gpus gpus = device::count_gpus();
    const std::string answer =
        std::to_string(gpus.count) + (gpus.broken ? "!" : " ") + gpus.why_none;
    // A short line: at once or not at all.
    const auto written =
        ::write(pipe.writer(), answer.data(),
                std::min(answer.size(), std::size_t{PIPE_BUF}));
    ::_exit(written > 0 ? 0 : 1);
  }
  pipe.close_writer();
  char answer[PIPE_BUF + 1] = {};
  const auto size = ::read(pipe.reader(), answer, PIPE_BUF);
  const int status = wait_for_process(child);
  if (status != 0 || size <= 0)
    throw Error{Code::kUnavailable, "the process that counts the GPUs " +
                                        process_end(status).how +
                                        "; give --device cpu or cuda"};
  char* rest = nullptr;
  const auto count = static_cast<int>(std::strtol(answer, &rest, 10));
  return {.count = count, .why_none = rest + 1, .broken = *rest == '!'};
}

std::string name_of(int gpu) { return "cuda:" + std::to_string(gpu); }

}  // namespace

AutoDevices devices_of_auto(const LaunchedAs& place) {
  const device::Gpus found = count_gpus();
  const int gpus = found.count;
  if (gpus == 0) return {{"cpu"}, found.why_none, found.broken};
  AutoDevices result;
  result.why = std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
  if (const auto& local = place.local_rank) {
    result.names = {name_of(local->value % gpus)};
    result.why += ", " + local->variable + " " + std::to_string(local->value);
    return result;
  }
  for (int gpu = 0; gpu < gpus; ++gpu) result.names.push_back(name_of(gpu));
  return result;
}

std::optional<std::size_t> WorkerProcesses::divide(
    const std::vector<std::string>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Pipe pipe;
    const pid_t child = fork_process(SIGTERM);
    if (child == 0) {
      ::setpgid(0, 0);
      pipe.take_writer();  // it stays open as long as we live
      for (const Process& before : processes_) ::close(before.alive);
      processes_.clear();
      return i;
    }
    processes_.push_back({child, devices[i], pipe.take_reader()});
  }
  return std::nullopt;
}

WorkerProcesses::~WorkerProcesses() {
  tell_all(SIGTERM);
  for (const Process& process : processes_) {
    wait_for_process(process.pid);
    ::close(process.alive);
  }
}

void WorkerProcesses::tell_all(int signal) const noexcept {
  for (const Process& process : processes_) ::kill(process.pid, signal);
}

void WorkerProcesses::reap(std::size_t index, const Log& log) {
  const Process process = processes_[index];
  processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
  ::close(process.alive);
  const int status = wait_for_process(process.pid);
  const ProcessEnd end = process_end(status);
  if (end.status == 0) return;
  const std::string what = "the worker on " + process.device + " " + end.how;
  if (!processes_.empty() && !told_)
    log(Level::kWarning, what + "; the others go on");
  else if (failed_ != 0)
    log(Level::kWarning, what);
  if (failed_ != 0) return;
  failed_ =
      WIFSIGNALED(status) ? static_cast<int>(Code::kTryAgain) : end.status;
  failure_ = what;
}

void WorkerProcesses::wait(int stop, const Log& log) {
  std::vector<pollfd> ends;
  while (!processes_.empty()) {
    ends.clear();
    for (const Process& process : processes_)
      ends.push_back({process.alive, POLLIN, 0});
    if (!told_) ends.push_back({stop, POLLIN, 0});
    if (::poll(ends.data(), ends.size(), -1) < 0) continue;  // a signal
    if (!told_ && ends.back().revents != 0) {
      tell_all(SIGTERM);
      told_ = true;
    }
    ends.resize(processes_.size());
    std::size_t index = 0;
    for (const pollfd& end : ends)
      end.revents != 0 ? reap(index, log) : static_cast<void>(++index);
  }
  if (failed_ != 0) throw Error{static_cast<Code>(failed_), failure_};
}

}  // namespace dl::cluster
