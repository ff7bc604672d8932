// One step through the primitives that layers of graphs, transformers and
// volumes are made of, forward and backward: for the same tests as Step.

#ifndef DL_TESTS_UNIT_DEVICE_LAYER_STEP_H_
#define DL_TESTS_UNIT_DEVICE_LAYER_STEP_H_

#include <memory>
#include <vector>

#include "tests/unit/device/lab.h"

namespace dl::device::test {

class LayerStep {
 public:
  static constexpr std::int64_t kMaxBatch = 5;

  // Every array starts `skew` elements after an aligned address.
  explicit LayerStep(Lab& lab, std::int64_t skew = 0)
      : lab_(lab),
        skew_(skew),
        grouped_(lab.device().conv2d(kGrouped, kMaxBatch)),
        volumes_(lab.device().conv3d(kVolumes, kMaxBatch)),
        pool_(lab.device().pool3d(kPool, kMaxBatch)),
        attention_(lab.device().attention(attention_spec(), kMaxBatch)) {}

  void run(std::int64_t n) {
    start(n);
    lab_.device().finish();
  }
  void start(std::int64_t n) {
    run_images(n);
    run_sequences(n);
    run_rows(n);
  }

  // Results for the examples of the last run, everything else kept.
  Values results() {
    Values all;
    for (const View& view : results_)
      for (const double value : lab_.get(view)) all.push_back(value);
    return all;
  }

 private:
  static constexpr device::Conv2dSpec kGrouped{.height = 6,
                                               .width = 6,
                                               .channels = 24,
                                               .filters = 24,
                                               .kernel = {3, 3},
                                               .pad_begin = {1, 1},
                                               .pad_end = {1, 1},
                                               .groups = 24};
  static constexpr device::Conv3dSpec kVolumes{.depth = 6,
                                               .height = 6,
                                               .width = 6,
                                               .channels = 4,
                                               .filters = 4,
                                               .kernel = {3, 3, 3},
                                               .pad_begin = {1, 1, 1},
                                               .pad_end = {1, 1, 1},
                                               .groups = 2};
  static constexpr device::Pool3dSpec kPool{.kind = device::Pooling::kPNorm,
                                            .depth = 6,
                                            .height = 6,
                                            .width = 6,
                                            .channels = 4};
  static device::AttentionSpec attention_spec() {
    device::AttentionSpec s;
    s.queries = s.keys = 36;
    s.heads = 2;
    s.head_size = 4;
    s.causal = true;
    s.q = {24, 0};
    s.k = {24, 8};
    s.v = {24, 16};
    return s;
  }

  // x [n, 6, 6, 24] through images and volumes, back into dx_.
  void run_images(std::int64_t n) {
    device::Device& d = lab_.device();
    const Shape image{n, 6, 6, 24}, volume{n, 6, 6, 6, 4};
    const View x = x_.at(0, image), y = y_.at(0, image), z = z_.at(0, image),
               dx = dx_.at(0, image), dy = dy_.at(0, image);
    grouped_->forward(y, x, w_, b_);
    d.local_norm({.window = 3, .alpha = 0.5}, z, y);
    d.prelu(y, z, b_);
    volumes_->forward(z.reshaped(volume), y.reshaped(volume), v_, {});
    const View p = p_.at(0, Shape{n, 3, 3, 3, 4});
    pool_->forward(p, z.reshaped(volume), true);
    pool_->backward(dy.reshaped(volume), p);
    volumes_->backward_weights(dv_, {}, y.reshaped(volume),
                               dy.reshaped(volume));
    volumes_->backward_data(dx.reshaped(volume), dy.reshaped(volume), v_);
    d.prelu_gradient(dy, db_, dx, y, b_);
    d.local_norm_gradient({.window = 3, .alpha = 0.5}, dx, dy, y);
    grouped_->backward_weights(dw_, {}, x, dx);
    grouped_->backward_data(dy, dx, w_);
    const View large = large_.at(0, Shape{n, 12, 12, 24});
    d.upsample_bilinear(large, dy);
    d.upsample_bilinear_gradient(dx, large);
  }

  void run_sequences(std::int64_t n) {
    device::Device& d = lab_.device();
    const Shape packed{n, 36, 24};
    const View x = dx_.at(0, packed), y = y_.at(0, packed),
               dy = dy_.at(0, packed);
    const View has = has_.at(0, Shape{n, 3, 2}), mask = mask_.at(0, {n, 36});
    d.group_norm(y, has, x, b_, {}, 1e-3);
    const View part = part_.at(0, Shape{n, 36, 8});
    attention_->forward(part, y, y, y, mask, true);
    attention_->backward(dy, dy, dy, part, y, y, y, mask);
    d.group_norm_gradient(dy, dgamma_, {}, dy, x, b_, has);
    d.mask_steps(dy, mask);
    const View s = s_.at(0, Shape{n, 24});
    for (const auto kind :
         {device::StepPooling::kMax, device::StepPooling::kPNorm}) {
      d.pool_steps({kind}, s, dy, mask);
      d.pool_steps_gradient({kind}, y, s, s, dy, mask);
    }
  }

  void run_rows(std::int64_t n) {
    device::Device& d = lab_.device();
    const View x = x_.at(0, Shape{n, 864}), y = y_.at(0, x.shape),
               z = z_.at(0, x.shape), dx = dx_.at(0, x.shape);
    const View r = r_.at(0, Shape{n}), which = which_.at(0, x.shape);
    d.dot_rows(r, x, y);
    d.square_root(r, r, 1e4);
    d.reciprocal(r, r, 1);
    d.scale_rows(y, x, r, false);
    d.divide(z, y, x);
    const View inputs[] = {y, z};
    d.extreme(dx, which, inputs, tensor::Extreme::kMin);
    d.take_where(z, x, which, 1);
    d.normal(y, 0.5, 2, 3, 4, 5);
    const View index = index_.at(0, Shape{n});
    d.gather(z.reshaped(Shape{36 * n, 24}).at(0, Shape{n, 24}), table_, index);
    d.scatter_add(table_, y.at(0, Shape{n, 24}), index, 2);
    // Transposed, then summed over steps.
    d.copy_strided(
        device::Strided().over(n, 864, 864).over(24, 36, 1).over(36, 1, 24), dx,
        y, false);
    d.copy_strided(
        device::Strided().over(n, 0, 864).over(24, 1, 36).over(36, 0, 1), sum_,
        dx, true);
  }

  View array(const Shape& shape, std::uint64_t seed, double low = -1,
             double high = 1) {
    const View view = room(shape, lab_.device().real());
    const Values values = random_values(shape.elements(), seed, low, high);
    lab_.device().upload(view, tensor_of(shape, values));
    return view;
  }
  View integers(const Shape& shape) {
    const View view = room(shape, DType::kI32);
    Values values(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(i * 5 % 7);
    lab_.device().upload(view, tensor_of(shape, values));
    return view;
  }
  View room(const Shape& shape, DType dtype) {
    rooms_.push_back(
        lab_.device().allocate(Shape{shape.elements() + skew_}, dtype));
    return rooms_.back()->view().at(skew_, shape);
  }

  Lab& lab_;
  std::int64_t skew_;
  std::unique_ptr<device::Conv2d> grouped_;
  std::unique_ptr<device::Conv3d> volumes_;
  std::unique_ptr<device::Pool3d> pool_;
  std::unique_ptr<device::Attention> attention_;
  std::vector<std::unique_ptr<tensor::Buffer>> rooms_;

  View x_ = array(Shape{kMaxBatch, 6, 6, 24}, 1), y_ = array(x_.shape, 2),
       z_ = array(x_.shape, 3), dx_ = array(x_.shape, 4),
       dy_ = array(x_.shape, 5), large_ = array(Shape{kMaxBatch * 4 * 864}, 6);
  View w_ = array(Shape{24, 3, 3, 1}, 7), dw_ = array(w_.shape, 8),
       v_ = array(Shape{4, 3, 3, 3, 2}, 9), dv_ = array(v_.shape, 10),
       b_ = array(Shape{24}, 11), db_ = array(b_.shape, 12),
       dgamma_ = array(b_.shape, 13), sum_ = array(b_.shape, 14),
       table_ = array(Shape{7, 24}, 15);
  View p_ = array(Shape{kMaxBatch, 108}, 16),
       part_ = array(Shape{kMaxBatch, 36, 8}, 17),
       has_ = array(Shape{kMaxBatch, 3, 2}, 18),
       mask_ = array(Shape{kMaxBatch, 36}, 19, 0.5, 1),
       s_ = array(Shape{kMaxBatch, 24}, 20), r_ = array(Shape{kMaxBatch}, 21);
  View which_ = integers(x_.shape), index_ = integers(Shape{kMaxBatch});
  std::vector<View> results_ = {y_,    z_,   dx_,     dy_,  large_, dw_,
                                dv_,   db_,  dgamma_, sum_, table_, p_,
                                part_, has_, s_,      r_,   which_};
};

}  // namespace dl::device::test

#endif  // DL_TESTS_UNIT_DEVICE_LAYER_STEP_H_
