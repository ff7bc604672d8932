// The options of dl-master about the network, its data, training and
// evaluation.

#ifndef DL_TOOLS_DL_MASTER_TRAINING_H_
#define DL_TOOLS_DL_MASTER_TRAINING_H_

#include "libcore/cli/options.h"
#include "libcore/cluster/run_config/master_options.h"
#include "tools/dl-master-exchange.h"

inline void declare_training(dl::cli::Options& opt,
                             dl::cluster::MasterOptions& m,
                             std::string& data_list) {
  opt.section("Network and data");
  opt.add("net", &m.net, "FILE", "network to train (JSON), dl-network(5)");
  opt.add("init", &m.init, "MODEL",
          "start from the parameters of MODEL; with --net, copy those of "
          "layers with the same name and shape");
  opt.add(
      "reset", &m.reset, "LAYER",
      "initialize this layer at random in spite of --init; may be repeated");
  opt.add("data", &m.data, "SHARD",
          "training data: a file, a glob pattern, - or pipe:COMMAND; may be "
          "repeated");
  opt.add("data-list", &data_list, "FILE",
          "file that lists more training data, a file or pattern a line");
  opt.add("eval-data", &m.eval_data, "SHARD",
          "held-out data, evaluated after each epoch; may be repeated");
  opt.add(
      "normalize", &m.normalize, "KIND",
      "normalization of features: none, scale (bytes to 0..1), standardize, "
      "minmax, pca:K, whiten, imagenet, vgg, or auto (by the data)");
  opt.add("normalize-targets", &m.normalize_targets, "KIND",
          "normalization of regression targets: auto, none or standardize");
  opt.add("output,o", &m.output, "MODEL", "file to write the trained model to");
  opt.add("run", &m.run, "DIR",
          "run directory, for checkpoints and events; default: MODEL.run");
  opt.flag("fresh", &m.fresh,
           "start over instead of resuming the run directory");
  opt.flag(
      "dry-run", &m.dry_run,
      "print the resolved network and configuration and exit without training");
  opt.add("preview-augment", &m.preview_augment, "FILE",
          "draw training pictures and what augmentation makes of them (PNG) "
          "and exit without training");
  opt.flag(
      "estimate", &m.estimate,
      "measure the workers and print the speedup to expect from more hosts");
  opt.add("replay", &m.replay, "RUN",
          "rebuild the model of an earlier step from this run directory, "
          "without training");
  opt.add("step", &m.step, "COUNT",
          "with --replay: number of updates to apply; -1: all");
  opt.flag("list", &m.list,
           "with --replay: list the steps whose model can be rebuilt");

  opt.section("Training");
  opt.add("mode", &m.mode, "MODE",
          "way that workers combine what they learn: auto, sharing (updates), "
          "averaging (parameters) or sync (each step)");
  opt.add("epochs", &m.epochs, "COUNT", "passes over the training data");
  opt.add("pretrain", &m.pretrain, "EPOCHS",
          "epochs for which each autoencoder layer is pretrained, one after "
          "the other; 0: none");
  opt.add("batch", &m.batch, "COUNT", "examples in a worker's mini-batch");
  opt.add("lr-warmup", &m.lr_warmup, "COUNT",
          "steps over which learning rates rise from 0; -1: 128 with adaptive "
          "updaters (adagrad, adam and others), else 0");
  opt.add("seed", &m.seed, "NUMBER",
          "seed of the order of examples; default: the network's seed");
  opt.flag("deterministic", &m.deterministic,
           "arithmetic with the same bits on every processor that has AVX2, so "
           "that a run can be repeated on others");
  opt.add("prefetch", &m.prefetch, "COUNT",
          "mini-batches that workers read ahead");
  declare_exchange(opt, m);

  opt.section("Evaluation and end");
  opt.add("evaluate", &m.evaluate, "[OUTPUT=]KIND",
          "evaluation of the held-out data: classification, binary, roc, "
          "regression or calibration; may be repeated");
  opt.add("metric", &m.metric, "NAME",
          "metric of the held-out data for --patience and --keep");
  opt.add("patience", &m.patience, "EPOCHS",
          "early stopping: stop after this many epochs without improvement; 0: "
          "never");
  opt.add("target", &m.target, "METRIC=VALUE",
          "stop when a metric of the held-out data reaches this value");
  opt.duration(
      "max-time", &m.max_time, "TIME",
      "stop after this much training time, summed over restarts; 0: no limit");
  opt.add("keep", &m.keep, "WHICH",
          "model to write at the end: best or last; default: best with "
          "--patience, else last");
  opt.add("on-divergence", &m.on_divergence, "WHAT",
          "when the loss diverges: reduce the learning rate, stop or ignore");
}

#endif  // DL_TOOLS_DL_MASTER_TRAINING_H_
