// dl-keygen - make the keys with which masters and workers know each other
// For users: man/dl-keygen.1.scd.

#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/transport/security/keys.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-keygen",
    .summary = "Make the keys by which masters and workers know each other.",
    .usage =
        "dl-keygen [OPTION]... DIR\n"
        "dl-keygen DIR --once NAME",
    .examples =
        "dl-keygen keys --worker gpu1 --worker gpu2\n"
        "scp -r keys/hand-out/gpu1 gpu1:keys\n"
        "dl-worker --keys keys --master tcp://boss:7000\n"
        "dl-keygen keys --once g7 | ssh g7 dl-worker --keys - --master "
        "tcp://b:7",
};

struct Args {
  std::vector<std::string> folders, workers;
  std::string once;
  bool force = false;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("worker,w", &a.workers, "NAME",
          "make keys for a worker of this name; may be repeated");
  opt.add("once", &a.once, "NAME",
          "print keys for the worker NAME, good for one process, which reads "
          "them with dl-worker --keys -");
  opt.flag("force,f", &a.force, "replace existing keys");
  opt.rest(&a.folders);
}

// Writes the files, then their names to standard output; or the keys that are
// in no file.
void run(const Args& args) {
  if (args.folders.size() != 1 || args.folders[0].empty())
    throw dl::Error{dl::Code::kUsage, "want one folder for the keys"};
  if (!args.once.empty()) {
    if (!args.workers.empty())
      throw dl::Error{dl::Code::kUsage, "--once does not go with --worker"};
    const auto keys =
        dl::cluster::make_once(args.folders[0], args.once, args.force);
    try {
      std::cout << keys.server << '\n'
                << keys.own.secret_key << '\n'
                << std::flush;
    } catch (...) {  // nobody has it
      dl::cluster::remove_once(args.folders[0], args.once + ".once");
      throw;
    }
    return;
  }
  for (const std::string& path :
       dl::cluster::make_keys(args.folders[0], args.workers, args.force))
    std::cout << path << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
