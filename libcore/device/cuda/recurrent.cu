// Recurrent layers: the inputs of all steps at once, then a product for the
// state and a pass over the gates a step; backward the same, and one product a
// weight at the end.
//
// Inside, arrays are [batch, steps, ...] as x and y are, so that products read
// these in place and write dx.  A state lies where the step is that it is
// before.

#include <limits>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reduce.h"
#include "libcore/device/cuda/recurrent_cell.h"

namespace dl::device::cuda {
using tensor::DType;
using tensor::Shape;
using tensor::View;

namespace {

void run_forward(Stream& stream, std::int64_t n, Cell cell, const CellStep& s) {
  if (cell == Cell::kSimple)
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { simple_forward(s, i); });
  else if (cell == Cell::kLstm)
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { lstm_forward(s, i); });
  else
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { gru_forward(s, i); });
}

void run_backward(Stream& stream, std::int64_t n, Cell cell,
                  const CellStep& s) {
  if (cell == Cell::kSimple)
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { simple_backward(s, i); });
  else if (cell == Cell::kLstm)
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { lstm_backward(s, i); });
  else
    each(stream, n, [=] DL_DEVICE(std::int64_t i) { gru_backward(s, i); });
}

void run_reset_gates(Stream& stream, std::int64_t n, const CellStep& s) {
  each(stream, n, [=] DL_DEVICE(std::int64_t i) { reset_gates(s, i); });
}
void run_reset_candidate(Stream& stream, std::int64_t n, const CellStep& s) {
  each(stream, n, [=] DL_DEVICE(std::int64_t i) { reset_candidate(s, i); });
}
void run_reset_candidate_backward(Stream& stream, std::int64_t n,
                                  const CellStep& s) {
  each(stream, n,
       [=] DL_DEVICE(std::int64_t i) { reset_candidate_backward(s, i); });
}
void run_reset_gates_backward(Stream& stream, std::int64_t n,
                              const CellStep& s) {
  each(stream, n,
       [=] DL_DEVICE(std::int64_t i) { reset_gates_backward(s, i); });
}

// The state that the first step sees; from: [n, units], or empty: 0.
void begin(Stream& stream, std::int64_t n, std::int64_t units, StepRows to,
           const Reals& from) {
  each(stream, n * units, [=] DL_DEVICE(std::int64_t i) {
    to.of(i / units)[i % units] = from.empty() ? 0.0F : from[i];
  });
}

// Biases' gradients; those of the gru lie in its weights' order.
void sum_biases(Stream& stream, const Reals& to, const float* gates,
                std::int64_t rows, std::int64_t columns, std::int64_t units,
                bool gru) {
  sum_columns<double>(
      stream, rows, columns,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
        return gates[i * columns + c];
      },
      [=] DL_DEVICE(std::int64_t c, double sum) {
        const std::int64_t place = !gru || c >= 3 * units ? c
                                   : c < units            ? c + 2 * units
                                                          : c - units;
        to.set(place, static_cast<float>(sum));
      });
}

// The lstm's states c: [batch, steps, units] before each step, and after the
// last that is taken.
struct CellStates {
  const float *before, *end;
  std::int64_t steps, units;
  bool reverse;

  DL_DEVICE float after(std::int64_t row, std::int64_t u) const {
    const std::int64_t t = row % steps;
    if (t == (reverse ? 0 : steps - 1)) return end[row / steps * units + u];
    return before[(reverse ? row - 1 : row + 1) * units + u];
  }
};

void sum_peepholes(Stream& stream, const Reals& to, const float* gates,
                   std::int64_t rows, const CellStates& c) {
  sum_columns<double>(
      stream, rows, 3 * c.units,
      [=] DL_DEVICE(std::int64_t i, std::int64_t column) {
        const std::int64_t gate = column / c.units, u = column % c.units;
        const float* const row = gates + 4 * i * c.units;
        return gate == 2 ? row[3 * c.units + u] * c.after(i, u)
                         : row[column] * c.before[i * c.units + u];
      },
      [=] DL_DEVICE(std::int64_t column, double sum) {
        to.set(column, static_cast<float>(sum));
      });
}

class GpuRecurrent final : public Recurrent {
 public:
  GpuRecurrent(CudaDevice& device, MatrixProduct& products,
               const RecurrentSpec& spec, std::int64_t max_batch)
      : device_(device),
        stream_(device.stream()),
        products_(products),
        spec_(spec),
        max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const std::int64_t u = spec.units, rows = max_batch * spec.steps;
    require(max_batch * u <= std::numeric_limits<std::int32_t>::max(),
            "a recurrent layer too large");
    if (spec.cell == Cell::kGru) {
      const std::int64_t inner = spec.reset_before ? 0 : u;
      columns_ = 3 * u + inner;
      of_input_ = {{0, u, 2 * u}, {2 * u, 0, u}};
      of_state_ = {0, u, 2 * u + inner};
    } else {
      columns_ = spec.gates() * u;
      of_input_ = {{0, 0, columns_}};
      of_state_ = {0, 0, columns_};
    }
    gates_ = make(rows * columns_);
    h_ = make(rows * u);
    recurrent_ = make(max_batch * of_state_.count);
    dh_ = make(max_batch * u);
    h_end_ = make(max_batch * u);
    if (products.casts())
      recurrent_cast_ = reinterpret_cast<Bfloat16*>(
          make(cast_elements(spec.gates() * u * u) / 2));
    if (resets()) {
      kept_ = make(rows * u);
      candidate_ = make(max_batch * u);
    }
    if (spec.cell != Cell::kLstm) return;
    c_ = make(rows * u);
    c_end_ = make(max_batch * u);
    dc_ = make(max_batch * u);
  }

  void forward(View y, View x, View mask, const RecurrentWeights& w,
               const RecurrentState& carried) override {
    batch_ = check_recurrent(kReals, spec_, max_batch_, y, x, mask, w);
    check_state(kReals, spec_, batch_, carried);
    const std::int64_t u = spec_.units, n = batch_ * u, first = time_of(0);
    for (const Part& part : of_input_)
      products_({.m = batch_ * spec_.steps,
                 .n = part.count,
                 .k = spec_.inputs,
                 .transpose_b = true,
                 .row_a = spec_.inputs,
                 .row_b = spec_.inputs,
                 .row_c = columns_},
                gates_ + part.column, Reals(x),
                Reals(w.input) + part.row * spec_.inputs);
    const Reals recurrent = prepare(w.recurrent);
    begin(stream_, batch_, u, at(h_, first, u), Reals(carried.h));
    if (c_ != nullptr)
      begin(stream_, batch_, u, at(c_, first, u), Reals(carried.c));
    for (std::int64_t s = 0; s < spec_.steps; ++s) {
      const bool ends = s == spec_.steps - 1;
      CellStep step = cell_step(s, mask, w);
      if (!ends)
        step.h = at(h_, time_of(s + 1), u);
      else if (!carried.empty())
        step.h = {h_end_, u};
      if (ends || !spec_.last) step.y = out(y, s);
      const bool sees = s > 0 || !carried.empty();  // else h is 0
      if (sees) {
        see(recurrent_, step.h_before, of_state_, recurrent);
        step.recurrent = {recurrent_, of_state_.count};
      }
      if (!resets()) {
        run_forward(stream_, n, spec_.cell, step);
        continue;
      }
      run_reset_gates(stream_, n, step);
      if (sees) {
        see(candidate_, step.kept, of_input_[1], recurrent);
        step.candidate = {candidate_, u};
      }
      run_reset_candidate(stream_, n, step);
    }
    leave(carried.h, h_end_);
    leave(carried.c, c_end_);
  }

  void backward(View dx, bool add, View dy, View x, View mask,
                const RecurrentWeights& w,
                const RecurrentWeights& gradient) override {
    check_recurrent(kReals, spec_, max_batch_, dy, x, mask, w);
    const std::int64_t batch =
        check_recurrent(kReals, spec_, max_batch_, dy, x, mask, gradient);
    require(batch == batch_, "a gradient of another batch than the last");
    require(gradient.peephole.empty() == w.peephole.empty(),
            "peepholes without a gradient");
    const std::int64_t n = batch_ * spec_.units;
    const Reals recurrent = prepare(w.recurrent);
    bool fresh = true;
    for (std::int64_t s = spec_.steps; s-- > 0;) {
      CellStep step = cell_step(s, mask, w);
      if (s == spec_.steps - 1 || !spec_.last) step.dy = out(dy, s);
      step.dh = {dh_, spec_.units};
      step.dc = {dc_, spec_.units};
      step.fresh = fresh;
      if (resets()) {
        run_reset_candidate_backward(stream_, n, step);
        pass_back(candidate_, 0, step.gates, of_input_[1], recurrent);
        step.candidate = {candidate_, spec_.units};
        run_reset_gates_backward(stream_, n, step);
      } else {
        run_backward(stream_, n, spec_.cell, step);
      }
      fresh = is_cut(time_of(s));
      if (s > 0 && !fresh) pass_back(dh_, 1, step.gates, of_state_, recurrent);
    }
    spread(dx, add, x, w, gradient);
  }

 private:
  // Rows of the weights, whose products with something are columns of gates_.
  struct Part {
    std::int64_t row, column, count;
  };

  float* make(std::int64_t elements) {
    buffers_.push_back(device_.allocate(Shape{elements}));
    return buffers_.back()->view().as<float>();
  }
  // The state that is carried on, where it is.
  void leave(const View& to, float* from) {
    if (!to.empty())
      device_.copy(to,
                   {reinterpret_cast<std::byte*>(from), DType::kF32, to.shape});
  }
  bool resets() const { return spec_.cell == Cell::kGru && spec_.reset_before; }
  std::int64_t time_of(std::int64_t s) const {
    return spec_.reverse ? spec_.steps - 1 - s : s;
  }
  // Whether gradients stop before the step of time t.
  bool is_cut(std::int64_t t) const {
    return spec_.truncate > 0 && (t + spec_.reverse) % spec_.truncate == 0;
  }
  // Time t of an array [batch, steps, width].
  StepRows at(float* all, std::int64_t t, std::int64_t width) const {
    return {all + t * width, spec_.steps * width};
  }
  OuterRows at(const Reals& all, std::int64_t t, std::int64_t width) const {
    return {all + t * width, spec_.steps * width};
  }
  // Rows of y or dy at step s, or at the last step with spec_.last.
  OuterRows out(const View& y, std::int64_t s) const {
    const std::int64_t width = spec_.row_width();
    const Reals first = Reals(y) + spec_.column;
    if (spec_.last) return {first, width};
    return at(first, time_of(s), width);
  }

  CellStep cell_step(std::int64_t s, const View& mask,
                     const RecurrentWeights& w) const {
    const std::int64_t t = time_of(s), u = spec_.units;
    CellStep step;
    step.units = static_cast<std::uint32_t>(u);
    step.activation = spec_.activation;
    step.gate_activation = spec_.gate_activation;
    step.last = spec_.last;
    if (!mask.empty()) step.mask = at(Reals(mask), t, 1);
    step.bias = Reals(w.bias);
    step.peephole = Reals(w.peephole);
    step.gates = at(gates_, t, columns_);
    step.h_before = at(h_, t, u);
    if (kept_ != nullptr) step.kept = at(kept_, t, u);
    if (c_ == nullptr) return step;
    step.c_before = at(c_, t, u);
    step.c =
        s < spec_.steps - 1 ? at(c_, time_of(s + 1), u) : StepRows{c_end_, u};
    return step;
  }

  // The recurrent weights, which all steps read.
  Reals prepare(const View& w) {
    return products_.prepare(recurrent_cast_, Reals(w), w.elements());
  }
  // to [batch, part.count] = state w' of the part's rows.
  void see(float* to, StepRows state, const Part& part, const Reals& w) {
    products_({.m = batch_,
               .n = part.count,
               .k = spec_.units,
               .transpose_b = true,
               .row_a = state.row,
               .row_b = spec_.units,
               .row_c = part.count},
              to, state.data, w + part.row * spec_.units);
  }
  // to [batch, units] = the part's gates w + beta to.
  void pass_back(float* to, float beta, StepRows gates, const Part& part,
                 const Reals& w) {
    products_({.m = batch_,
               .n = spec_.units,
               .k = part.count,
               .row_a = gates.row,
               .row_b = spec_.units,
               .row_c = spec_.units,
               .beta = beta},
              to, gates.data + part.column, w + part.row * spec_.units);
  }
  // The part's rows of dw = gates' of what they have seen, `width` wide.
  void weigh(const View& dw, const Part& part, const Reals& seen,
             std::int64_t width) {
    products_({.m = part.count,
               .n = width,
               .k = batch_ * spec_.steps,
               .transpose_a = true,
               .row_a = columns_,
               .row_b = width,
               .row_c = width},
              Reals(dw) + part.row * width, gates_ + part.column, seen);
  }

  void spread(const View& dx, bool add, const View& x,
              const RecurrentWeights& w, const RecurrentWeights& gradient) {
    const std::int64_t u = spec_.units, rows = batch_ * spec_.steps;
    for (const Part& part : of_input_)
      weigh(gradient.input, part, Reals(x), spec_.inputs);
    weigh(gradient.recurrent, of_state_, h_, u);
    if (resets()) weigh(gradient.recurrent, of_input_[1], kept_, u);
    if (!gradient.bias.empty())
      sum_biases(stream_, Reals(gradient.bias), gates_, rows, columns_, u,
                 spec_.cell == Cell::kGru);
    if (!gradient.peephole.empty())
      sum_peepholes(stream_, Reals(gradient.peephole), gates_, rows,
                    {c_, c_end_, spec_.steps, u, spec_.reverse});
    if (dx.empty()) return;
    for (const Part& part : of_input_) {
      products_({.m = rows,
                 .n = spec_.inputs,
                 .k = part.count,
                 .row_a = columns_,
                 .row_b = spec_.inputs,
                 .row_c = spec_.inputs,
                 .beta = add ? 1.0F : 0.0F},
                Reals(dx), gates_ + part.column,
                Reals(w.input) + part.row * spec_.inputs);
      add = true;
    }
  }

  CudaDevice& device_;
  Stream& stream_;
  MatrixProduct& products_;
  RecurrentSpec spec_;
  std::int64_t max_batch_;
  std::int64_t batch_ = 0;    // of the last forward()
  std::int64_t columns_ = 0;  // of the gates
  std::vector<Part> of_input_;
  Part of_state_{};  // with reset_before, the candidate is of_input_[1]
  std::vector<std::unique_ptr<tensor::Buffer>> buffers_;
  float *gates_ = nullptr, *h_ = nullptr, *c_ = nullptr, *kept_ = nullptr;
  // Values of one step, or of none: [batch, ...].
  float *recurrent_ = nullptr, *candidate_ = nullptr;
  float *h_end_ = nullptr, *c_end_ = nullptr;
  float *dh_ = nullptr, *dc_ = nullptr;
  Bfloat16* recurrent_cast_ = nullptr;  // room for prepare()
};

}  // namespace

std::unique_ptr<Recurrent> CudaDevice::recurrent(const RecurrentSpec& spec,
                                                 std::int64_t max_batch) {
  return std::make_unique<GpuRecurrent>(*this, products_, spec, max_batch);
}

}  // namespace dl::device::cuda
