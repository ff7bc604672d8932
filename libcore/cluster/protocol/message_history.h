// The message that is for the history of a run alone.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_HISTORY_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_HISTORY_H_

#include <cstddef>

#include "libcore/cluster/protocol/message_type.h"
#include "libcore/cluster/protocol/value_counts.h"

namespace dl::cluster {

// worker -> master: how gradients and activations of some mini-batches are
// spread, for the history; only where Welcome asks for it.
struct Spreads {
  static constexpr std::size_t kMostLayers = 500;
  CountsOfLayers layers;

  Message to_message() const;
  static Spreads from_message(const Message& message);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MESSAGE_HISTORY_H_
