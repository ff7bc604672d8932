// NCCL, on the host: a call waits until all of the communicator have made it,
// and the last one computes for all, in the order of the ranks.

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/graph.h"
#include "tests/unit/device/emulated/streams.h"

namespace dl::device::cuda {
namespace {

enum class Kind { kAllReduce, kReduce, kBroadcast };

struct Call {
  Kind kind;
  std::size_t count;
  ncclDataType_t type;
  int root;
  bool operator==(const Call&) const = default;
};

struct Clique {
  std::mutex mutex;
  std::condition_variable all_came;
  std::vector<void*> memory;  // by rank
  Call call{};
  std::size_t came = 0;
  std::uint64_t round = 0;
  bool aborted = false, mismatched = false;
};
struct Member {
  std::shared_ptr<Clique> clique;
  int rank, gpu;
};

Member& member_of(ncclComm_t communicator) {
  return *reinterpret_cast<Member*>(communicator);
}

ncclResult_t noted(const char* name) {
  const std::lock_guard hold(lock_of_calls());
  note_call(name);
  return static_cast<ncclResult_t>(failure_of(name));
}

ncclResult_t get_nccl_version(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* error_text(ncclResult_t error) {
  return error == ncclSuccess ? "no error" : "an emulated failure";
}

ncclResult_t init_all(ncclComm_t* made, int count, const int* gpus) {
  if (const auto failed = noted("ncclCommInitAll")) return failed;
  const auto clique = std::make_shared<Clique>();
  clique->memory.resize(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    for (int before = 0; before < rank; ++before)
      if (gpus[before] == gpus[rank]) return ncclInvalidUsage;
    made[rank] =
        reinterpret_cast<ncclComm_t>(new Member{clique, rank, gpus[rank]});
  }
  return ncclSuccess;
}

ncclResult_t destroy(ncclComm_t communicator) {
  delete &member_of(communicator);
  return noted("ncclCommDestroy");
}

// Lets those who wait go; their communicators are freed by nobody, as a thread
// may be about to use its own.
ncclResult_t abort(ncclComm_t communicator) {
  Clique& clique = *member_of(communicator).clique;
  const std::lock_guard hold(clique.mutex);
  clique.aborted = true;
  clique.all_came.notify_all();
  return ncclSuccess;
}

template <class T>
void compute(const Call& call, const std::vector<void*>& memory) {
  const auto at = [&](std::size_t rank) {
    return static_cast<T*>(memory[rank]);
  };
  const auto root = static_cast<std::size_t>(call.root);
  std::vector<T> result(call.count);
  if (call.kind == Kind::kBroadcast) {
    std::copy_n(at(root), call.count, result.begin());
  } else {
    for (std::size_t rank = 0; rank < memory.size(); ++rank)
      for (std::size_t i = 0; i < call.count; ++i) result[i] += at(rank)[i];
  }
  for (std::size_t rank = 0; rank < memory.size(); ++rank)
    if (call.kind != Kind::kReduce || rank == root)
      std::copy_n(result.begin(), call.count, at(rank));
}

// Earlier calls of the stream come first.
ncclResult_t join(ncclComm_t communicator, const Call& call, void* memory,
                  cudaStream_t stream) {
  const Member& own = member_of(communicator);
  const std::size_t bytes = call.count * (call.type == ncclDouble ? 8 : 4);
  {
    const std::lock_guard hold(lock_of_calls());
    if (illegal_in_capture() != cudaSuccess) return ncclInvalidUsage;
    if (own.gpu != current_gpu() || !lies_on_gpu(memory, bytes))
      return ncclInvalidArgument;
    catch_up(stream);
  }
  Clique& clique = *own.clique;
  std::unique_lock hold(clique.mutex);
  if (clique.aborted) return ncclRemoteError;
  if (clique.came == 0)
    clique.call = call;
  else if (!(clique.call == call))
    clique.mismatched = true;
  clique.memory[static_cast<std::size_t>(own.rank)] = memory;
  if (++clique.came < clique.memory.size()) {
    const std::uint64_t round = clique.round;
    clique.all_came.wait(
        hold, [&] { return clique.round != round || clique.aborted; });
    if (clique.round == round) return ncclRemoteError;
    return clique.mismatched ? ncclInvalidUsage : ncclSuccess;
  }
  if (!clique.mismatched)
    call.type == ncclDouble ? compute<double>(call, clique.memory)
                            : compute<float>(call, clique.memory);
  clique.came = 0;
  ++clique.round;
  clique.all_came.notify_all();
  return clique.mismatched ? ncclInvalidUsage : ncclSuccess;
}

ncclResult_t all_reduce(const void* from, void* to, std::size_t count,
                        ncclDataType_t type, ncclRedOp_t operation,
                        ncclComm_t communicator, cudaStream_t stream) {
  if (const auto failed = noted("ncclAllReduce")) return failed;
  if (from != to || operation != ncclSum) return ncclInvalidArgument;
  return join(communicator, {Kind::kAllReduce, count, type, 0}, to, stream);
}

ncclResult_t reduce(const void* from, void* to, std::size_t count,
                    ncclDataType_t type, ncclRedOp_t operation, int root,
                    ncclComm_t communicator, cudaStream_t stream) {
  if (const auto failed = noted("ncclReduce")) return failed;
  if (from != to || operation != ncclSum) return ncclInvalidArgument;
  return join(communicator, {Kind::kReduce, count, type, root}, to, stream);
}

ncclResult_t broadcast(const void* from, void* to, std::size_t count,
                       ncclDataType_t type, int root, ncclComm_t communicator,
                       cudaStream_t stream) {
  if (const auto failed = noted("ncclBroadcast")) return failed;
  if (from != to) return ncclInvalidArgument;
  return join(communicator, {Kind::kBroadcast, count, type, root}, to, stream);
}

}  // namespace

void set_nccl(Api& api) {
  api.ncclGetVersion = get_nccl_version;
  api.ncclGetErrorString = error_text;
  api.ncclCommInitAll = init_all;
  api.ncclCommDestroy = destroy;
  api.ncclCommAbort = abort;
  api.ncclAllReduce = all_reduce;
  api.ncclReduce = reduce;
  api.ncclBroadcast = broadcast;
}

}  // namespace dl::device::cuda
