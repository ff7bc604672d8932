// One training step through most primitives, for tests of what holds for all
// of them: same bits in parallel, same bits anywhere in memory, no allocation.

#ifndef DL_TESTS_UNIT_DEVICE_STEP_H_
#define DL_TESTS_UNIT_DEVICE_STEP_H_

#include <memory>
#include <vector>

#include "tests/unit/device/lab.h"

namespace dl::device::test {

class Step {
 public:
  static constexpr std::int64_t kMaxBatch = 5;

  // Every array starts `skew` reals after an aligned address.
  explicit Step(Lab& lab, std::int64_t skew = 0) : lab_(lab), skew_(skew) {
    device::Device& d = lab.device();
    conv_ = d.conv2d(kConv, kMaxBatch);
    pool_ = d.pool2d(kPool, kMaxBatch);
    average_ = d.pool2d(kAverage, kMaxBatch);
    for (const auto cell : kCells)
      recurrent_.push_back(d.recurrent(recurrent_spec(cell), kMaxBatch));
  }

  // All in the order of a step; deterministic.  Examples: 1 .. kMaxBatch.
  void run(std::int64_t n) {
    start(n);
    lab_.device().finish();
  }
  void start(std::int64_t n) {
    device::Device& d = lab_.device();
    const View x = x_.at(0, Shape{n, 12, 12, 3});
    const View y = y_.at(0, Shape{n, 12, 12, 20});
    const View dy = dy_.at(0, y.shape);
    const View p = p_.at(0, Shape{n, 6, 6, 20}), dp = dp_.at(0, p.shape);
    const View q = q_.at(0, Shape{n, 3, 3, 20}), dq = dq_.at(0, q.shape);
    const View z = z_.at(0, Shape{n, 10}), dz = dz_.at(0, z.shape);
    const View mask = mask_.at(0, q.shape);

    d.upload_scaled(x, pixels_.at(static_cast<std::size_t>(n)), shift_, scale_);
    d.upload_one_hot(t_.at(0, z.shape),
                     labels_.at(static_cast<std::size_t>(n)));
    conv_->forward(y, x, w_, b_);
    d.sum_rows(mean_, y);
    d.scale(mean_, 1.0 / static_cast<double>(n * 144));
    d.sum_squares_about(variance_, y, mean_);
    const device::BatchNorm norm{mean_, variance_, gamma_, beta_};
    d.batch_norm(norm, dy, y);
    for (const auto kind : kActivations) d.activate({kind, 0.3}, dy, dy);
    pool_->forward(p, dy, true);
    average_->forward(q, p, true);
    d.dropout_mask(mask, 0.7, 11, 12, 13);
    d.multiply(q, q, mask);
    const View flat = q.reshaped(Shape{n, 180});
    d.matmul(z, flat, false, v_, true, 0);
    d.add_bias(z, c_);
    d.fill(sums_->view(), 0);
    d.loss_with_logits(sum(0), {device::Loss::kNegativeLogLikelihood}, dz, z,
                       t_.at(0, z.shape), {}, 1.0 / 7);
    d.activate({device::Activation::kSoftmax}, z, z);
    d.loss(sum(1), {device::Loss::kBinaryCrossEntropy}, {}, z,
           t_.at(0, z.shape), {}, 1);
    d.activate_gradient({device::Activation::kSoftmax}, z, dz, z, {});
    d.matmul(dv_, dz, true, flat, false, 0);
    d.sum_rows(dc_, dz);
    d.matmul(dq.reshaped(Shape{n, 180}), dz, false, v_, false, 0);
    average_->backward(dp, dq);
    pool_->backward(dy, dp);
    for (const auto kind : kActivations)
      d.activate_gradient({kind, 0.3}, dy, dy, y, y);
    d.batch_norm_sums(norm, dgamma_, dbeta_, dy, y);
    d.batch_norm_gradient(norm, dy, dy, y, dbeta_, dgamma_,
                          static_cast<double>(n * 144));
    conv_->backward_weights(dw_, db_, x, dy);
    conv_->backward_data(dx_.at(0, x.shape), dy, w_);
    run_recurrent(x.reshaped(Shape{n, 12, 36}), n);
    d.add_squares(sum(2), 1, dw_);
    d.add_absolute(sum(3), 1, dw_);
    d.add_sum(sum(4), 1, dw_);
    d.check_finite(sum(4), dw_);
    for (const auto kind : kUpdaters) {
      d.fill(m_, 0.25);
      const int components = device::state_per_parameter(kind);
      const auto to = kind == device::Updater::kNone
                          ? device::UpdateTo::kParameters
                          : device::UpdateTo::kGradient;
      const device::Updating all[] = {
          {.number = sum(4),
           .step = {.limit = 0.5,
                    .l1 = 1e-3,
                    .l2 = 1e-2,
                    .kind = kind,
                    .learning_rate = 0.9},
           .gradient = dw_,
           .parameters = w_,
           .state = {components > 0 ? m_ : View{}, components > 1 ? s_ : View{},
                     components > 2 ? x_max_ : View{}}}};
      d.update(to, all);
    }
    d.add(w_, -0.01, dw_);
    d.copy(x2_, dx_);
    d.fill(dx_, 0);
  }

  // Everything a step computes, all of it finite.
  Values results() {
    Values all(kSums);
    lab_.device().read(all, sums_->view());
    for (const View& view : {w_, dw_, db_, dv_, dc_, dgamma_, dbeta_, m_, s_,
                             x2_, mean_, variance_, u_, du_, dr_, dk_})
      for (const double value : lab_.get(view)) all.push_back(value);
    return all;
  }

 private:
  static constexpr device::Conv2dSpec kConv{.height = 12,
                                            .width = 12,
                                            .channels = 3,
                                            .filters = 20,
                                            .kernel = {4, 4},
                                            .pad_begin = {1, 1},
                                            .pad_end = {2, 2}};
  static constexpr device::Pool2dSpec kPool{
      .height = 12, .width = 12, .channels = 20};
  static constexpr device::Pool2dSpec kAverage{
      .kind = device::Pooling::kAverage,
      .height = 6,
      .width = 6,
      .channels = 20};
  static constexpr device::Activation kActivations[] = {
      device::Activation::kElu,     device::Activation::kLeakyRelu,
      device::Activation::kTanh,    device::Activation::kGelu,
      device::Activation::kSigmoid, device::Activation::kSoftplus,
      device::Activation::kRelu};
  static constexpr device::Updater kUpdaters[] = {
      device::Updater::kSgd,       device::Updater::kNesterov,
      device::Updater::kMomentum,  device::Updater::kRmsProp,
      device::Updater::kAdaGrad,   device::Updater::kAdamW,
      device::Updater::kAmsGrad,   device::Updater::kAdaMax,
      device::Updater::kNadam,     device::Updater::kAdaDelta,
      device::Updater::kAdaBelief, device::Updater::kAdam,
      device::Updater::kNone};

  static constexpr device::Cell kCells[] = {
      device::Cell::kSimple, device::Cell::kLstm, device::Cell::kGru};
  static device::RecurrentSpec recurrent_spec(device::Cell cell) {
    return {.cell = cell, .steps = 12, .inputs = 36, .units = 10};
  }

  // Each cell in turn; what the last one leaves is among the results.
  void run_recurrent(const View& x, std::int64_t n) {
    const View u = u_.at(0, Shape{n, 12, 10});
    for (std::size_t i = 0; i < recurrent_.size(); ++i) {
      const device::RecurrentSpec spec = recurrent_spec(kCells[i]);
      const auto part = [&](View w, std::int64_t columns) {
        return w.at(0, Shape{spec.gates() * 10, columns});
      };
      const auto weights = [&](View w, View r, View b) {
        return device::RecurrentWeights{part(w, 36), part(r, 10),
                                        b.at(0, Shape{spec.biases()})};
      };
      const auto w = weights(k_, r_, e_);
      recurrent_[i]->forward(u, x, {}, w, {});
      recurrent_[i]->backward(du_.at(0, x.shape), false, u, x, {}, w,
                              weights(dk_, dr_, de_));
    }
  }

  View sum(std::int64_t i) const { return sums_->view().at(i, Shape{1}); }

  View array(const Shape& shape, std::uint64_t seed, double low = -1,
             double high = 1) {
    const std::int64_t n = shape.elements();
    const View view = lab_.random(Shape{n + skew_}, 99).at(skew_, shape);
    lab_.device().upload(view,
                         tensor_of(shape, random_values(n, seed, low, high)));
    return view;
  }

  static std::vector<Tensor> batches(DType type, const Shape& example,
                                     unsigned modulus) {
    std::vector<Tensor> all(1);
    for (std::int64_t n = 1; n <= kMaxBatch; ++n) {
      Tensor t(type, example.with_first(n));
      unsigned value = 3;
      for (std::uint8_t& byte : t.as<std::uint8_t>())
        byte = static_cast<std::uint8_t>((value = value * 37 + 11) % modulus);
      all.push_back(std::move(t));
    }
    return all;
  }

  Lab& lab_;
  std::int64_t skew_;
  std::unique_ptr<device::Conv2d> conv_;
  std::unique_ptr<device::Pool2d> pool_, average_;
  std::vector<std::unique_ptr<device::Recurrent>> recurrent_;
  std::vector<Tensor> pixels_ = batches(DType::kU8, Shape{12, 12, 3}, 251);
  std::vector<Tensor> labels_ = batches(DType::kU8, Shape{}, 10);
  static constexpr std::int64_t kSums = 5;
  std::unique_ptr<tensor::Buffer> sums_ =
      lab_.device().allocate(Shape{kSums}, DType::kF64);

  View x_ = array(Shape{kMaxBatch, 12, 12, 3}, 1), dx_ = array(x_.shape, 2),
       x2_ = array(x_.shape, 3);
  View y_ = array(Shape{kMaxBatch, 12, 12, 20}, 4), dy_ = array(y_.shape, 5);
  View p_ = array(Shape{kMaxBatch, 6, 6, 20}, 6), dp_ = array(p_.shape, 7);
  View q_ = array(Shape{kMaxBatch, 3, 3, 20}, 8), dq_ = array(q_.shape, 9);
  View z_ = array(Shape{kMaxBatch, 10}, 10), dz_ = array(z_.shape, 11),
       t_ = array(z_.shape, 12), mask_ = array(q_.shape, 13);
  View w_ = array(Shape{20, 4, 4, 3}, 14), dw_ = array(w_.shape, 15),
       m_ = array(w_.shape, 16, 0, 1), s_ = array(w_.shape, 17, 0, 1),
       x_max_ = array(w_.shape, 40, 0, 1);
  View b_ = array(Shape{20}, 18), db_ = array(b_.shape, 19),
       mean_ = array(b_.shape, 20), variance_ = array(b_.shape, 21, 0, 1),
       gamma_ = array(b_.shape, 22), beta_ = array(b_.shape, 23),
       dgamma_ = array(b_.shape, 24), dbeta_ = array(b_.shape, 25);
  View v_ = array(Shape{10, 180}, 26), dv_ = array(v_.shape, 27),
       c_ = array(Shape{10}, 28), dc_ = array(c_.shape, 29);
  View u_ = array(Shape{kMaxBatch, 12, 10}, 32),
       du_ = array(Shape{kMaxBatch, 12, 36}, 33);
  View k_ = array(Shape{40, 36}, 34), dk_ = array(k_.shape, 35),
       r_ = array(Shape{40, 10}, 36), dr_ = array(r_.shape, 37),
       e_ = array(Shape{40}, 38), de_ = array(e_.shape, 39);
  View shift_ = array(Shape{1}, 30), scale_ = array(Shape{3}, 31);
};

}  // namespace dl::device::test

#endif  // DL_TESTS_UNIT_DEVICE_STEP_H_
