#include "libcore/device/host_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::Tensor;
using tensor::View;

class HostBuffer final : public tensor::Buffer {
 public:
  HostBuffer(DType real, tensor::Shape shape) : memory_(real, shape) {
    view_ = {memory_.bytes().data(), real, shape};
  }
  View view() const override { return view_; }

 private:
  Tensor memory_;
  View view_;
};

}  // namespace

std::unique_ptr<tensor::Buffer> allocate_host(DType real, tensor::Shape shape) {
  return std::make_unique<HostBuffer>(real, shape);
}

void download_host(Tensor& dst, const View& src) {
  require(!src.empty(), "download of a missing view");
  const DType wanted = dst.dtype();
  require(wanted == DType::kF32 || wanted == DType::kF64,
          "download into a tensor of integers");
  dst.resize(wanted, src.shape);
  if (wanted == src.dtype) {
    std::memcpy(dst.bytes().data(), src.data, dst.bytes().size());
    return;
  }
  visit_dtype(wanted, [&]<typename To>() {
    visit_dtype(src.dtype, [&]<typename From>() {
      const From* from = src.as<From>();
      std::transform(from, from + src.elements(), dst.as<To>().begin(),
                     [](From x) { return static_cast<To>(x); });
    });
  });
}

}  // namespace dl::device
