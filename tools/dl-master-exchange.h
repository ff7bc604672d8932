// The options of dl-master about the exchange.

#ifndef DL_TOOLS_DL_MASTER_EXCHANGE_H_
#define DL_TOOLS_DL_MASTER_EXCHANGE_H_

#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cli/options.h"
#include "libcore/cluster/run_config/master_options.h"

inline void declare_averaging(dl::cli::Options& opt,
                              dl::cluster::AveragingOptions& a) {
  opt.section("Averaging");
  opt.add("frequency", &a.frequency, "COUNT",
          "mini-batches that a replica trains between two averages; 0: 5 "
          "(bmuf: 50, diloco: 500)");
  opt.add("workers", &a.workers, "COUNT",
          "replicas that a round averages; 0: one for each of --local, or for "
          "each worker present when the round begins");
  opt.add("updater-state", &a.updater_state, "WHAT",
          "updater state when replicas are averaged: "
          "average, keep or reset; default: depends on --outer");
  opt.add("outer", &a.outer, "METHOD",
          "outer optimizer that applies the average of workers: plain, "
          "momentum, nesterov, bmuf or diloco");
  opt.add("outer-rate", &a.outer_rate, "RATE",
          "learning rate of the outer optimizer; 0: the default of the "
          "optimizer, 1 (diloco: 0.7)");
  opt.add("outer-momentum", &a.outer_momentum, "MOMENTUM",
          "momentum of the outer optimizer; negative stands for 0.9, with bmuf "
          "1 - 1/replicas");
  opt.add("delta", &a.delta, "FORMAT",
          "number format in which replicas send changes of parameters: f32, "
          "f16, int8 or sparse:DENSITY:BITS");
  opt.flag("overlap", &a.overlap,
           "train the next round while the last one is being averaged");
}

inline void declare_sharing(dl::cli::Options& opt,
                            dl::cluster::SharingOptions& s) {
  opt.section("Sharing");
  opt.add("threshold", &s.threshold, "RULE",
          "size above which an element of an update is sent: fixed:T, "
          "adaptive[:START], target:DENSITY (approached) or quantile:DENSITY "
          "(exact)");
  opt.add("per-tensor", &s.per_tensor, "YES-NO",
          "size above which elements are sent (--threshold): of each tensor "
          "(yes), or one for all (no)");
  opt.add("warmup", &s.warmup, "COUNT",
          "mini-batches over which the density of updates falls to its target");
  opt.add("clip", &s.clip, "MULTIPLE",
          "multiple of the threshold to which the residual (what was too small "
          "to be sent) is clipped");
  opt.add("clip-every", &s.clip_every, "COUNT",
          "mini-batches between two clippings of the residual (what was too "
          "small to be sent); 0: never");
  opt.add("share", &s.share, "WHAT",
          "share updates (after the updater) or gradients (before it): update "
          "or gradient");
  opt.add("masking", &s.masking, "YES-NO",
          "with --share gradient: reset the momentum of elements once they "
          "have been sent, yes or no");
  opt.add("combine", &s.combine, "RULE",
          "weight of updates that workers computed at the same time: sum, "
          "mean, scaled (1/sqrt of their number), or diversity (less for "
          "updates that agree)");
  opt.add("in-flight", &s.in_flight, "COUNT",
          "most updates of a worker that await the master's answer; 0 stands "
          "for 1");
  opt.add("staleness-rule", &s.staleness_rule, "RULE",
          "factor of an update that S others preceded: none (1), inverse "
          "(1/S), exponential:RATE (exp(-RATE S)) or fasgd");
  opt.add("staleness", &s.staleness, "ROUNDS",
          "rounds that a worker may be ahead of the slowest; 0: synchronous; "
          "none: no bound");
  opt.add("push", &s.push, "COUNT",
          "mini-batches that a worker accumulates into one update");
  opt.add("fetch", &s.fetch, "COUNT",
          "mini-batches between two times that a worker applies the updates of "
          "others");
  opt.add("agree-every", &s.agree_every, "COUNT",
          "mini-batches between two checks that replicas are equal; 0: only "
          "after epochs");
}

inline void declare_exchange(dl::cli::Options& opt,
                             dl::cluster::MasterOptions& m) {
  declare_averaging(opt, m.averaging);
  declare_sharing(opt, m.sharing);
  opt.section("Topology");
  opt.add("topology", &m.topology, "KIND",
          "distribution of updates: auto, star (from the master) or tree "
          "(workers relay them)");
  opt.add("fan-out", &m.fan_out, "COUNT",
          "children of each node in --topology tree");
}

// The options of the section "Averaging" that no other mode has.
inline const std::vector<std::string> kOfAveraging = {
    "frequency",      "updater-state", "outer",  "outer-rate",
    "outer-momentum", "delta",         "overlap"};

// An option that only one mode has decides what --mode auto is.
inline void decide_mode(const dl::cli::Options& opt,
                        dl::cluster::MasterOptions& m, const dl::Log& log) {
  if (m.mode != "auto") return;
  if (opt.commands_section("Sharing"))
    m.mode = "sharing";
  else if (opt.commands(kOfAveraging))
    m.mode = "averaging";
  else
    return;
  if (m.dry_run) return;  // which shows it
  log(dl::Level::kInfo,
      "auto: --mode " + m.mode + ", as an option is given that only it has");
}

// Refuses options that the mode has no use for.
inline void check_exchange(const dl::cli::Options& opt,
                           const dl::cluster::MasterOptions& m) {
  if (m.mode != "sharing")
    opt.refuse_section("Sharing", "is for --mode sharing");
  if (m.mode != "averaging")
    opt.refuse(kOfAveraging, "is for --mode averaging");
  if (m.mode == "auto" || m.mode == "sharing") {
    if (m.sharing.staleness == "none")
      opt.refuse({"workers"},
                 "is for --mode averaging or sync, and for --staleness ROUNDS");
    if (m.sharing.share != "gradient")
      opt.refuse({"masking"}, "is for --share gradient");
    if (!m.sharing.threshold.starts_with("target:") &&
        !m.sharing.threshold.starts_with("quantile:"))
      opt.refuse({"warmup"}, "is for --threshold target and quantile");
    if (m.sharing.clip_every == 0)
      opt.refuse({"clip"}, "has no effect with --clip-every 0");
  }
  if (m.topology == "star") opt.refuse({"fan-out"}, "is for --topology tree");
}

#endif  // DL_TOOLS_DL_MASTER_EXCHANGE_H_
