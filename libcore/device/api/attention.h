// The primitive under attention layers.

#ifndef DL_LIBCORE_DEVICE_API_ATTENTION_H_
#define DL_LIBCORE_DEVICE_API_ATTENTION_H_

#include <cstdint>

#include "libcore/device/api/values.h"

namespace dl::device {

// Where rows lie in wider ones, as parts of one product may: `width` wide (0:
// heads * head_size), head h begins at column + h * head_size.
struct AttentionPart {
  std::int64_t width = 0, column = 0;
};

// Scaled dot product attention with several heads (Vaswani et al. 2017).  For
// each example and head, with the rows q_i of queries and k_j, v_j of keys:
//
//   y_i = sum_j p_ij v_j      p_i = softmax over j of (scale q_i . k_j)
struct AttentionSpec {
  std::int64_t queries = 0, keys = 0;  // steps
  std::int64_t heads = 1, head_size = 0;
  bool causal = false;  // query i sees the keys 0..i alone
  double scale = 0;     // 0: 1 / sqrt(head_size)
  AttentionPart q = {}, k = {}, v = {};

  std::int64_t size() const { return heads * head_size; }
  std::int64_t width_of(const AttentionPart& part) const {
    return part.width > 0 ? part.width : size();
  }
  double factor() const;  // scale, or what 0 stands for
};

// q [batch, queries, its width], k and v [batch, keys, theirs], y [batch,
// queries, heads * head_size]; q, k and v may be one view.  The batch is
// 1..max_batch, as with Conv2d.  mask [batch, keys] (empty: ones): a key of 0
// gets no weight; a query without a key gives 0.
class Attention {
 public:
  virtual ~Attention() = default;
  // `training`: remembers what backward() needs beside its arguments.
  virtual void forward(View y, View q, View k, View v, View mask,
                       bool training) = 0;
  // After forward() for training of the same q, k, v and mask.  Writes the
  // parts of dq, dk and dv, which may be one view, and nothing beside them.
  virtual void backward(View dq, View dk, View dv, View dy, View q, View k,
                        View v, View mask) = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_ATTENTION_H_
