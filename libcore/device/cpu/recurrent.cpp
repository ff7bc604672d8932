// Recurrent layers: one product for the inputs of some steps, one for the state
// and one pass over the gates a step; backward the same, and one product a
// weight at the end.  Frozen, steps take the place of earlier ones, so that
// they stay in the cache.
//
// Inside, arrays are [steps, batch, ...] in the order in which steps are
// taken, so that a step, and all states before or after a step, lie together.

#include <algorithm>
#include <vector>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/recurrent_step.h"
#include "libcore/device/cpu/spread.h"

namespace dl::device {
namespace {

using kernels::CellStep;
using tensor::DType;
using tensor::Shape;
using tensor::View;

class CpuRecurrent final : public Recurrent {
 public:
  CpuRecurrent(CpuDevice& device, GemmScratch& scratch, Spread& spread,
               const RecurrentSpec& spec, std::int64_t max_batch)
      : device_(device),
        scratch_(scratch),
        spread_(spread),
        spec_(spec),
        max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const std::int64_t rows = spec.steps * max_batch, units = spec.units;
    const std::int64_t width = spec.gates() * units;
    x_ = make(rows * spec.inputs);
    mask_ = make(rows);
    gates_ = make(rows * width);
    if (spec.cell == Cell::kGru) recurrent_ = make(rows * width);
    if (spec.reset_before) {
      kept_ = make(rows * units);
      through_ = make(max_batch * units);
    }
    h_ = make((rows + max_batch) * units);
    dh_ = make(max_batch * units);
    if (spec.cell == Cell::kLstm) {
      c_ = make((rows + max_batch) * units);
      dc_ = make(max_batch * units);
      squashed_ = make(rows * units);
    }
    inner_bias_ = make(units);
    sums_ = make(width);
  }

  void forward(View y, View x, View mask, const RecurrentWeights& w,
               const RecurrentState& carried) override {
    batch_ = check_recurrent(DType::kF32, spec_, max_batch_, y, x, mask, w);
    check_state(DType::kF32, spec_, batch_, carried);
    const std::int64_t units = spec_.units;
    load(x, mask);
    load_bias(w.bias);
    if (!frozen_) pack(w, Precision::kFloat32);
    ahead_ = (kRows + batch_ - 1) / batch_;
    begin(state(h_, 0), carried.h, batch_ * units);
    if (!c_.empty()) begin(state(c_, 0), carried.c, batch_ * units);
    for (std::int64_t s = 0; s < spec_.steps; ++s) {
      if (s % ahead_ == 0) begin_gates(s, w.bias);
      if (s > 0 || !carried.empty() || spec_.cell == Cell::kGru) add_state(s);
      const CellStep step = cell_step(s, w.peephole);
      spec_.cell == Cell::kLstm  ? kernels::lstm_forward(step)
      : spec_.reset_before       ? reset_forward(step)
      : spec_.cell == Cell::kGru ? kernels::gru_forward(step)
                                 : kernels::simple_forward(step);
      if (!spec_.last) store_step(y, s);
    }
    if (spec_.last) store_last(y);
    end(carried.h, h_);
    end(carried.c, c_);
  }

  void freeze(const RecurrentWeights& w) override {
    pack(w, device_.weights());
    frozen_ = true;
  }

  void backward(View dx, bool add, View dy, View x, View mask,
                const RecurrentWeights& w,
                const RecurrentWeights& gradient) override {
    require(!frozen_, "a gradient of a frozen layer");
    check_recurrent(DType::kF32, spec_, max_batch_, dy, x, mask, w);
    const std::int64_t n =
        check_recurrent(DType::kF32, spec_, max_batch_, dy, x, mask, gradient);
    require(n == batch_, "a gradient of another batch than the last");
    std::fill_n(dh_.as<float>(), batch_ * spec_.units, 0.0f);
    if (!dc_.empty()) std::fill_n(dc_.as<float>(), batch_ * spec_.units, 0.0f);
    require(gradient.peephole.empty() == w.peephole.empty(),
            "peepholes without a gradient");
    if (!gradient.peephole.empty()) device_.fill(gradient.peephole, 0);
    if (spec_.last) take_last(dy);
    pack_backward(w);
    for (std::int64_t s = spec_.steps; s-- > 0;) {
      if (!spec_.last) take_step(dy, s);
      const CellStep step = cell_step(s, w.peephole, gradient.peephole);
      spec_.cell == Cell::kLstm  ? kernels::lstm_backward(step)
      : spec_.reset_before       ? reset_backward(step)
      : spec_.cell == Cell::kGru ? kernels::gru_backward(step)
                                 : kernels::simple_backward(step);
      if (s > 0) pass_back(s);
    }
    spread(dx, add, w, gradient);
  }

 private:
  View make(std::int64_t elements) {
    buffers_.push_back(device_.allocate(Shape{elements}));
    return buffers_.back()->view();
  }
  void pack(const RecurrentWeights& w, Precision precision) {
    input_weights_.pack(Matrix{w.input.as<float>(), spec_.inputs}.transposed(),
                        spec_.inputs, width(), precision);
    const Matrix all{w.recurrent.as<float>(), spec_.units};
    forward_weights_.pack(all.transposed(), spec_.units, from_state(),
                          precision);
    if (spec_.reset_before)
      candidate_forward_.pack(candidate_of(all).transposed(), spec_.units,
                              spec_.units, precision);
  }
  void pack_backward(const RecurrentWeights& w) {
    const Matrix all{w.recurrent.as<float>(), spec_.units};
    backward_weights_.pack(all, from_state(), spec_.units);
    if (spec_.reset_before)
      candidate_backward_.pack(candidate_of(all), spec_.units, spec_.units);
  }
  // The columns of the gates that take the state as it is, and with
  // reset_before the rows of the recurrent weights behind those.
  std::int64_t from_state() const {
    return spec_.reset_before ? 2 * spec_.units : width();
  }
  Matrix candidate_of(const Matrix& recurrent) const {
    return {recurrent.data + 2 * spec_.units * spec_.units, spec_.units};
  }
  std::int64_t width() const { return spec_.gates() * spec_.units; }
  std::int64_t time_of(std::int64_t s) const {
    return spec_.reverse ? spec_.steps - 1 - s : s;
  }
  // Rows of all steps; those of one step.
  View all(View v, std::int64_t length) const {
    return v.at(0, Shape{spec_.steps * batch_, length});
  }
  View rows(View v, std::int64_t s, std::int64_t length) const {
    const std::int64_t place = frozen_ ? s % ahead_ : s;
    return v.at(place * batch_ * length, Shape{batch_, length});
  }
  // h or c before step s.
  float* state(View v, std::int64_t s) const {
    const std::int64_t place = frozen_ ? s % 2 : s;
    return v.as<float>() + place * batch_ * spec_.units;
  }

  static void begin(float* first, const View& from, std::int64_t size) {
    if (from.empty())
      std::fill_n(first, size, 0.0f);
    else
      std::copy_n(from.as<float>(), size, first);
  }
  // The carried state is that after the last step.
  void end(const View& to, const View& states) const {
    if (to.empty()) return;
    std::copy_n(state(states, spec_.steps), to.elements(), to.as<float>());
  }

  CellStep cell_step(std::int64_t s, const View& peephole,
                     const View& peephole_gradient = {}) const {
    CellStep step;
    step.batch = batch_;
    step.units = spec_.units;
    step.activation = spec_.activation;
    step.gate_activation = spec_.gate_activation;
    step.mask = masked_ ? mask_.as<float>() + s * batch_ : nullptr;
    step.inner_bias = inner_bias_.as<float>();
    step.gates = rows(gates_, s, width()).as<float>();
    step.h_before = state(h_, s);
    step.h = state(h_, s + 1);
    step.dh = dh_.as<float>();
    if (spec_.cell == Cell::kGru)
      step.recurrent = rows(recurrent_, s, width()).as<float>();
    if (spec_.reset_before) step.kept = rows(kept_, s, spec_.units).as<float>();
    if (spec_.cell == Cell::kLstm) {
      step.c_before = state(c_, s);
      step.c = state(c_, s + 1);
      step.squashed = rows(squashed_, s, spec_.units).as<float>();
      step.peephole = peephole.as<float>();
      step.peephole_gradient = peephole_gradient.as<float>();
      step.dc = dc_.as<float>();
    }
    return step;
  }

  void load(const View& x, const View& mask) {
    masked_ = !mask.empty();
    for (std::int64_t s = 0; s < spec_.steps; ++s)
      for (std::int64_t b = 0; b < batch_; ++b) {
        const std::int64_t from = b * spec_.steps + time_of(s);
        const std::int64_t to = s * batch_ + b;
        std::copy_n(x.as<float>() + from * spec_.inputs, spec_.inputs,
                    x_.as<float>() + to * spec_.inputs);
        if (masked_) mask_.as<float>()[to] = mask.as<float>()[from];
      }
  }

  void load_bias(const View& bias) {
    if (spec_.cell == Cell::kGru && !spec_.reset_before && !bias.empty())
      std::copy_n(bias.as<float>() + width(), spec_.units,
                  inner_bias_.as<float>());
  }

  // The inputs' part of the gates, with their biases, of the steps from s on.
  void begin_gates(std::int64_t s, const View& bias) {
    const std::int64_t steps = std::min(ahead_, spec_.steps - s);
    gemm(spread_, scratch_, rows(gates_, s, width()).as<float>(), width(),
         steps * batch_,
         {x_.as<float>() + s * batch_ * spec_.inputs, spec_.inputs},
         input_weights_.packed(),
         {.bias = bias.empty() ? nullptr : bias.as<float>()});
  }

  // The part of the gates that comes from the state before step s.
  void add_state(std::int64_t s) {
    gemm(spread_, scratch_, rows(state_side(), s, width()).as<float>(), width(),
         batch_, {state(h_, s), spec_.units}, forward_weights_.packed(),
         {.add = spec_.cell != Cell::kGru});
  }

  void reset_forward(const CellStep& step) {
    kernels::gru_gates(step);
    gemm(spread_, scratch_, step.recurrent + 2 * spec_.units, width(), batch_,
         {step.kept, spec_.units}, candidate_forward_.packed(), {});
    kernels::gru_candidate(step);
  }

  void reset_backward(CellStep step) {
    kernels::gru_candidate_backward(step);
    step.kept = through_.as<float>();
    gemm(scratch_, step.kept, spec_.units, batch_,
         {step.recurrent + 2 * spec_.units, width()},
         candidate_backward_.packed(), {});
    kernels::gru_gates_backward(step);
  }

  // dh_ after step s becomes that before it.
  void pass_back(std::int64_t s) {
    const std::int64_t size = batch_ * spec_.units;
    if (spec_.truncate > 0 &&
        (time_of(s) + spec_.reverse) % spec_.truncate == 0) {
      std::fill_n(dh_.as<float>(), size, 0.0f);
      if (!dc_.empty()) std::fill_n(dc_.as<float>(), size, 0.0f);
      return;
    }
    gemm(scratch_, dh_.as<float>(), spec_.units, batch_,
         {rows(state_side(), s, width()).as<float>(), width()},
         backward_weights_.packed(), {.add = true});
  }

  // Part of the gates that is computed from the state, and its gradient.
  View state_side() const {
    return spec_.cell == Cell::kGru ? recurrent_ : gates_;
  }

  void spread(const View& dx, bool add, const RecurrentWeights& w,
              const RecurrentWeights& gradient) {
    const View of_input = all(gates_, width());
    const View of_state = all(state_side(), width());
    const Product products[] = {{gradient.input.as<float>(),
                                 spec_.inputs,
                                 {x_.as<float>(), spec_.inputs}},
                                {gradient.recurrent.as<float>(),
                                 spec_.units,
                                 {h_.as<float>(), spec_.units}}};
    const std::span<const Product> both(products);
    const std::int64_t rows = spec_.steps * batch_;
    const Matrix by_input{of_input.as<float>(), 1, width()};
    const Matrix by_state{of_state.as<float>(), 1, width()};
    if (by_input.data == by_state.data) {
      gemm(scratch_, both, width(), rows, by_input);
    } else {
      gemm(scratch_, both.first(1), width(), rows, by_input);
      gemm(scratch_, both.last(1), from_state(), rows, by_state);
    }
    if (spec_.reset_before) {
      const Product candidate{
          gradient.recurrent.as<float>() + from_state() * spec_.units,
          spec_.units,
          {kept_.as<float>(), spec_.units}};
      gemm(scratch_, {&candidate, 1}, spec_.units, rows,
           {by_state.data + from_state(), 1, width()});
    }
    if (!gradient.bias.empty()) {
      device_.sum_rows(sums_, of_state);
      float* to = gradient.bias.as<float>();
      std::copy_n(sums_.as<float>(), width(), to);
      if (spec_.cell == Cell::kGru && !spec_.reset_before) {
        const std::int64_t n = spec_.units;
        std::copy_n(to + 2 * n, n, to + 3 * n);
        device_.sum_rows(sums_, of_input);
        std::copy_n(sums_.as<float>() + 2 * n, n, to + 2 * n);
      }
    }
    if (dx.empty()) return;
    // The inputs have been used; their place takes their gradient.
    device_.matmul(all(x_, spec_.inputs), of_input, false, w.input, false, 0);
    for (std::int64_t s = 0; s < spec_.steps; ++s)
      for (std::int64_t b = 0; b < batch_; ++b) {
        const float* from = x_.as<float>() + (s * batch_ + b) * spec_.inputs;
        float* to =
            dx.as<float>() + (b * spec_.steps + time_of(s)) * spec_.inputs;
        for (std::int64_t i = 0; i < spec_.inputs; ++i)
          to[i] = add ? to[i] + from[i] : from[i];
      }
  }

  float* out(const View& y, std::int64_t row) const {
    return y.as<float>() + row * spec_.row_width() + spec_.column;
  }
  bool is_masked(std::int64_t s, std::int64_t b) const {
    return masked_ && mask_.as<float>()[s * batch_ + b] == 0;
  }

  void store_step(const View& y, std::int64_t s) const {
    for (std::int64_t b = 0; b < batch_; ++b) {
      float* to = out(y, b * spec_.steps + time_of(s));
      if (is_masked(s, b))
        std::fill_n(to, spec_.units, 0.0f);
      else
        std::copy_n(state(h_, s + 1) + b * spec_.units, spec_.units, to);
    }
  }
  void store_last(const View& y) const {
    for (std::int64_t b = 0; b < batch_; ++b)
      std::copy_n(state(h_, spec_.steps) + b * spec_.units, spec_.units,
                  out(y, b));
  }
  void take_step(const View& dy, std::int64_t s) const {
    for (std::int64_t b = 0; b < batch_; ++b) {
      if (is_masked(s, b)) continue;
      const float* from = out(dy, b * spec_.steps + time_of(s));
      float* to = dh_.as<float>() + b * spec_.units;
      for (std::int64_t u = 0; u < spec_.units; ++u) to[u] += from[u];
    }
  }
  void take_last(const View& dy) const {
    for (std::int64_t b = 0; b < batch_; ++b)
      std::copy_n(out(dy, b), spec_.units, dh_.as<float>() + b * spec_.units);
  }

  // Products of fewer rows take as long as reading the weights.
  static constexpr std::int64_t kRows = 64;

  CpuDevice& device_;
  GemmScratch& scratch_;
  Spread& spread_;
  RecurrentSpec spec_;
  std::int64_t max_batch_;
  std::int64_t batch_ = 0;  // of the last forward()
  std::int64_t ahead_ = 1;  // steps whose inputs are multiplied at a time
  bool masked_ = false;
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
  View x_, mask_, gates_, recurrent_, h_, c_, squashed_, dh_, dc_;
  View inner_bias_;      // zeros where there is none
  View kept_, through_;  // gru with reset_before: r h, and its gradient
  View sums_;
  // The recurrent weights, packed once for all steps.
  bool frozen_ = false;
  PackedMatrix input_weights_, forward_weights_, backward_weights_;
  PackedMatrix candidate_forward_, candidate_backward_;  // reset_before
};

}  // namespace

std::unique_ptr<Recurrent> CpuDevice::recurrent(const RecurrentSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<CpuRecurrent>(*this, *gemm_, *spread_, spec,
                                        max_batch);
}

}  // namespace dl::device
