// Checks of attention and of normalization by groups.

#include "libcore/base/error.h"
#include "libcore/device/check.h"

namespace dl::device {
using tensor::Shape;
using tensor::View;

void check_spec(const AttentionSpec& spec, std::int64_t max_batch) {
  require(spec.queries > 0 && spec.keys > 0 && spec.heads > 0 &&
              spec.head_size > 0 && max_batch > 0,
          "attention of nothing");
  require(spec.scale >= 0, "attention to what differs");
  for (const AttentionPart& part : {spec.q, spec.k, spec.v})
    require(
        part.column >= 0 && part.column + spec.size() <= spec.width_of(part),
        "heads that lie outside their rows");
}

std::int64_t check_attention(tensor::DType real, const AttentionSpec& spec,
                             std::int64_t max_batch, const View& y,
                             const View& q, const View& k, const View& v,
                             const View& mask) {
  check_reals(real, {y, q, k, v});
  require(y.shape.rank() == 3, "sequences must be [batch, steps, features]");
  const std::int64_t batch = y.shape[0];
  require(batch >= 1 && batch <= max_batch, "a batch that was not announced");
  check_shape(y, Shape{batch, spec.queries, spec.size()});
  check_shape(q, Shape{batch, spec.queries, spec.width_of(spec.q)});
  check_shape(k, Shape{batch, spec.keys, spec.width_of(spec.k)});
  check_shape(v, Shape{batch, spec.keys, spec.width_of(spec.v)});
  if (!mask.empty()) {
    check_reals(real, {mask});
    check_shape(mask, Shape{batch, spec.keys});
  }
  return batch;
}

Groups check_group_norm(tensor::DType real, const View& x,
                        const View& statistics,
                        std::initializer_list<View> of_channels) {
  check_reals(real, {x, statistics});
  require(x.shape.rank() == 3, "groups are of [examples, positions, channels]");
  require(statistics.shape.rank() == 3, "statistics are [examples, groups, 2]");
  const Groups groups{x.shape[0], x.shape[1], x.shape[2], statistics.shape[1]};
  check_shape(statistics, Shape{groups.n, groups.g, 2});
  require(
      groups.s > 0 && groups.g > 0 && groups.c > 0 && groups.c % groups.g == 0,
      "groups that divide the channels unevenly");
  for (const View& view : of_channels) {
    if (view.empty()) continue;
    check_reals(real, {view});
    check_shape(view, Shape{groups.c});
  }
  return groups;
}

}  // namespace dl::device
