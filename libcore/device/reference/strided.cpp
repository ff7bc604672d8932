// Moving numbers about: one pair of elements after the other.

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

// Calls f(y, x) with the offsets of each pair from extent k on, in order.
template <typename F>
void for_each_pair(const Strided& s, int k, std::int64_t y, std::int64_t x,
                   F f) {
  if (k == s.rank) return f(y, x);
  for (std::int64_t i = 0; i < s.extent[k]; ++i)
    for_each_pair(s, k + 1, y + i * s.y_stride[k], x + i * s.x_stride[k], f);
}

}  // namespace

void ReferenceDevice::copy_strided(const Strided& s, View y, View x, bool add) {
  check_reals(tensor::DType::kF64, {y, x});
  check_strided(s, y, x, add);
  for_each_pair(s, 0, s.y_offset, s.x_offset, [&](auto to, auto from) {
    double& value = y.as<double>()[to];
    value = add ? value + x.as<double>()[from] : x.as<double>()[from];
  });
}

}  // namespace dl::device
