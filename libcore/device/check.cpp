// Argument checks of the host devices.

#include "libcore/device/check.h"

#include <limits>

#include "libcore/base/error.h"

namespace dl::device {
using tensor::Shape;
using tensor::View;

void check_reals(tensor::DType real, std::initializer_list<View> views) {
  for (const View& view : views) {
    require(!view.empty(), "a view is missing");
    require(view.dtype == real || (real == tensor::DType::kBF16 &&
                                   view.dtype == tensor::DType::kF32),
            "a view holds reals of another device");
  }
}

void check_integers(const View& view) {
  require(!view.empty(), "a view is missing");
  require(view.dtype == tensor::DType::kI32, "a view that holds no integers");
}

void check_equal_elements(const View& a, const View& b) {
  require(a.elements() == b.elements(), "views differ in their elements");
}

void check_same_shape(const View& a, const View& b) {
  require(a.shape == b.shape, "views differ in shape");
}

void check_shape(const View& view, const Shape& shape) {
  require(view.shape == shape, "a view has the wrong shape");
}

Rows rows_of(const View& view) {
  require(view.shape.rank() > 0, "a scalar has no rows");
  const std::int64_t length = view.shape.back();
  return {length == 0 ? 0 : view.elements() / length, length};
}

Rows check_scaling(const View& dst, const tensor::Tensor& src,
                   const View& shift, const View& scale) {
  require(dst.elements() == src.elements(), "upload of another size");
  const Rows rows = rows_of(dst);
  for (const View& view : {shift, scale}) {
    require(view.elements() == 1 || view.elements() == rows.length,
            "shift and scale are one number or one a channel");
  }
  return rows;
}

MatmulExtents check_matmul(const View& c, const View& a, bool transpose_a,
                           const View& b, bool transpose_b) {
  require(c.shape.rank() == 2 && a.shape.rank() == 2 && b.shape.rank() == 2,
          "matrix product of something that is no matrix");
  const MatmulExtents extents{c.shape[0], c.shape[1],
                              a.shape[transpose_a ? 0 : 1]};
  const auto [m, n, k] = extents;
  check_shape(a, transpose_a ? Shape{k, m} : Shape{m, k});
  check_shape(b, transpose_b ? Shape{n, k} : Shape{k, n});
  return extents;
}

void check_spec(const RecurrentSpec& spec, std::int64_t max_batch) {
  require(spec.steps > 0 && spec.inputs > 0 && spec.units > 0 && max_batch > 0,
          "a recurrent layer of nothing");
  require(spec.column >= 0 && spec.column + spec.units <= spec.row_width(),
          "a recurrent layer whose units lie outside its rows");
  require(spec.truncate >= 0, "a negative length of segments");
  for (const Activation f : {spec.activation, spec.gate_activation})
    require(f == Activation::kIdentity || f == Activation::kRelu ||
                f == Activation::kSigmoid || f == Activation::kTanh ||
                f == Activation::kHardSigmoid || f == Activation::kHardTanh ||
                f == Activation::kSoftsign,
            "an activation that recurrent cells do not have");
}

std::int64_t check_recurrent(tensor::DType real, const RecurrentSpec& spec,
                             std::int64_t max_batch, const View& y,
                             const View& x, const View& mask,
                             const RecurrentWeights& w) {
  check_reals(real, {y, x, w.input, w.recurrent});
  require(x.shape.rank() == 3, "sequences must be [batch, steps, features]");
  const std::int64_t batch = x.shape[0];
  require(batch >= 1 && batch <= max_batch, "a batch that was not announced");
  check_shape(x, Shape{batch, spec.steps, spec.inputs});
  check_shape(y, spec.last ? Shape{batch, spec.row_width()}
                           : Shape{batch, spec.steps, spec.row_width()});
  const std::int64_t rows = spec.gates() * spec.units;
  check_shape(w.input, Shape{rows, spec.inputs});
  check_shape(w.recurrent, Shape{rows, spec.units});
  if (!w.bias.empty()) {
    check_reals(real, {w.bias});
    check_shape(w.bias, Shape{spec.biases()});
  }
  if (!w.peephole.empty()) {
    require(spec.cell == Cell::kLstm, "peepholes of another cell");
    check_reals(real, {w.peephole});
    check_shape(w.peephole, Shape{3, spec.units});
  }
  if (!mask.empty()) {
    check_reals(real, {mask});
    check_shape(mask, Shape{batch, spec.steps});
  }
  return batch;
}

void check_state(tensor::DType real, const RecurrentSpec& spec,
                 std::int64_t batch, const RecurrentState& state) {
  const bool cell = spec.cell == Cell::kLstm && !state.empty();
  require(state.c.empty() != cell, "a state of another cell");
  for (const View& part : {state.h, state.c}) {
    if (part.empty()) continue;
    check_reals(real, {part});
    check_shape(part, Shape{batch, spec.units});
  }
}

void check_max_pool(const Conv2dSpec& spec, std::int64_t max_batch) {
  check_spec(spec, max_batch);
  require(spec.out_height() >= 2 && spec.out_width() >= 2,
          "nothing to pool two by two");
}

std::int64_t check_max_pool_images(const Conv2dSpec& spec,
                                   std::int64_t max_batch, const View& x,
                                   const View& y) {
  const std::int64_t batch = x.shape[0];
  require(batch > 0 && batch <= max_batch, "a batch that was not asked for");
  check_shape(x, Shape{batch, spec.height, spec.width, spec.channels});
  check_shape(y, Shape{batch, spec.out_height() / 2, spec.out_width() / 2,
                       spec.filters});
  return batch;
}

Rows check_loss(tensor::DType real, const LossSpec& f, const View& grad,
                const View& y, const View& target, const View& mask) {
  check_reals(real, {y, target});
  require(y.shape.rank() == 2, "outputs must be [batch, units]");
  require(f.kind != Loss::kCategoricalHinge || y.shape[1] > 1,
          "one output tells no classes apart");
  const Shape wanted{y.shape[0], y.shape[1] / numbers_each(f.kind)};
  require(y.elements() == wanted.elements() * numbers_each(f.kind),
          "a number that belongs to no target");
  if (!f.weights.empty()) {
    check_reals(real, {f.weights});
    check_shape(f.weights, Shape{wanted[1]});
  }
  check_shape(target, wanted);
  if (!grad.empty()) {
    check_reals(real, {grad});
    check_same_shape(y, grad);
  }
  if (!mask.empty()) {
    check_reals(real, {mask});
    check_shape(mask, Shape{y.shape[0]});
  }
  return {y.shape[0], y.shape[1]};
}

double smoothing_floor(const LossSpec& f, std::int64_t n) {
  const bool binary =
      f.kind == Loss::kBinaryCrossEntropy || f.kind == Loss::kBinaryFocal;
  return f.smoothing / (binary ? 2.0 : static_cast<double>(n));
}

void check_update(tensor::DType real, const UpdaterStep& step, UpdateTo to,
                  const View& g, const View& w, const StateViews& state) {
  check_reals(real, {g});
  if (!w.empty() || to == UpdateTo::kParameters || step.l1 != 0 ||
      step.l2 != 0 || step.decay != 0) {
    check_reals(real, {w});
    check_equal_elements(g, w);
  }
  const int components = state_per_parameter(step.kind);
  int given = 0;
  for (const View& component : state) {
    if (given++ < components) {
      check_reals(real, {component});
      check_equal_elements(g, component);
    } else {
      require(component.empty() || component.elements() == 0,
              "state for an updater that has none");
    }
  }
}

void check_threshold(tensor::DType real, const View& places, const View& count,
                     const View& r) {
  check_reals(real, {r});
  check_integers(places);
  check_integers(count);
  require(count.elements() == 2, "a count that is not two integers");
  require(r.elements() <= places.elements() &&
              r.elements() <= std::numeric_limits<std::int32_t>::max(),
          "more elements than places for them");
}

}  // namespace dl::device
