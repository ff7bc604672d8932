// dl-worker - train what a master hands out
// For users: man/dl-worker.1.scd.  The conversation: man/dl-protocol.7.scd.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "libcore/base/error.h"
#include "libcore/cli/stop_signal.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/worker/auto_device.h"
#include "libcore/cluster/worker/place.h"
#include "libcore/cluster/worker/worker.h"
#include "libcore/device/open.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-worker",
    .summary = "Train mini-batches that a dl-master hands out.",
    .usage =
        "dl-worker --master ENDPOINT [OPTION...]\n"
        "dl-worker --master-file FILE [OPTION...]",
    .examples =
        "dl-worker --master tcp://boss:7000 --keys ~/keys\n"
        "srun dl-worker --master-file /nfs/run/master.json",
    .filter = false,
};

// With room for the number of a process.
constexpr std::size_t kLongestName = dl::cluster::kLongestWorkerName - 4;

struct Args {
  const dl::cli::Options* options = nullptr;
  dl::cluster::WorkerOptions worker;
  std::string precision = "float32";
  std::int64_t threads = 0;
  std::uint64_t cache = std::uint64_t{256} << 20;
  bool exit_on_stdin_eof = false;
};

void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.section("Master");
  opt.add("master", &a.worker.master.endpoint, "ENDPOINT",
          "endpoint of the master: tcp://HOST:PORT or ipc://PATH");
  opt.add(
      "master-file", &a.worker.master.file, "FILE",
      "file to which the master writes its endpoint; waits until it exists");
  opt.duration("wait", &a.worker.wait, "TIME",
               "longest wait for the master's first answer");
  opt.duration("wait-lost", &a.worker.wait_lost, "TIME",
               "how long to wait for a lost master to come back");
  opt.add("keys", &a.worker.security.keys, "DIR",
          "folder with server.pub and worker.key; - reads them from standard "
          "input");
  opt.flag("insecure", &a.worker.security.insecure,
           "allow connections to other hosts without encryption");
  opt.add("interface", &a.worker.network.interface, "NAME",
          "listen for other workers on the address of this network interface");
  opt.add("network", &a.worker.network.network, "NETWORK",
          "listen for other workers on this host's address in this network, "
          "such as 10.0.0.0/16");

  opt.section("Work");
  opt.add("device", &a.worker.trainer.device, "NAME",
          "compute on cpu, cuda, cuda:N, cuda:all, auto (a GPU if there is "
          "one) or reference (slow, for tests)");
  opt.add("precision", &a.precision, "NAME",
          "precision of matrix products: float32, tf32 or bfloat16");
  opt.add("threads", &a.threads, "COUNT",
          "threads that compute; 0: this worker's share of the host's cores");
  opt.add("data-root", &a.worker.trainer.data_root, "DIR",
          "refuse to open shards outside this folder");
  opt.add("prefetch", &a.worker.trainer.prefetch, "COUNT",
          "mini-batches to read ahead; 0: as the master says");
  opt.size("cache", &a.cache, "SIZE", "memory for unpacked records");

  opt.section("Name and end");
  opt.add(
      "name", &a.worker.name, "NAME",
      "name of this worker, unique in the run; default: HOST:RANK or HOST-PID");
  opt.flag("exit-on-stdin-eof", &a.exit_on_stdin_eof,
           "stop when standard input ends, for use through ssh");
}

// A remote command outlives its ssh; the end of standard input tells it.
void watch_stdin() {
  std::thread([] {
    char bytes[256];
    while (::read(STDIN_FILENO, bytes, sizeof bytes) > 0) continue;
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

void check(const Args& args) {
  const dl::cluster::WorkerOptions& worker = args.worker;
  if (worker.master.endpoint.empty() == worker.master.file.empty())
    throw dl::Error{dl::Code::kUsage,
                    "want one of --master and --master-file, to know where "
                    "the master is"};
  if (worker.master.file.empty())
    dl::cluster::check_endpoint(worker.master.endpoint);
  dl::cluster::check_network(worker.network);
  if (worker.security.insecure)
    args.options->refuse({"keys"}, "does not go with --insecure");
  if (args.threads < 0 || args.threads > 4096)
    throw dl::Error{dl::Code::kUsage, "--threads: want 0 to 4096"};
  if (worker.trainer.prefetch < 0 || worker.trainer.prefetch > 1024)
    throw dl::Error{dl::Code::kUsage, "--prefetch: want 0 to 1024"};
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (worker.name.size() > kLongestName ||
      std::ranges::any_of(worker.name, control))
    throw dl::Error{dl::Code::kUsage, "--name: want at most " +
                                          std::to_string(kLongestName) +
                                          " bytes without control characters"};
}

// --device auto becomes what it is here: where that is several GPUs, in a
// process for each.  False: this is the one that has started them, and they
// have ended.
bool choose_device(Args& args, const dl::cluster::LaunchedAs& place) {
  dl::cluster::WorkerOptions& worker = args.worker;
  if (worker.trainer.device != "auto") return true;
  const auto devices = dl::cluster::devices_of_auto(place);
  const std::size_t count = devices.names.size();
  std::size_t mine = 0;
  if (count > 1) {
    if (worker.security.keys == "-")
      throw dl::Error{
          dl::Code::kUsage,
          "--keys -: that is a key for one process, and there are " +
              devices.why + "; give --device cuda:N or --keys DIR"};
    dl::cluster::WorkerProcesses processes;
    const auto process = processes.divide(devices.names);
    if (!process) {
      const int stop = dl::cli::catch_stop_signals();
      if (args.exit_on_stdin_eof) watch_stdin();
      processes.wait(stop, dl::cli::log());
      return false;
    }
    mine = *process;
    args.exit_on_stdin_eof = false;  // the first one tells us
    if (!worker.name.empty()) worker.name += "-" + std::to_string(mine);
    if (args.threads == 0)
      worker.trainer.threads =
          std::max(1, worker.trainer.threads / static_cast<int>(count));
  }
  worker.trainer.device = devices.names[mine];
  const bool unfit =
      worker.trainer.device == "cpu" &&
      worker.trainer.precision != dl::device::Precision::kFloat32;
  dl::cli::log()(
      devices.broken || unfit ? dl::Level::kWarning : dl::Level::kInfo,
      "--device auto: " + worker.trainer.device + " (" + devices.why + ")");
  return true;
}

void run(Args& args) {
  dl::cluster::WorkerOptions& worker = args.worker;
  if (const char* engine = std::getenv("DL_MASTER");
      engine != nullptr && worker.master.endpoint.empty() &&
      worker.master.file.empty())
    worker.master.endpoint = engine;
  check(args);
  worker.version = DL_VERSION;
  worker.trainer.precision = dl::device::precision_of(args.precision);
  worker.trainer.cache_bytes = args.cache;
  worker.trainer.threads = static_cast<int>(args.threads);
  if (!choose_device(args, dl::cluster::find_place(worker, dl::cli::log())))
    return;
  if (worker.security.keys == "-")
    worker.security.given = dl::cluster::read_worker_keys_from(STDIN_FILENO);
  worker.stop = dl::cli::catch_stop_signals();
  worker.ending = dl::cli::begin_grace;
  if (args.exit_on_stdin_eof) watch_stdin();
  dl::cluster::run_worker(worker, dl::cli::log());
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args); }, dl::device::describe_devices);
}
