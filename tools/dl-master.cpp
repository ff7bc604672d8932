// dl-master - train a network with any number of workers
// For users: man/dl-master.1.scd.  The run directory: man/dl-run.5.scd.

#include <iostream>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/stop_signal.h"
#include "libcore/cli/tool.h"
#include "libcore/cluster/master/master.h"
#include "libcore/device/open.h"
#include "tools/dl-master-exchange.h"
#include "tools/dl-master-workers.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-master",
    .summary = "Train a network with any number of workers.",
    .usage =
        "dl-master --net NETWORK --data SHARDS --output MODEL [OPTION...]\n"
        "dl-master --init MODEL --data SHARDS --output MODEL [OPTION...]\n"
        "dl-master --net NETWORK [--data SHARDS] --dry-run [OPTION...]\n"
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
  bool json = false;
  const dl::cli::Options* options = nullptr;
};

void declare_what(dl::cli::Options& opt, dl::cluster::MasterOptions& m) {
  opt.section("Network and data");
  opt.add("net", &m.net, "FILE", "the network, dl-network(5)");
  opt.add("init", &m.init, "MODEL",
          "start from this model's parameters; with --net other updaters or "
          "rates, or another network");
  opt.add("reset", &m.reset, "LAYER",
          "draw this layer anew in spite of --init; may be repeated");
  opt.add("data", &m.data, "SHARD",
          "training data: a file, a pattern, - or pipe:COMMAND; may be "
          "repeated");
  opt.add("eval-data", &m.eval_data, "SHARD",
          "held-out data, evaluated after each epoch; may be repeated");
  opt.add("normalize", &m.normalize, "KIND",
          "auto, none, scale, standardize, minmax, pca:K or whiten");
  opt.add("normalize-targets", &m.normalize_targets, "KIND",
          "targets of regression: auto, none or standardize");
  opt.add("output,o", &m.output, "MODEL", "where the trained model goes");
  opt.add("run", &m.run, "DIR", "the run directory; MODEL.run if not given");
  opt.flag("fresh", &m.fresh, "start over instead of going on");
  opt.flag("dry-run", &m.dry_run,
           "print the network and the configuration, train nothing");
  opt.flag("estimate", &m.estimate,
           "measure the workers and print what more hosts would bring");
  opt.add("replay", &m.replay, "RUN",
          "write the model after an update of this run, train nothing");
  opt.add("step", &m.step, "COUNT",
          "with --replay: after so many updates; the last if not given");
  opt.flag("list", &m.list, "with --replay: say which steps can be given");

  opt.section("Training");
  opt.add("mode", &m.mode, "MODE", "auto, sharing, averaging or sync");
  opt.add("epochs", &m.epochs, "COUNT", "passes over the data");
  opt.add("pretrain", &m.pretrain, "EPOCHS",
          "before that, of each autoencoder layer by itself; 0: none");
  opt.add("batch", &m.batch, "COUNT", "examples in a worker's mini-batch");
  opt.add("lr-warmup", &m.lr_warmup, "COUNT",
          "steps in which learning rates rise; default: 128 with adagrad, adam "
          "and their kind, else 0");
  opt.add("seed", &m.seed, "NUMBER",
          "seed of the order of examples; the network's if not given");
  opt.flag("deterministic", &m.deterministic,
           "compute alike on all processors that have AVX2");
  opt.add("prefetch", &m.prefetch, "COUNT", "mini-batches read ahead");
  declare_exchange(opt, m);

  opt.section("Evaluation and end");
  opt.add("evaluate", &m.evaluate, "[OUTPUT=]KIND",
          "classification, binary, roc, regression, calibration; may be "
          "repeated");
  opt.add("metric", &m.metric, "NAME",
          "score that --patience and --keep look at");
  opt.add("patience", &m.patience, "EPOCHS",
          "stop after so many without improvement; 0: never");
  opt.add("target", &m.target, "METRIC=VALUE", "stop when this is reached");
  opt.duration("max-time", &m.max_time, "TIME",
               "stop after this time, of all starts together; 0: never");
  opt.add("keep", &m.keep, "WHICH", "best or last; best with --patience");
  opt.add("on-divergence", &m.on_divergence, "WHAT", "reduce, stop or ignore");
}

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
               "between two; 0: only after epochs");
  opt.add("checkpoint-batches", &m.checkpoint_batches, "COUNT",
          "mini-batches between two; 0: by time only");
  opt.add("update-log", &m.update_log, "POLICY",
          "updates that are kept: prune (at checkpoints), keep or none");
}

// Refuses options that have no effect in this run.
void check(const dl::cli::Options& opt, const dl::cluster::MasterOptions& m) {
  if (!m.replay.empty()) {
    for (const char* title : {"Training", "Averaging", "Sharing", "Topology",
                              "Evaluation and end", "Workers", "Checkpoints"})
      opt.refuse_section(title, "does not go with --replay");
    opt.refuse({"net", "init", "reset", "data", "eval-data", "normalize", "run",
                "fresh", "dry-run", "estimate"},
               "does not go with --replay");
    if (opt.given("step") && m.step < 0)
      throw dl::Error{dl::Code::kUsage,
                      "--step: want an integer of 0 or more, got " +
                          std::to_string(m.step)};
    return;
  }
  if (m.pretrain > 0)
    opt.refuse({"init", "reset", "dry-run", "estimate"},
               "does not go with --pretrain");
  if (!m.init.empty())
    opt.refuse({"normalize"}, "does not go with --init: its model has one");
  if (m.estimate) opt.refuse({"dry-run"}, "does not go with --estimate");
  check_workers(opt, m);
  if (!m.estimate) check_exchange(opt, m);  // that looks at every mode
}

void run(Args& args) {
  dl::cluster::MasterOptions& master = args.master;
  const dl::Log log = dl::cli::log();
  decide_mode(*args.options, master, log);
  check(*args.options, master);
  master.version = DL_VERSION;
  master.epochs_given = args.options->given("epochs");
  master.grace = dl::cli::grace_period();
  dl::cli::Progress progress;
  if (!master.dry_run && master.replay.empty()) {
    master.stop = dl::cli::catch_stop_signals();
    master.stop_name = dl::cli::stop_signal_name;
    master.detail = dl::cli::verbose();
    master.show = dl::cli::show;
    master.progress = [&](const auto& line) { progress.update(line); };
  }
  const dl::cluster::Outcome outcome = dl::cluster::run_master(master, log);
  if (args.json)
    std::cout << dl::dump_json(outcome.json) << '\n';
  else if (master.dry_run || master.estimate || master.list)
    std::cout << outcome.text;
  else if (!outcome.text.empty())
    log(dl::Level::kInfo, "the run is finished\n" + outcome.text);
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
        declare_what(o, args.master);
        declare_workers(o, args.master);
        declare_checkpoints(o, args.master);
        declare_elsewhere(o);
        o.section("Output");
        o.flag("json", &args.json, "the report, or the dry run, as JSON");
      },
      [&] { run(args); }, dl::device::describe_devices);
}
