// Calls by which a master's parts have others work, so that they know neither
// files nor networks.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_
#define DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/report/estimate.h"
#include "libcore/cluster/run_dir/run_state.h"

namespace dl::cluster {

struct Hooks {
  std::function<Welcome()> welcome;   // worker's number is filled in
  std::function<std::string()> save;  // context.state; returns a name
  std::function<void()> keep_best;    // the model as it is now
  std::function<std::vector<std::byte>(const Fetch&)> record;
  Estimate* measured = nullptr;  // instead of training: gets its hosts
  // Where the run may go on that went wrong; nothing: nowhere.
  std::function<std::optional<RunState>()> go_back = nullptr;
  // Where the model of a version is, or of one before it, as a clause; "":
  // nowhere.
  std::function<std::string(std::uint64_t)> where_model = nullptr;
  // Whether the name is that of a worker that the master starts itself, which
  // this one with this key is not.
  std::function<bool(const Hello&, const std::string& key)> is_reserved =
      nullptr;
  // A worker computes with these instructions.
  std::function<void(const std::string&)> computes_with = nullptr;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_
