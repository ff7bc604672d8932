// The options of dl-master that say how replicas exchange what they learn, as
// the command line gives them.  Names, defaults and meanings are in
// dl-master(1), the methods in dl-exchange(7).

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_EXCHANGE_OPTIONS_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_EXCHANGE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "libcore/cluster/settings/averaging_settings.h"
#include "libcore/cluster/settings/sharing_settings.h"

namespace dl::cluster {

struct AveragingOptions {
  std::int64_t frequency = 0;   // 0: as published for `outer`
  std::int64_t workers = 0;     // number of workers; 0: all present
  std::string updater_state;    // "": as published for `outer`
  std::string outer = "plain";  // or "momentum", "nesterov", "bmuf", "diloco"
  double outer_rate = 0;        // rate; 0: the method's
  double outer_momentum = -1;   // momentum; negative: the method's
  std::string delta = "f32";
  bool overlap = false;
  bool alone = false;  // not an option; set by --mode auto
};

struct SharingOptions {
  std::string threshold = "adaptive";
  std::string per_tensor = "yes";
  std::int64_t warmup = 0;
  double clip = 5;
  std::int64_t clip_every = 5;
  std::string share = "update";
  std::string masking = "yes";
  std::string combine = "diversity";
  std::int64_t in_flight = 0;  // updates in flight; 0: one
  std::string staleness_rule = "none";
  std::string staleness = "none";  // "none" or a number
  std::int64_t push = 1, fetch = 1;
  std::int64_t agree_every = 0;
};

// Throw Error: kUsage, naming the option.
// adaptive: the network has an updater that scales steps by what it has seen.
AveragingSettings settings_of(const AveragingOptions& options, bool adaptive);
SharingSettings settings_of(const SharingOptions& options);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_EXCHANGE_OPTIONS_H_
