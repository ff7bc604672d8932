// Float32 on the processor: convolution by oneDNN, matrix products by gemm.h,
// the rest by loops that compilers vectorise (simd.h).
//
// All work happens on the calling thread, but for spread.h.  Devices are
// independent of each other and may run in parallel; results do not depend on
// it, nor on where memory lies.  Views must be aligned to 4 bytes; 64 is
// faster.  One source file a group of primitives.

#ifndef DL_LIBCORE_DEVICE_CPU_CPU_DEVICE_H_
#define DL_LIBCORE_DEVICE_CPU_CPU_DEVICE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "libcore/device/api/device.h"
#include "libcore/device/api/precision.h"
#include "libcore/device/host_device.h"

namespace dl::device {

struct OneDnn;
class GemmScratch;
class Spread;

class CpuDevice final : public HostDevice {
 public:
  // weights: what dense and recurrent weights are held in once they are frozen.
  explicit CpuDevice(Precision weights = Precision::kFloat32);
  ~CpuDevice() override;

  Precision weights() const { return weights_; }

  std::string name() const override { return "cpu"; }
  tensor::DType real() const override { return tensor::DType::kF32; }
  Capabilities capabilities() const override {
    return {.prediction = {.bfloat16 = true}};
  }

  // memory.cpp
  using Device::allocate;
  std::unique_ptr<tensor::Buffer> allocate(tensor::Shape shape,
                                           tensor::DType dtype) override;
  View adopt(std::span<const float> host) override;
  std::span<float> on_host(View v) override;
  void upload(View dst, const tensor::Tensor& src) override;
  void upload_scaled(View dst, const tensor::Tensor& src, View shift,
                     View scale) override;
  void upload_one_hot(View dst, const tensor::Tensor& src) override;
  void use(ThreadTeam* team) override;

  // vector.cpp
  void fill(View y, double value) override;
  void copy(View y, View x) override;
  void scale(View y, double a) override;
  void add(View y, double a, View x) override;
  void multiply(View y, View a, View b) override;
  void divide(View y, View a, View b) override;
  void square_root(View y, View x, double shift) override;
  void reciprocal(View y, View x, double shift) override;
  void dropout_mask(View mask, double keep, std::uint64_t key,
                    std::uint64_t stream, std::uint64_t first) override;

  // numbers.cpp
  void add_sum(View number, double a, View x) override;
  void add_absolute(View number, double a, View x) override;
  void add_squares(View number, double a, View x) override;
  void check_finite(View number, View x) override;
  void bound_norms(View y, double least, double most, double rate) override;

  // strided.cpp
  void copy_strided(const Strided& s, View y, View x, bool add) override;

  // rows.cpp
  void extreme(View y, View which, std::span<const View> inputs,
               tensor::Extreme kind) override;
  void take_where(View dx, View dy, View which, std::int32_t j) override;
  void dot_rows(View s, View a, View b) override;
  void scale_rows(View y, View x, View s, bool add) override;
  void choose_steps(View index, View mask, StepChoice choice) override;
  void gather(View y, View table, View index) override;
  void scatter_add(View dtable, View dy, View index,
                   std::int32_t padding) override;

  // matrix.cpp
  void matmul(View c, View a, bool transpose_a, View b, bool transpose_b,
              double beta) override;
  void add_bias(View y, View b) override;
  void sum_rows(View s, View x) override;

  // dense.cpp
  std::unique_ptr<Dense> dense() override;

  // conv2d.cpp, conv2d_max_pool.cpp, pool2d.cpp
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

  // recurrent.cpp
  std::unique_ptr<Recurrent> recurrent(const RecurrentSpec& spec,
                                       std::int64_t max_batch) override;

  // attention.cpp
  std::unique_ptr<Attention> attention(const AttentionSpec& spec,
                                       std::int64_t max_batch) override;

  // activation.cpp
  void activate(const ActivationSpec& f, View y, View x) override;
  void activate_gradient(const ActivationSpec& f, View dx, View dy, View y,
                         View x) override;

  // loss.cpp
  void loss(View number, const LossSpec& f, View grad, View y, View target,
            View mask, double scale) override;
  void loss_with_logits(View number, const LossSpec& f, View grad, View z,
                        View target, View mask, double scale) override;

  // batch_norm.cpp
  void sum_squares_about(View s, View x, View mean) override;
  void batch_norm(const BatchNorm& spec, View y, View x) override;
  void batch_norm_sums(const BatchNorm& spec, View dgamma, View dbeta, View dy,
                       View x) override;
  void batch_norm_gradient(const BatchNorm& spec, View dx, View dy, View x,
                           View sum_dy, View sum_dy_xhat,
                           double count) override;

  // group_norm.cpp
  void group_norm(View y, View statistics, View x, View gamma, View beta,
                  double epsilon) override;
  void group_norm_gradient(View dx, View dgamma, View dbeta, View dy, View x,
                           View gamma, View statistics) override;

  // local_norm.cpp
  void local_norm(const LocalNorm& spec, View y, View x) override;
  void local_norm_gradient(const LocalNorm& spec, View dx, View dy,
                           View x) override;

  // pool_steps.cpp
  void pool_steps(const PoolSteps& spec, View y, View x, View mask) override;
  void pool_steps_gradient(const PoolSteps& spec, View dx, View dy, View y,
                           View x, View mask) override;

  // upsample.cpp
  void upsample_bilinear(View y, View x) override;
  void upsample_bilinear_gradient(View dx, View dy) override;

  // prelu.cpp
  void prelu(View y, View x, View slope) override;
  void prelu_gradient(View dx, View dslope, View dy, View x,
                      View slope) override;

  // normal.cpp
  void normal(View y, double mean, double deviation, std::uint64_t key,
              std::uint64_t stream, std::uint64_t first) override;

  // updater.cpp
  void update(UpdateTo to, std::span<const Updating> tensors) override;

 private:
  std::unique_ptr<OneDnn> dnn_;
  std::unique_ptr<GemmScratch> gemm_;
  std::unique_ptr<Spread> spread_;
  Precision weights_;
};

// "oneDNN 2.6.3, avx512 kernels"
std::string cpu_libraries();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_CPU_DEVICE_H_
