// Training data in the order of their classes.
//
// Epochs mix examples within a record and records among each other, so data
// that were never shuffled have mini-batches of one class alone: each pulls the
// network to its class, and batch normalization sees one class at a time.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_CLASS_ORDER_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_CLASS_ORDER_H_

#include "libcore/cluster/loading/master_data.h"

namespace dl::cluster {

// The remedy, as a clause.
inline constexpr char kShuffleRemedy[] = "shuffle them: dl-shard --shuffle";

// Whether classes differ far from record to record, by some records spread over
// all of the data.  Passes over damaged ones.
// Throws Error: kNoInput, kIo.
bool is_in_class_order(MasterData& data);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_CLASS_ORDER_H_
