// cuDNN's graph API: operations on tensors, put together to a graph that one
// engine of cuDNN computes, with sums in float32.
//
// A tensor's extents are in cuDNN's order, [batch, channels, .. in space],
// while its elements lie with the channels last.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_DNN_GRAPH_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_DNN_GRAPH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libcore/device/api/precision.h"
#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

// cuDNN of one stream.
class Dnn {
 public:
  Dnn(Stream& stream, Precision precision);
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  const Api& api() const { return stream_.api(); }
  Stream& stream() { return stream_; }
  cudnnHandle_t handle() const { return handle_; }
  Precision precision() const { return precision_; }
  void check(cudnnStatus_t status, const char* what) const;
  // Room for one execution, as large as the most that was asked for.
  std::byte* workspace(std::size_t bytes);
  void give_back_workspace();

 private:
  Stream& stream_;
  Precision precision_;
  cudnnHandle_t handle_ = nullptr;
  std::byte* workspace_ = nullptr;
  std::size_t workspace_size_ = 0;
};

// One of cuDNN's objects with attributes, which come before finalize().  It
// keeps copies of those that it is given.
class DnnDescriptor {
 public:
  DnnDescriptor(Dnn& dnn, cudnnBackendDescriptorType_t type);
  ~DnnDescriptor();
  DnnDescriptor(DnnDescriptor&& other) noexcept
      : dnn_(other.dnn_), it_(std::exchange(other.it_, nullptr)) {}
  DnnDescriptor& operator=(DnnDescriptor&& other) noexcept {
    std::swap(dnn_, other.dnn_);
    std::swap(it_, other.it_);
    return *this;
  }

  cudnnBackendDescriptor_t get() const { return it_; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::int64_t count, const void* values);
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T& value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name,
           std::span<const std::int64_t> values) {
    set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()),
        values.data());
  }
  void set(cudnnBackendAttributeName_t name, const DnnDescriptor& other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.it_);
  }
  // Returns how many there are, of which the first `most` are copied.
  std::int64_t get(cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, std::int64_t most,
                   void* values) const;

  void finalize(const char* what);
  cudnnStatus_t try_finalize();

 private:
  Dnn* dnn_;
  cudnnBackendDescriptor_t it_ = nullptr;
};

// A graph and the engine that computes it.
class DnnPlan {
 public:
  static constexpr std::size_t kMostTensors = 4;
  // In the order in which the tensors were added, but for those between.
  void run(std::span<void* const> tensors);

 private:
  friend class DnnGraph;
  using Places = std::array<void*, kMostTensors>;
  // Shared with what the stream puts off.
  struct Engine {
    void execute(const Places& places, std::byte* workspace);

    Dnn* dnn;
    DnnDescriptor plan;
    std::size_t workspace_size;
    std::vector<std::int64_t> ids;
    // Arguments of the last run, which the next run mostly repeats.
    Places last{};
    std::byte* last_workspace = nullptr;
    std::optional<DnnDescriptor> pack{};
  };
  DnnPlan(Dnn& dnn, DnnDescriptor plan, std::size_t workspace_size,
          const std::vector<std::int64_t>& ids)
      : engine_(std::make_shared<Engine>(
            Engine{&dnn, std::move(plan), workspace_size, ids})) {}

  std::shared_ptr<Engine> engine_;
};

// How a kernel is moved over its input, in each dimension of space.
struct DnnWindow {
  std::vector<std::int64_t> stride, dilation, pad_begin, pad_end;
};

enum class DnnConvolution { kForward, kBackwardData, kBackwardWeights };

class DnnGraph {
 public:
  // alignment: bytes, of all tensors.
  DnnGraph(Dnn& dnn, std::int64_t alignment)
      : dnn_(dnn), alignment_(alignment) {}

  // Returns its number.  type: bfloat16 of what is convolved, else float.
  std::int64_t add_tensor(std::span<const std::int64_t> extents,
                          cudnnDataType_t type = CUDNN_DATA_FLOAT);
  // An intermediate tensor of float, not in memory.
  std::int64_t add_between(std::span<const std::int64_t> extents);
  // One of x, w [filters, channels / groups, .. in space] and y from the
  // others.
  void convolve(DnnConvolution kind, const DnnWindow& window, std::int64_t x,
                std::int64_t w, std::int64_t y);
  // y = a + b, where an extent of b may be 1.
  void add(std::int64_t y, std::int64_t a, std::int64_t b);
  // y = max(a, 0).  NaN should stay NaN, which engines neither say nor all do.
  void relu(std::int64_t y, std::int64_t a);

  // The first right engine by cuDNN's expected speed, among those that compute
  // it on tensor cores to the same bits each time; nothing: there is none. For
  // float factors these use TF32.
  using Check = std::function<bool(DnnPlan&)>;
  std::optional<DnnPlan> plan(const Check& is_right = {}) const;

 private:
  std::int64_t describe(std::span<const std::int64_t> extents,
                        cudnnDataType_t type, bool between);
  std::optional<DnnPlan> plan_by(cudnnBackendHeurMode_t mode,
                                 const DnnDescriptor& graph,
                                 const Check& is_right) const;
  void add_pointwise(DnnDescriptor what, std::int64_t y, std::int64_t a,
                     std::optional<std::int64_t> b);
  const DnnDescriptor& tensor(std::int64_t id) const {
    return tensors_[static_cast<std::size_t>(id)];
  }

  Dnn& dnn_;
  std::int64_t alignment_;
  std::vector<DnnDescriptor> tensors_;
  std::vector<std::int64_t> ids_;  // of those in memory
  std::vector<DnnDescriptor> operations_;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_DNN_GRAPH_H_
