// The way from a worker that sums to others that do.

#ifndef DL_LIBCORE_CLUSTER_TREE_REDUCER_LINK_H_
#define DL_LIBCORE_CLUSTER_TREE_REDUCER_LINK_H_

#include <memory>
#include <string>

#include "libcore/cluster/protocol/message_type.h"

namespace dl::cluster {

class ReducerLink {
 public:
  virtual ~ReducerLink() = default;
  // Sends the message to the worker that listens there, as soon as it is
  // reached.
  virtual void send_to_reducer(const std::string& endpoint,
                               SharedMessage message) = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_REDUCER_LINK_H_
