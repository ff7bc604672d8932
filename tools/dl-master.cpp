// dl-master - train a network with any number of workers
// For users: man/dl-master.1.scd.  The run directory: man/dl-run.5.scd.

#include <unistd.h>

#include <iostream>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/stop_signal.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/master/master.h"
#include "libcore/cluster/report/loss_curve.h"
#include "libcore/device/open.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/source_list.h"
#include "tools/dl-master-training.h"
#include "tools/dl-master-workers.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-master",
    .summary = "Train a neural network with any number of workers.",
    .usage =
        "dl-master --net NETWORK --data SHARDS --output MODEL [OPTION...]\n"
        "dl-master --init MODEL --data SHARDS --output MODEL [OPTION...]\n"
        "dl-master --net NETWORK [--data SHARDS] --dry-run [OPTION...]\n"
        "dl-master --net NETWORK --data SHARDS --preview-augment FILE "
        "[OPTION...]\n"
        "dl-master --net NETWORK --data SHARDS --estimate [OPTION...]\n"
        "dl-master --replay RUN [--step COUNT] --output MODEL\n"
        "dl-master --replay RUN --list",
    .examples =
        "dl-master --net lenet.json --data 'train-*.dls' --epochs 5 --local 2 "
        "-o lenet.safetensors\n"
        "dl-master --net lenet.json --data 'train-*.dls' --hosts 'h1,h2*4' "
        "-o lenet.safetensors\n"
        "dl-master --net lenet.json --data 'train-*.dls' --mode averaging "
        "--workers 4 --keys keys --master-file m.json -o lenet.safetensors",
    .filter = false,
};

struct Args {
  dl::cluster::MasterOptions master;
  std::string data_list;  // a file that names more of master.data; or ""
  bool json = false;
  const dl::cli::Options* options = nullptr;
};

void declare_elsewhere(dl::cli::Options& opt) {
  opt.elsewhere(
      {"learning-rate", "lr", "momentum"},
      "it is a key of \"updater\" in the network, see UPDATERS in "
      "dl-network(5); for --init, dl-export writes the model's, to be "
      "changed for --net");
  opt.elsewhere({"updater", "optimizer", "loss", "dropout", "l1", "l2",
                 "weight-decay", "class-weights"},
                "it is a key of the network, see dl-network(5)");
}

void declare_checkpoints(dl::cli::Options& opt, dl::cluster::MasterOptions& m) {
  opt.section("Checkpoints");
  opt.duration("checkpoint-every", &m.checkpoint_every, "TIME",
               "time between checkpoints; 0: only after epochs");
  opt.add("checkpoint-batches", &m.checkpoint_batches, "COUNT",
          "mini-batches between checkpoints; 0: by time only");
  opt.add("update-log", &m.update_log, "POLICY",
          "updates to keep in the run directory: prune (since the last two "
          "checkpoints), keep (all) or none");
}

// Refuses options that have no effect in this run.
void check(const dl::cli::Options& opt, const dl::cluster::MasterOptions& m) {
  if (!m.replay.empty()) {
    for (const char* title : {"Training", "Averaging", "Sharing", "Topology",
                              "Evaluation and end", "Workers", "Checkpoints"})
      opt.refuse_section(title, "does not go with --replay");
    opt.refuse({"net", "init", "reset", "data", "data-list", "eval-data",
                "normalize", "run", "fresh", "dry-run", "preview-augment",
                "estimate", "plot", "summary", "tensorboard"},
               "does not go with --replay");
    if (opt.given("step") && m.step < 0)
      throw dl::Error{dl::Code::kUsage,
                      "--step: want an integer of 0 or more, got " +
                          std::to_string(m.step)};
    return;
  }
  if (m.pretrain > 0)
    opt.refuse({"init", "reset", "dry-run", "preview-augment", "estimate"},
               "does not go with --pretrain");
  if (!m.init.empty())
    opt.refuse({"normalize"}, "does not go with --init: its model has one");
  if (m.estimate)
    opt.refuse({"dry-run", "preview-augment", "plot", "summary", "tensorboard"},
               "does not go with --estimate");
  if (!m.preview_augment.empty())
    opt.refuse({"dry-run", "plot", "summary", "tensorboard"},
               "does not go with --preview-augment");
  if (m.dry_run)
    opt.refuse({"plot", "summary", "tensorboard"},
               "does not go with --dry-run");
  check_workers(opt, m);
  if (!m.estimate) check_exchange(opt, m);  // that looks at every mode
}

// The losses in characters, for people who watch.
std::string curve(const dl::Json& report) {
  return ::isatty(STDERR_FILENO) == 1 && dl::cluster::shows_blocks()
             ? dl::cluster::loss_curve(report)
             : "";
}

void run(Args& args) {
  dl::cluster::MasterOptions& master = args.master;
  const dl::Log log = dl::cli::log();
  decide_mode(*args.options, master, log);
  check(*args.options, master);
  if (!args.data_list.empty()) {
    for (const std::string& output : {master.output, master.preview_augment})
      dl::io::refuse_overwriting(output, {args.data_list});
    for (std::string& spec : dl::io::read_list(args.data_list))
      master.data.push_back(std::move(spec));
  }
  master.version = DL_VERSION;
  master.epochs_given = args.options->given("epochs");
  master.grace = dl::cli::grace_period();
  dl::cli::Progress progress;
  if (!master.dry_run && master.preview_augment.empty() &&
      master.replay.empty()) {
    master.stop = dl::cli::catch_stop_signals();
    master.stop_name = dl::cli::stop_signal_name;
    master.detail = dl::cli::verbose();
    master.progress_json = dl::cli::progress_as_json();
    master.show = dl::cli::show;
    master.progress = [&](const auto& line) { progress.update(line); };
  }
  const dl::cluster::Outcome outcome = dl::cluster::run_master(master, log);
  if (args.json)
    std::cout << dl::dump_json(outcome.json) << '\n';
  else if (master.dry_run || master.estimate || master.list)
    std::cout << outcome.text;
  else if (!outcome.text.empty())
    log(dl::Level::kInfo,
        "the run is finished\n" + outcome.text + curve(outcome.json));
  if (outcome.verdict) throw dl::Error(*outcome.verdict);
  if (!outcome.remark.empty()) log(dl::Level::kWarning, outcome.remark);
  if (!outcome.note.empty()) log(dl::Level::kInfo, outcome.note);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv,
      [&](dl::cli::Options& o) {
        args.options = &o;
        declare_training(o, args.master, args.data_list);
        declare_workers(o, args.master);
        declare_checkpoints(o, args.master);
        declare_elsewhere(o);
        o.section("Output");
        o.add("plot", &args.master.plot, "[ADDRESS:]PORT",
              "draw the run while it lasts, on a page that dl-plot serves; 0: "
              "any free port; address: default 127.0.0.1");
        o.add("summary", &args.master.summary, "COUNT",
              "mini-batches between two summaries in the history: norms and "
              "histograms by layer, of parameters, their changes, gradients "
              "and activations; 0: none");
        o.add("tensorboard", &args.master.tensorboard, "DIR",
              "folder for TensorBoard, written while the run lasts, by dl-plot "
              "--tensorboard --follow");
        o.flag("json", &args.json,
               "print the summary at the end, or of --dry-run, as JSON");
      },
      [&] { run(args); }, dl::device::describe_devices);
}
