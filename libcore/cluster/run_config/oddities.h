// Warnings of what trains, but hardly as it was meant.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_ODDITIES_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_ODDITIES_H_

#include <cstdint>
#include <string>

#include "libcore/base/log.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"

namespace dl::cluster {

// Outputs that cannot learn, or do not need, what the data have; an updater
// that was left at its default.
void tell_oddities(const nn::NetworkConfig& network,
                   const data::Metadata& metadata, const Log& log);

// Batch normalization of one value a channel, whose variance is 0, in
// mini-batches of one example: all of them, or the last one of an epoch.
void tell_lone_values(const nn::NetworkConfig& network, std::int64_t batch,
                      std::int64_t examples, const Log& log);

// Whether all layers train by the default updater, plain sgd, which learns
// slowly.
bool has_plain_updater(const nn::NetworkConfig& network);

// The remedy for features that are large or small numbers and are not
// normalized, as a clause that others follow; "": there are no such.
std::string remedy_of_scale(const nn::NetworkConfig& network,
                            const data::Normalizer& normalizer,
                            const data::Metadata& metadata);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_ODDITIES_H_
