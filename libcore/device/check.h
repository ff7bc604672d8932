// The checks of every host device before it touches memory.  All of these throw
// Error: kBug, for a view that does not fit is a mistake of the caller's.

#ifndef DL_LIBCORE_DEVICE_CHECK_H_
#define DL_LIBCORE_DEVICE_CHECK_H_

#include <cstdint>
#include <initializer_list>

#include "libcore/device/api/device.h"

namespace dl::device {

// The views are present and hold `real`s; kBF16: floats or bfloat16.
void check_reals(tensor::DType real, std::initializer_list<tensor::View> views);

// The view is present and holds integers.
void check_integers(const tensor::View& view);

void check_equal_elements(const tensor::View& a, const tensor::View& b);
void check_same_shape(const tensor::View& a, const tensor::View& b);
void check_shape(const tensor::View& view, const tensor::Shape& shape);

// Elements of all but the last dimension, and of the last.
struct Rows {
  std::int64_t count, length;
};
Rows rows_of(const tensor::View& view);

// Every element that copy_strided() would touch lies in its view, and extents
// without a stride on y are summed over.
void check_strided(const Strided& s, const tensor::View& y,
                   const tensor::View& x, bool add);

void check_extreme(tensor::DType real, const tensor::View& y,
                   const tensor::View& which,
                   std::span<const tensor::View> inputs);
void check_take(tensor::DType real, const tensor::View& dx,
                const tensor::View& dy, const tensor::View& which);
// x and s of dot_rows() and scale_rows().
Rows check_row_values(tensor::DType real, const tensor::View& x,
                      const tensor::View& s);
// gather() and scatter_add(): the rows of y, not of the table.
Rows check_gather(tensor::DType real, const tensor::View& y,
                  const tensor::View& table, const tensor::View& index);

void check_choice(tensor::DType real, const tensor::View& index,
                  const tensor::View& mask, StepChoice choice);

// upload_scaled(): src has as many elements as dst, shift and scale are [1] or
// [channels].
Rows check_scaling(const tensor::View& dst, const tensor::Tensor& src,
                   const tensor::View& shift, const tensor::View& scale);

// C [m, n] = op(A) [m, k] op(B) [k, n].
struct MatmulExtents {
  std::int64_t m, n, k;
};
MatmulExtents check_matmul(const tensor::View& c, const tensor::View& a,
                           bool transpose_a, const tensor::View& b,
                           bool transpose_b);

// Creation: the kernel fits and every extent is sensible.
void check_spec(const Conv2dSpec& spec, std::int64_t max_batch);
void check_spec(const Conv3dSpec& spec, std::int64_t max_batch);
void check_spec(const Pool2dSpec& spec, std::int64_t max_batch);
void check_spec(const Pool3dSpec& spec, std::int64_t max_batch);

// x and y of a call have the shapes that the spec says.  Returns the batch.
std::int64_t check_images(const Conv2dSpec& spec, std::int64_t max_batch,
                          const tensor::View& x, const tensor::View& y);
std::int64_t check_images(const Conv3dSpec& spec, std::int64_t max_batch,
                          const tensor::View& x, const tensor::View& y);
std::int64_t check_images(const Pool2dSpec& spec, std::int64_t max_batch,
                          const tensor::View& x, const tensor::View& y);
std::int64_t check_images(const Pool3dSpec& spec, std::int64_t max_batch,
                          const tensor::View& x, const tensor::View& y);
// Weights, or their gradient; an empty b is left out.
void check_weights(tensor::DType real, const Conv2dSpec& spec,
                   const tensor::View& w, const tensor::View& b);
void check_weights(tensor::DType real, const Conv3dSpec& spec,
                   const tensor::View& w, const tensor::View& b);
// The same for conv2d_max_pool().
void check_max_pool(const Conv2dSpec& spec, std::int64_t max_batch);
std::int64_t check_max_pool_images(const Conv2dSpec& spec,
                                   std::int64_t max_batch,
                                   const tensor::View& x,
                                   const tensor::View& y);

// An activation that a recurrent cell may have, and sensible extents.
void check_spec(const RecurrentSpec& spec, std::int64_t max_batch);
// x, y, mask, weights and biases of a call.  Returns the batch.
std::int64_t check_recurrent(tensor::DType real, const RecurrentSpec& spec,
                             std::int64_t max_batch, const tensor::View& y,
                             const tensor::View& x, const tensor::View& mask,
                             const RecurrentWeights& w);

// Checks the state of a batch, in the cell's parts; or none.
void check_state(tensor::DType real, const RecurrentSpec& spec,
                 std::int64_t batch, const RecurrentState& state);

// Queries and keys exist, and rows have room for the heads.
void check_spec(const AttentionSpec& spec, std::int64_t max_batch);
// y, or its gradient, and what it is made of.  Returns the batch.
std::int64_t check_attention(tensor::DType real, const AttentionSpec& spec,
                             std::int64_t max_batch, const tensor::View& y,
                             const tensor::View& q, const tensor::View& k,
                             const tensor::View& v, const tensor::View& mask);

// group_norm(): x [n, s, c], statistics [n, g, 2]; `of_channels` are [c] or
// empty.
struct Groups {
  std::int64_t n, s, c, g;
  std::int64_t width() const { return c / g; }
};
Groups check_group_norm(tensor::DType real, const tensor::View& x,
                        const tensor::View& statistics,
                        std::initializer_list<tensor::View> of_channels);

// local_norm(): y, or gradients, and x alike.
Rows check_local_norm(tensor::DType real, const LocalNorm& spec,
                      std::initializer_list<tensor::View> views);

// pool_steps(): y [n, c], x [n, s, c], mask [n, s] or empty.
struct Steps {
  std::int64_t n, s, c;
};
Steps check_pool_steps(tensor::DType real, const PoolSteps& spec,
                       const tensor::View& y, const tensor::View& x,
                       const tensor::View& mask);

// upsample_bilinear(): y is a whole number of times as high and wide as x.
struct Upsampling {
  std::int64_t n, height, width, channels;  // of x
  std::int64_t factor[2];
};
Upsampling check_upsampling(tensor::DType real, const tensor::View& y,
                            const tensor::View& x);

// prelu(): views of equally many elements, of which k is a divisor.  Returns k.
std::int64_t check_prelu(tensor::DType real,
                         std::initializer_list<tensor::View> views,
                         const tensor::View& slope);

// y [n, units], or numbers_each() times that; target [n, units]; grad as y or
// empty; mask [n] or empty; so are the weights [units] of f.  Returns rows of
// y.
Rows check_loss(tensor::DType real, const LossSpec& f, const tensor::View& grad,
                const tensor::View& y, const tensor::View& target,
                const tensor::View& mask);
// Smallest loss that label smoothing leaves for n targets.
double smoothing_floor(const LossSpec& f, std::int64_t n);

// threshold_encode(): there are places for all of r, which are integers.
void check_threshold(tensor::DType real, const tensor::View& places,
                     const tensor::View& count, const tensor::View& r);

// w and state have the elements of g, or are empty: w where it is not needed, a
// component of state where the updater has none.
void check_update(tensor::DType real, const UpdaterStep& step, UpdateTo to,
                  const tensor::View& g, const tensor::View& w,
                  const StateViews& state);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CHECK_H_
