// Float32 on a GPU: own kernels (grid.h), but matrix products by cuBLAS and, in
// another precision, convolutions by cuDNN.  Such a precision is one of the
// factors of products and convolutions; every view of reals may be of bfloat16
// where that is it (reals.h).  All calls but download(), read() and finish()
// return before they have taken effect. One source file a group of primitives.

#ifndef DL_LIBCORE_DEVICE_CUDA_CUDA_DEVICE_H_
#define DL_LIBCORE_DEVICE_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/device/api/device.h"
#include "libcore/device/cuda/matrix_product.h"
#include "libcore/device/cuda/runtime/dnn_graph.h"
#include "libcore/device/cuda/runtime/staging.h"
#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

class CudaDevice final : public Device {
 public:
  using View = tensor::View;

  // precision: of products, not to be used unless capabilities() have it.
  // most_threads: of a block; fewer in tests.
  // Throws Error: kUnavailable, there is no such GPU, or it is not usable.
  CudaDevice(const Api& api, int gpu, Precision precision,
             unsigned most_threads = kMostThreads);
  static constexpr unsigned kMostThreads = 1024;
  ~CudaDevice() override { stream_.forget_steps(); }

  Stream& stream() { return stream_; }
  MatrixProduct& products() { return products_; }

  std::string name() const override { return stream_.name(); }
  tensor::DType real() const override { return tensor::DType::kF32; }
  tensor::DType activations() const override {
    return products_.casts() ? tensor::DType::kBF16 : real();
  }
  Capabilities capabilities() const override;

  std::unique_ptr<LaneSum> lane_sum(std::span<Device* const> lanes) override;

  // memory.cu
  using Device::allocate;
  std::unique_ptr<tensor::Buffer> allocate(tensor::Shape shape,
                                           tensor::DType dtype) override;
  // The source may change as soon as an upload returns.
  void upload(View dst, const tensor::Tensor& src) override;
  void expect(std::span<const tensor::Tensor* const> next) override;
  void upload_scaled(View dst, const tensor::Tensor& src, View shift,
                     View scale) override;
  void upload_one_hot(View dst, const tensor::Tensor& src) override;
  void download(tensor::Tensor& dst, View src) override;
  void finish() override { stream_.wait(); }
  void begin_step(std::uint64_t key) override { stream_.begin_step(key); }
  void end_step() override { stream_.end_step(); }

  // vector.cu
  void fill(View y, double value) override;
  void copy(View y, View x) override;
  void scale(View y, double a) override;
  void add(View y, double a, View x) override;
  void multiply(View y, View a, View b) override;
  void divide(View y, View a, View b) override;
  void square_root(View y, View x, double shift) override;
  void reciprocal(View y, View x, double shift) override;

  // numbers.cu
  void add_sum(View number, double a, View x) override;
  void add_absolute(View number, double a, View x) override;
  void add_squares(View number, double a, View x) override;
  void check_finite(View number, View x) override;
  void add_numbers(View number, View numbers) override;
  void check_at_most(View number, View x, double most) override;
  void norm_factor(View factor, View squares, double most,
                   bool always) override;
  void read(std::span<double> to, View numbers) override;
  void expect_reading(View numbers) override;
  void bound_norms(View y, double least, double most, double rate) override;

  // strided.cu
  void copy_strided(const Strided& s, View y, View x, bool add) override;

  // rows.cu, scatter.cu
  void extreme(View y, View which, std::span<const View> inputs,
               tensor::Extreme kind) override;
  void take_where(View dx, View dy, View which, std::int32_t j) override;
  void dot_rows(View s, View a, View b) override;
  void scale_rows(View y, View x, View s, bool add) override;
  void choose_steps(View index, View mask, StepChoice choice) override;
  void gather(View y, View table, View index) override;
  void scatter_add(View dtable, View dy, View index,
                   std::int32_t padding) override;

  // matrix.cu
  void matmul(View c, View a, bool transpose_a, View b, bool transpose_b,
              double beta) override;
  void exact_matmul(View c, View a, bool transpose_a, View b,
                    bool transpose_b) override;
  void sum_rows(View s, View x) override;

  std::unique_ptr<Dense> dense() override;

  // conv2d.cpp, exact_conv.cu, conv_max_pool.cu, pool2d.cu
  std::unique_ptr<Conv2d> conv2d(const Conv2dSpec& spec,
                                 std::int64_t max_batch) override;
  std::unique_ptr<Conv2d> conv2d_max_pool(const Conv2dSpec& spec,
                                          std::int64_t max_batch) override;
  std::unique_ptr<Pool2d> pool2d(const Pool2dSpec& spec,
                                 std::int64_t max_batch) override;
  std::unique_ptr<Conv3d> conv3d(const Conv3dSpec& spec,
                                 std::int64_t max_batch) override;
  std::unique_ptr<Pool3d> pool3d(const Pool3dSpec& spec,
                                 std::int64_t max_batch) override;

  // recurrent.cu
  std::unique_ptr<Recurrent> recurrent(const RecurrentSpec& spec,
                                       std::int64_t max_batch) override;

  // attention.cu
  std::unique_ptr<Attention> attention(const AttentionSpec& spec,
                                       std::int64_t max_batch) override;

  // activation.cu
  bool activate_gradient_and_sum(const ActivationSpec& f, View dx, View dy,
                                 View y, View s) override;
  void add_bias(View y, View b) override;
  // y = f(y + b), for an elementwise f.
  void add_bias_and_activate(View y, View b, const ActivationSpec& f);
  void activate(const ActivationSpec& f, View y, View x) override;
  void activate_gradient(const ActivationSpec& f, View dx, View dy, View y,
                         View x) override;

  // loss.cu
  void loss(View number, const LossSpec& f, View grad, View y, View target,
            View mask, double scale) override;
  void loss_with_logits(View number, const LossSpec& f, View grad, View z,
                        View target, View mask, double scale) override;

  // batch_norm.cu
  void sum_squares_about(View s, View x, View mean) override;
  void batch_norm(const BatchNorm& spec, View y, View x) override;
  bool batch_statistics(const BatchStatistics& s, View x) override;
  void batch_norm_sums(const BatchNorm& spec, View dgamma, View dbeta, View dy,
                       View x) override;
  void batch_norm_gradient(const BatchNorm& spec, View dx, View dy, View x,
                           View sum_dy, View sum_dy_xhat,
                           double count) override;

  // group_norm.cu
  void group_norm(View y, View statistics, View x, View gamma, View beta,
                  double epsilon) override;
  void group_norm_gradient(View dx, View dgamma, View dbeta, View dy, View x,
                           View gamma, View statistics) override;

  // local_norm.cu
  void local_norm(const LocalNorm& spec, View y, View x) override;
  void local_norm_gradient(const LocalNorm& spec, View dx, View dy,
                           View x) override;

  // pool_steps.cu
  void pool_steps(const PoolSteps& spec, View y, View x, View mask) override;
  void pool_steps_gradient(const PoolSteps& spec, View dx, View dy, View y,
                           View x, View mask) override;

  // upsample.cu
  void upsample_bilinear(View y, View x) override;
  void upsample_bilinear_gradient(View dx, View dy) override;

  // prelu.cu
  void prelu(View y, View x, View slope) override;
  void prelu_gradient(View dx, View dslope, View dy, View x,
                      View slope) override;

  // random.cu
  void dropout_mask(View mask, double keep, std::uint64_t key,
                    std::uint64_t stream, std::uint64_t first) override;
  void normal(View y, double mean, double deviation, std::uint64_t key,
              std::uint64_t stream, std::uint64_t first) override;

  // threshold.cu
  void threshold_encode(View places, View count, View r,
                        float threshold) override;
  void threshold_apply(View y, View places, float quantum) override;

  // updater.cu
  void update(UpdateTo to, std::span<const Updating> tensors) override;

 private:
  Stream stream_;
  Staging staging_;
  MatrixProduct products_;
  Dnn dnn_;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CUDA_DEVICE_H_
