// A device: the primitives that layers are written against.
//
// `reference` computes in float64, naively, and is the oracle of the tests;
// `cpu` (oneDNN, own kernels) and `cuda` (cuDNN, cuBLAS) in float32, but for
// what precision.h says.  A View therefore does not say double or float: it
// holds "reals" of its device, Device::real() tells which, or, on a device
// whose activations() are, bfloat16.  Where a primitive says so, it holds
// integers (kI32).
//
// A Device is one stream of execution: one thread uses it at a time, and calls
// take effect in order.  CPU work is spread by giving each thread a Device of
// its own (nn/network.h); inside a primitive only as use() allows.  The same
// calls on memory that lies alike give the same bits on the same hardware.
//
// Images are [batch, height, width, channels].  Weights have the output first:
// dense [units, inputs], conv2d [filters, kernel height, kernel width,
// channels].  Sequences are [batch, steps, features].  Unless said otherwise,
// results overwrite their target, shapes must match exactly (kBug otherwise),
// and views do not overlap.
//
// No call allocates after the object it is made on was created, except
// allocate() itself, the first use of a batch size by a Conv2d, Pool2d or
// Recurrent, and the first of a team.

#ifndef DL_LIBCORE_DEVICE_API_DEVICE_H_
#define DL_LIBCORE_DEVICE_API_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "libcore/base/parallel.h"
#include "libcore/device/api/activation.h"
#include "libcore/device/api/attention.h"
#include "libcore/device/api/batch_norm.h"
#include "libcore/device/api/capabilities.h"
#include "libcore/device/api/conv2d.h"
#include "libcore/device/api/conv3d.h"
#include "libcore/device/api/dense.h"
#include "libcore/device/api/lane_sum.h"
#include "libcore/device/api/local_norm.h"
#include "libcore/device/api/loss.h"
#include "libcore/device/api/pool2d.h"
#include "libcore/device/api/pool_steps.h"
#include "libcore/device/api/recurrent.h"
#include "libcore/device/api/strided.h"
#include "libcore/device/api/updater.h"
#include "libcore/device/api/values.h"

namespace dl::device {

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;  // "cpu", "reference", "cuda:0"
  virtual DType real() const = 0;        // kF32 or kF64
  // Type in which values between layers are kept: real(), or kBF16.
  virtual DType activations() const { return real(); }
  virtual Capabilities capabilities() const { return {}; }
  // Over devices of this kind; null where they have the host's memory.
  virtual std::unique_ptr<LaneSum> lane_sum(std::span<Device* const> lanes);

  // Memory: zeros, 64-byte aligned; dtype: real(), activations(), kI32, kF64.
  virtual std::unique_ptr<Buffer> allocate(Shape shape, DType dtype) = 0;
  std::unique_ptr<Buffer> allocate(Shape shape);  // of real()
  // The same memory seen as the device's, to be read only and for as long as
  // its owner keeps it; empty where the device cannot.
  virtual View adopt(std::span<const float> /*host*/) { return {}; }
  // The device's memory seen as the host's, to be used between calls of the
  // device; empty where it cannot be, or is not of float.
  virtual std::span<float> on_host(View /*v*/) { return {}; }
  // Host to device with conversion of any dtype: dst = src.  Into integers it
  // is exact.  Throws Error: kData, a number that is not whole or not in range.
  virtual void upload(View dst, const Tensor& src) = 0;
  // dst[i, c] = (src[i, c] - shift[c]) * scale[c] with the last dimension
  // as c; shift and scale are [1] (for all) or [channels].
  virtual void upload_scaled(View dst, const Tensor& src, View shift,
                             View scale) = 0;
  // Announces the next inputs of these two, unchanged until then, to be copied
  // while the device computes.  Empty: takes the announcement back.
  virtual void expect(std::span<const Tensor* const> /*next*/) {}
  // dst [n, classes] = one-hot of src [n] (checked: integers in 0..classes-1).
  virtual void upload_one_hot(View dst, const Tensor& src) = 0;
  // Device to host: dst becomes [shape of src], kF32 or kF64 as it already is,
  // or kI32 where both are.
  virtual void download(Tensor& dst, View src) = 0;
  // Until it is called again, what is frozen may be computed by these threads,
  // too: the device's own thread calls team->run().  Null: by its own alone.
  virtual void use(ThreadTeam* /*team*/) {}
  virtual void finish() = 0;  // waits until all calls have taken effect
  // Between these, one step of training, in one thread.  Steps of a key are
  // expected, not required, to make the same calls on the same memory, so that
  // a device may put off what it is told until the end.  Nothing but speed
  // depends on them, and what is downloaded or read in between costs that.
  // A step that is not ended, because something was thrown, ends with the next.
  virtual void begin_step(std::uint64_t key) { static_cast<void>(key); }
  virtual void end_step() {}

  // Vectors, elementwise, of any shapes with equally many elements.  NaN stays
  // NaN, in activations too.
  virtual void fill(View y, double value) = 0;
  virtual void copy(View y, View x) = 0;
  virtual void scale(View y, double a) = 0;           // y *= a
  virtual void add(View y, double a, View x) = 0;     // y += a x
  virtual void multiply(View y, View a, View b) = 0;  // y = a b; y may be a
  virtual void divide(View y, View a, View b) = 0;  // y = a / b; y may be a, b
  // y = sqrt(x + shift); y = 1 / (x + shift).  y may be x.
  virtual void square_root(View y, View x, double shift) = 0;
  virtual void reciprocal(View y, View x, double shift) = 0;
  // y = the largest, or smallest, of 1 or more inputs; which (integers) = the
  // first that has it.  A NaN beats numbers.
  virtual void extreme(View y, View which, std::span<const View> inputs,
                       Extreme kind) = 0;
  // Its gradient: dx = dy where which == j, else 0.  dx may be dy.
  virtual void take_where(View dx, View dy, View which, std::int32_t j) = 0;
  // strided.h: y = x, or with `add` y += x, for the pairs of elements of s.
  // Sums over an extent run in double, on the cpu in its order.
  virtual void copy_strided(const Strided& s, View y, View x, bool add) = 0;

  // Numbers: what is found on the way stays on the device, so that nobody waits
  // for it until a step is over.  Views of kF64, a single one where they are
  // added to; fill() takes them, too.  number += a * the sum of x, |x|, x^2:
  virtual void add_sum(View number, double a, View x) = 0;
  virtual void add_absolute(View number, double a, View x) = 0;
  virtual void add_squares(View number, double a, View x) = 0;
  // The number becomes NaN unless all of x is finite.
  virtual void check_finite(View number, View x) = 0;
  // number += the sum of numbers, in their order.
  virtual void add_numbers(View number, View numbers) = 0;
  // The number becomes NaN unless x, a number, is at most that.
  virtual void check_at_most(View number, View x, double most) = 0;
  // With the norm, the root of the sum of `squares` (numbers): factor = most /
  // norm where the norm is above most, or wherever with `always`, but for norms
  // below 1e-5, which have no direction; else 1.
  virtual void norm_factor(View factor, View squares, double most,
                           bool always) = 0;
  // Waits for the device; `to` has a place for each.
  virtual void read(std::span<double> to, View numbers) = 0;
  // A few, as they are now, are what is read next: they may be on their way.
  virtual void expect_reading(View /*numbers*/) {}

  // C = op(A) op(B) + beta C, matrices row-major of rank 2.  On the cpu an
  // element's bits do not depend on how many rows and columns there are.
  virtual void matmul(View c, View a, bool transpose_a, View b,
                      bool transpose_b, double beta) = 0;
  // C = op(A) op(B) of factors that no precision (precision.h) may round.
  virtual void exact_matmul(View c, View a, bool transpose_a, View b,
                            bool transpose_b) {
    matmul(c, a, transpose_a, b, transpose_b, 0);
  }
  // Over all but the last dimension: y[.., c] += b[c];  s[c] = sum of x[.., c].
  virtual void add_bias(View y, View b) = 0;
  virtual void sum_rows(View s, View x) = 0;
  // Over the last dimension, s has an element a row: s[i] = sum of a[i, j]
  // b[i, j]; y[i, j] = (with `add` +=) x[i, j] s[i], where y may be x.
  virtual void dot_rows(View s, View a, View b) = 0;
  virtual void scale_rows(View y, View x, View s, bool add) = 0;
  // Rows of y with a norm above `most`, or below `least` but not below 1e-6,
  // are scaled, so that it is norm + rate (bound - norm).
  virtual void bound_norms(View y, double least, double most, double rate) = 0;
  // y[i, t, :] *= mask[i, t]
  void mask_steps(View y, View mask) { scale_rows(y, y, mask, false); }

  // Rows of a table [rows, width] by index [n] (integers in 0..rows-1, already
  // checked): y[i] = table[index[i]], y [n, width].
  virtual void gather(View y, View table, View index) = 0;
  // Its gradient: dtable[index[i]] += dy[i] in the order of i, but for those of
  // index `padding` (-1: for all).
  virtual void scatter_add(View dtable, View dy, View index,
                           std::int32_t padding) = 0;

  // Rows (integers) of a table [n * steps, width] by the mask [n, steps].
  // kLast: index [n], the first where none counts; else [n, steps]: kReversed
  // leaves padding in its place, and kHeld where no step before it counts.
  virtual void choose_steps(View index, View mask, StepChoice choice) = 0;

  virtual std::unique_ptr<Dense> dense() = 0;
  virtual std::unique_ptr<Conv2d> conv2d(const Conv2dSpec& spec,
                                         std::int64_t max_batch) = 0;
  // A convolution with max pooling of its result by 2x2 windows side by side:
  // y is [batch, out_height() / 2, out_width() / 2, filters], a last odd row or
  // column is dropped, out_height() and out_width() are at least 2.  Gradients
  // go to the winners of the last forward(), which is of the same batch.
  virtual std::unique_ptr<Conv2d> conv2d_max_pool(const Conv2dSpec& spec,
                                                  std::int64_t max_batch) = 0;
  virtual std::unique_ptr<Pool2d> pool2d(const Pool2dSpec& spec,
                                         std::int64_t max_batch) = 0;
  virtual std::unique_ptr<Conv3d> conv3d(const Conv3dSpec& spec,
                                         std::int64_t max_batch) = 0;
  virtual std::unique_ptr<Pool3d> pool3d(const Pool3dSpec& spec,
                                         std::int64_t max_batch) = 0;
  virtual std::unique_ptr<Recurrent> recurrent(const RecurrentSpec& spec,
                                               std::int64_t max_batch) = 0;

  virtual std::unique_ptr<Attention> attention(const AttentionSpec& spec,
                                               std::int64_t max_batch) = 0;

  // y = f(x); y may be x.
  virtual void activate(const ActivationSpec& f, View y, View x) = 0;
  // dx = dy f'(x), given y = f(x).  dx may be dy.  x may be empty unless
  // gradient_needs_input().  At a kink the slope is that of its flatter or its
  // left side.
  virtual void activate_gradient(const ActivationSpec& f, View dx, View dy,
                                 View y, View x) = 0;
  // And s as sum_rows(s, dx).  false: nothing is done, that gains nothing here.
  virtual bool activate_gradient_and_sum(const ActivationSpec& f, View dx,
                                         View dy, View y, View s);

  // Loss of outputs y [n, units] (after the activation), or as many times units
  // as numbers_each() of the loss says, against target [n, units], example i
  // weighted by mask[i] (empty: 1; an example of weight 0 is not looked at).
  // number += scale * the sum over examples; grad = that one's gradient with
  // respect to y.  An empty number or grad is left out.  Not for losses that
  // needs_logits().  y is clipped to [1e-10, 1 - 1e-10] inside the logarithms,
  // and the gradient is the one at the clipped y.
  virtual void loss(View number, const LossSpec& f, View grad, View y,
                    View target, View mask, double scale) = 0;
  // The same with the activation inside, see activation_inside(), stable for
  // any z.  grad is with respect to z.
  virtual void loss_with_logits(View number, const LossSpec& f, View grad,
                                View z, View target, View mask,
                                double scale) = 0;

  // Batch normalization and its gradients, see batch_norm.h.  y may be x, and
  // dx may be dy.  sum_squares_about: s[c] = sum of (x - mean[c])^2.
  virtual void sum_squares_about(View s, View x, View mean) = 0;
  virtual void batch_norm(const BatchNorm& spec, View y, View x) = 0;
  virtual bool batch_statistics(const BatchStatistics& s, View x);
  virtual void batch_norm_sums(const BatchNorm& spec, View dgamma, View dbeta,
                               View dy, View x) = 0;
  virtual void batch_norm_gradient(const BatchNorm& spec, View dx, View dy,
                                   View x, View sum_dy, View sum_dy_xhat,
                                   double count) = 0;

  // Normalization of x [n, s, c] over all s and the channels of each of g
  // groups (channels side by side; g divides c) of an example by itself:
  //   y = (x - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c]
  // gamma and beta [c] may be empty: 1 and 0.  statistics [n, g, 2] takes the
  // mean and 1 / sqrt(variance + epsilon).  Layer norm: s and g are 1. Instance
  // norm: g is c.  y may be x.
  virtual void group_norm(View y, View statistics, View x, View gamma,
                          View beta, double epsilon) = 0;
  // From its statistics; empty dx, dgamma, dbeta are left out.  dx may be dy.
  virtual void group_norm_gradient(View dx, View dgamma, View dbeta, View dy,
                                   View x, View gamma, View statistics) = 0;

  virtual void local_norm(const LocalNorm& spec, View y, View x) = 0;
  virtual void local_norm_gradient(const LocalNorm& spec, View dx, View dy,
                                   View x) = 0;

  // See pool_steps.h.
  virtual void pool_steps(const PoolSteps& spec, View y, View x, View mask) = 0;
  virtual void pool_steps_gradient(const PoolSteps& spec, View dx, View dy,
                                   View y, View x, View mask) = 0;

  // y [n, h a, w b, c] = x [n, h, w, c] between whose pixels are as many more:
  // bilinear, pixels being squares, the outermost repeated; and its gradient.
  virtual void upsample_bilinear(View y, View x) = 0;
  virtual void upsample_bilinear_gradient(View dx, View dy) = 0;

  // y = x, but slope[i % k] x where x < 0, i counted over all elements; slope
  // [k], and k divides their number.  y may be x.
  virtual void prelu(View y, View x, View slope) = 0;
  // An empty dx or dslope is left out.  dx may be dy.
  virtual void prelu_gradient(View dx, View dslope, View dy, View x,
                              View slope) = 0;

  // Inverted dropout: mask[i] = 1 / keep with probability keep, else 0; the
  // i-th is kept where philox(key, first + i, stream)[0] * 2^-32 < keep.
  virtual void dropout_mask(View mask, double keep, std::uint64_t key,
                            std::uint64_t stream, std::uint64_t first) = 0;

  // y[i] = mean + deviation sqrt(-2 log u) cos(2 pi v), of the first two words
  // of philox(key, first + i, stream): u = ((words[0] >> 8) + 1) * 2^-24,
  // v = (words[1] >> 8) * 2^-24.
  virtual void normal(View y, double mean, double deviation, std::uint64_t key,
                      std::uint64_t stream, std::uint64_t first) = 0;

  // Where |r| >= threshold (never NaN), |r| -= threshold; places (integers) get
  // these i, ascending, ~i where r[i] < 0, from count[0] to a new count[1].
  virtual void threshold_encode(View places, View count, View r,
                                float threshold) = 0;
  // y[i] += quantum for places i, y[i] -= quantum for ~i; no i twice.
  virtual void threshold_apply(View y, View places, float quantum) = 0;

  // One step of training in one pass over memory.  The components of state are
  // views of their own, so that a range may be cut into pieces.  Parameters may
  // be empty where they are neither regularized, decayed nor written.
  // A number becomes NaN unless all that was written is finite, state included,
  // or where the step's guard is.
  virtual void update(UpdateTo to, std::span<const Updating> tensors) = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_DEVICE_H_
