// The options of dl-master about the exchange.

#ifndef DL_TOOLS_DL_MASTER_EXCHANGE_H_
#define DL_TOOLS_DL_MASTER_EXCHANGE_H_

#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/cli/options.h"
#include "libcore/cluster/plan/master_options.h"

inline void declare_averaging(dl::cli::Options& opt,
                              dl::cluster::AveragingOptions& a) {
  opt.section("Averaging");
  opt.add("frequency", &a.frequency, "COUNT",
          "mini-batches of a replica between two averages; 0: the method's");
  opt.add("workers", &a.workers, "COUNT",
          "replicas of a round; 0: --local, or who is there");
  opt.add("updater-state", &a.updater_state, "WHAT",
          "average, keep or reset; the method's if not given");
  opt.add("outer", &a.outer, "METHOD",
          "plain, momentum, nesterov, bmuf or diloco");
  opt.add("outer-rate", &a.outer_rate, "RATE", "0: the method's");
  opt.add("outer-momentum", &a.outer_momentum, "MOMENTUM",
          "negative: the method's");
  opt.add("delta", &a.delta, "FORMAT",
          "format that replicas send: f32, f16, int8 or sparse:DENSITY:BITS");
  opt.flag("overlap", &a.overlap, "begin the next round while one is averaged");
}

inline void declare_sharing(dl::cli::Options& opt,
                            dl::cluster::SharingOptions& s) {
  opt.section("Sharing");
  opt.add("threshold", &s.threshold, "RULE",
          "fixed:T, adaptive[:T], target:DENSITY or quantile:DENSITY");
  opt.add("per-tensor", &s.per_tensor, "YES-NO",
          "yes: each tensor has a threshold of its own");
  opt.add("warmup", &s.warmup, "COUNT",
          "mini-batches until the density is down to its target");
  opt.add("clip", &s.clip, "MULTIPLE",
          "residuals are clipped to so many thresholds");
  opt.add("clip-every", &s.clip_every, "COUNT",
          "mini-batches between two clippings; 0: never");
  opt.add("share", &s.share, "WHAT", "update or gradient");
  opt.add("masking", &s.masking, "YES-NO",
          "gradient: momentum of what was sent starts afresh");
  opt.add("combine", &s.combine, "RULE", "diversity, sum, mean or scaled");
  opt.add("in-flight", &s.in_flight, "COUNT",
          "updates a worker may be ahead of the master");
  opt.add("staleness-rule", &s.staleness_rule, "RULE",
          "none, inverse, exponential:RATE or fasgd");
  opt.add("staleness", &s.staleness, "ROUNDS",
          "a worker may be ahead of the slowest; 0: synchronous; none");
  opt.add("push", &s.push, "COUNT", "mini-batches of an update");
  opt.add("fetch", &s.fetch, "COUNT",
          "mini-batches between two looks at what others did");
  opt.add("agree-every", &s.agree_every, "COUNT",
          "mini-batches between two checks of replicas; 0: epochs only");
}

inline void declare_exchange(dl::cli::Options& opt,
                             dl::cluster::MasterOptions& m) {
  declare_averaging(opt, m.averaging);
  declare_sharing(opt, m.sharing);
  opt.section("Topology");
  opt.add("topology", &m.topology, "KIND", "auto, star or tree");
  opt.add("fan-out", &m.fan_out, "COUNT", "children of a node of the tree");
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
