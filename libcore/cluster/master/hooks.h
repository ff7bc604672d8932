// Calls by which a master's parts have others work, so that they know neither
// files nor networks.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_
#define DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/protocol/message.h"
#include "libcore/cluster/report/estimate.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/cluster/run_dir/saving.h"

namespace dl::cluster {

struct Hooks {
  std::function<Welcome()> welcome;  // without the worker's number
  // Begins to write context.state as it is now.  Throws Error: kCantCreate,
  // kIo.
  std::function<std::unique_ptr<Saving>(bool aside)> save;
  std::function<void()> keep_best;  // keeps the present model as the best
  std::function<std::vector<std::byte>(const Fetch&)> record;
  // If set, hosts are measured instead of training.
  Estimate* measured = nullptr;
  // State from which a run that went wrong may continue, or nothing.
  std::function<std::optional<RunState>()> go_back = nullptr;
  // Clause that says where the model of a version, or of one before it, is; ""
  // if there is none.
  std::function<std::string(std::uint64_t)> where_model = nullptr;
  // Whether the name belongs to a worker that the master starts itself, and the
  // worker with this key is another one.
  std::function<bool(const Hello&, const std::string& key)> is_reserved =
      nullptr;
  // Notes that a worker computes with these instructions.
  std::function<void(const std::string&)> computes_with = nullptr;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HOOKS_H_
