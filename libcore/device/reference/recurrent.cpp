// Recurrent cells as their formulas, one example and one unit after the other.

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {
using tensor::DType;
using tensor::View;

double apply(Activation f, double x) {
  switch (f) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kHardSigmoid:
      return std::clamp(kCellSlope * x + 0.5, 0.0, 1.0);
    case Activation::kHardTanh:
      return std::clamp(x, -1.0, 1.0);
    case Activation::kSoftsign:
      return x / (1 + std::abs(x));
    default:
      return x;
  }
}

// Derivative of f, from its value y = f(x).
double slope(Activation f, double y) {
  switch (f) {
    case Activation::kRelu:
      return y > 0 ? 1 : 0;
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kHardSigmoid:
      return y > 0 && y < 1 ? kCellSlope : 0;
    case Activation::kHardTanh:
      return y > -1 && y < 1 ? 1 : 0;
    case Activation::kSoftsign:
      return (1 - std::abs(y)) * (1 - std::abs(y));
    default:
      return 1;
  }
}

class ReferenceRecurrent final : public Recurrent {
 public:
  ReferenceRecurrent(const RecurrentSpec& spec, std::int64_t max_batch)
      : spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const auto states = size(max_batch * (spec.steps + 1) * spec.units);
    h_.resize(states);
    c_.resize(states);
    gates_.resize(4 * states);
    for (auto* one : {&dh_, &dc_}) one->resize(size(spec.units));
    for (auto* four : {&input_side_, &recurrent_side_})
      four->resize(size(4 * spec.units));
  }

  void forward(View y, View x, View mask, const RecurrentWeights& w,
               const RecurrentState& state) override {
    const std::int64_t batch =
        check_recurrent(DType::kF64, spec_, max_batch_, y, x, mask, w);
    check_state(DType::kF64, spec_, batch, state);
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t u = 0; u < spec_.units; ++u) {
        const std::int64_t at = b * spec_.units + u;
        h(b, 0)[u] = state.h.empty() ? 0 : state.h.as<double>()[at];
        c(b, 0)[u] = state.c.empty() ? 0 : state.c.as<double>()[at];
      }
      for (std::int64_t s = 0; s < spec_.steps; ++s) {
        const std::int64_t t = time_of(s);
        const bool skipped = is_masked(mask, b, t);
        if (skipped) {
          std::copy_n(h(b, s), spec_.units, h(b, s + 1));
          std::copy_n(c(b, s), spec_.units, c(b, s + 1));
        } else {
          step(b, s, x.as<double>() + (b * spec_.steps + t) * spec_.inputs, w);
        }
        if (!spec_.last)
          put(y, b * spec_.steps + t, skipped ? nullptr : h(b, s + 1));
      }
      if (spec_.last) put(y, b, h(b, spec_.steps));
      for (std::int64_t u = 0; u < spec_.units; ++u) {
        const std::int64_t at = b * spec_.units + u;
        if (!state.h.empty()) state.h.as<double>()[at] = h(b, spec_.steps)[u];
        if (!state.c.empty()) state.c.as<double>()[at] = c(b, spec_.steps)[u];
      }
    }
  }

  void backward(View dx, bool add, View dy, View x, View mask,
                const RecurrentWeights& w,
                const RecurrentWeights& gradient) override {
    const std::int64_t batch =
        check_recurrent(DType::kF64, spec_, max_batch_, dy, x, mask, w);
    check_recurrent(DType::kF64, spec_, max_batch_, dy, x, mask, gradient);
    for (const View& g :
         {gradient.input, gradient.recurrent, gradient.bias, gradient.peephole})
      if (!g.empty()) std::fill_n(g.as<double>(), g.elements(), 0.0);
    if (!dx.empty() && !add) std::fill_n(dx.as<double>(), dx.elements(), 0.0);
    for (std::int64_t b = 0; b < batch; ++b) {
      std::fill(dh_.begin(), dh_.end(), 0.0);
      std::fill(dc_.begin(), dc_.end(), 0.0);
      if (spec_.last) take(dy, b);
      for (std::int64_t s = spec_.steps; s-- > 0;) {
        const std::int64_t t = time_of(s);
        if (!is_masked(mask, b, t)) {
          if (!spec_.last) take(dy, b * spec_.steps + t);
          step_back(b, s, w.peephole, gradient.peephole);
          if (spec_.reset_before) reset_back(b, s, w.recurrent);
          spread(b, s, t, dx, x, w, gradient);
        }
        if (is_cut(t)) {
          std::fill(dh_.begin(), dh_.end(), 0.0);
          std::fill(dc_.begin(), dc_.end(), 0.0);
        }
      }
    }
  }

 private:
  static std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
  }
  // The time of the s-th step that is taken.
  std::int64_t time_of(std::int64_t s) const {
    return spec_.reverse ? spec_.steps - 1 - s : s;
  }
  bool is_masked(const View& mask, std::int64_t b, std::int64_t t) const {
    return !mask.empty() && mask.as<double>()[b * spec_.steps + t] == 0;
  }
  // Whether gradients stop before the step of time t.
  bool is_cut(std::int64_t t) const {
    return spec_.truncate > 0 && (t + spec_.reverse) % spec_.truncate == 0;
  }
  // The state of example b before step s.
  double* h(std::int64_t b, std::int64_t s) {
    return &h_[size((b * (spec_.steps + 1) + s) * spec_.units)];
  }
  double* c(std::int64_t b, std::int64_t s) {
    return &c_[size((b * (spec_.steps + 1) + s) * spec_.units)];
  }
  // Four numbers a unit: lstm i, f, g, o; gru z, r, n, Rn h + bm; simple: h'.
  double* gates(std::int64_t b, std::int64_t s) {
    return &gates_[size(4 * (b * (spec_.steps + 1) + s) * spec_.units)];
  }

  void put(const View& y, std::int64_t row, const double* from) {
    double* to = y.as<double>() + row * spec_.row_width() + spec_.column;
    for (std::int64_t u = 0; u < spec_.units; ++u) to[u] = from ? from[u] : 0;
  }
  void take(const View& dy, std::int64_t row) {
    const double* from =
        dy.as<double>() + row * spec_.row_width() + spec_.column;
    for (std::int64_t u = 0; u < spec_.units; ++u) dh_[size(u)] += from[u];
  }

  static double product(const View& w, std::int64_t row, const double* x) {
    double sum = 0;
    for (std::int64_t i = 0; i < w.shape[1]; ++i)
      sum += w.as<double>()[row * w.shape[1] + i] * x[i];
    return sum;
  }

  // Peephole weight of gate i, f or o; 0 where there are none.
  double peephole(const View& all, std::int64_t gate, std::int64_t u) const {
    return all.empty() ? 0 : all.as<double>()[gate * spec_.units + u];
  }

  void step(std::int64_t b, std::int64_t s, const double* x,
            const RecurrentWeights& w) {
    const Activation f = spec_.activation, gate = spec_.gate_activation;
    double* after = h(b, s + 1);
    for (std::int64_t u = 0; u < spec_.units; ++u) {
      const auto bias = [&](std::int64_t k) {
        return w.bias.empty() ? 0 : w.bias.as<double>()[k * spec_.units + u];
      };
      const auto from_input = [&](std::int64_t k) {
        return product(w.input, k * spec_.units + u, x) + bias(k);
      };
      const auto from_state = [&](std::int64_t k) {
        return product(w.recurrent, k * spec_.units + u, h(b, s));
      };
      const auto both = [&](std::int64_t k) {
        return from_input(k) + from_state(k);
      };
      double* g = gates(b, s) + 4 * u;
      if (spec_.cell == Cell::kSimple) {
        after[u] = g[0] = apply(f, both(0));
      } else if (spec_.cell == Cell::kLstm) {
        const auto seen = [&](std::int64_t p, double state) {
          return peephole(w.peephole, p, u) * state;
        };
        const double before = c(b, s)[u];
        g[0] = apply(gate, both(0) + seen(0, before));
        g[1] = apply(gate, both(1) + seen(1, before));
        g[2] = apply(f, both(2));
        c(b, s + 1)[u] = g[1] * before + g[0] * g[2];
        g[3] = apply(gate, both(3) + seen(2, c(b, s + 1)[u]));
        after[u] = g[3] * apply(f, c(b, s + 1)[u]);
      } else {
        for (int k = 0; k < 2; ++k) g[k] = apply(gate, both(k));
        g[3] = spec_.reset_before ? 0 : from_state(2) + bias(3);
        g[2] = apply(f, from_input(2) + g[1] * g[3]);
        after[u] = g[0] * h(b, s)[u] + (1 - g[0]) * g[2];
      }
    }
    if (spec_.reset_before) step_after_reset(b, s, x, w);
  }

  // The candidate of a gru sees the state as all reset gates leave it.
  void step_after_reset(std::int64_t b, std::int64_t s, const double* x,
                        const RecurrentWeights& w) {
    const std::int64_t n = spec_.units;
    std::vector<double> kept(size(n));
    for (std::int64_t u = 0; u < n; ++u)
      kept[size(u)] = gates(b, s)[4 * u + 1] * h(b, s)[u];
    for (std::int64_t u = 0; u < n; ++u) {
      double* g = gates(b, s) + 4 * u;
      const double bias = w.bias.empty() ? 0 : w.bias.as<double>()[2 * n + u];
      g[2] = apply(spec_.activation,
                   product(w.input, 2 * n + u, x) + bias +
                       product(w.recurrent, 2 * n + u, kept.data()));
      h(b, s + 1)[u] = g[0] * h(b, s)[u] + (1 - g[0]) * g[2];
    }
  }

  // From the gradients before the candidates' activations to those of the reset
  // gates and of the state that these let through.
  void reset_back(std::int64_t b, std::int64_t s, const View& recurrent) {
    const std::int64_t n = spec_.units;
    for (std::int64_t v = 0; v < n; ++v) {
      double through = 0;
      for (std::int64_t u = 0; u < n; ++u)
        through += input_side_[size(4 * u + 2)] *
                   recurrent.as<double>()[(2 * n + u) * n + v];
      const double r = gates(b, s)[4 * v + 1];
      const double gradient =
          through * h(b, s)[v] * slope(spec_.gate_activation, r);
      input_side_[size(4 * v + 1)] = gradient;
      recurrent_side_[size(4 * v + 1)] = gradient;
      dh_[size(v)] += through * r;
    }
  }

  // From dh_ and dc_ after the step: the gradients before the activations of
  // the gates, on the side of the input and on that of the state, and what of
  // dh_ and dc_ does not pass through the gates.
  void step_back(std::int64_t b, std::int64_t s, const View& peepholes,
                 const View& gradient) {
    const Activation f = spec_.activation, gate = spec_.gate_activation;
    for (std::int64_t u = 0; u < spec_.units; ++u) {
      const double* g = gates(b, s) + 4 * u;
      double* in = &input_side_[size(4 * u)];
      double* state = &recurrent_side_[size(4 * u)];
      double &dh = dh_[size(u)], &dc = dc_[size(u)];
      if (spec_.cell == Cell::kSimple) {
        in[0] = dh * slope(f, g[0]);
        dh = 0;
      } else if (spec_.cell == Cell::kLstm) {
        const double a = apply(f, c(b, s + 1)[u]);
        in[3] = dh * a * slope(gate, g[3]);
        dc += dh * g[3] * slope(f, a) + in[3] * peephole(peepholes, 2, u);
        in[0] = dc * g[2] * slope(gate, g[0]);
        in[1] = dc * c(b, s)[u] * slope(gate, g[1]);
        in[2] = dc * g[0] * slope(f, g[2]);
        dc = dc * g[1] + in[0] * peephole(peepholes, 0, u) +
             in[1] * peephole(peepholes, 1, u);
        dh = 0;
        if (!gradient.empty()) {
          double* to = gradient.as<double>() + u;
          to[0] += in[0] * c(b, s)[u];
          to[spec_.units] += in[1] * c(b, s)[u];
          to[2 * spec_.units] += in[3] * c(b, s + 1)[u];
        }
      } else {
        in[2] = dh * (1 - g[0]) * slope(f, g[2]);
        in[1] = in[2] * g[3] * slope(gate, g[1]);
        in[0] = dh * (h(b, s)[u] - g[2]) * slope(gate, g[0]);
        dh *= g[0];
      }
      std::copy_n(in, 4, state);
      if (spec_.cell == Cell::kGru && !spec_.reset_before)
        state[2] = in[2] * g[1];
    }
  }

  // On to weights, biases, the input and the state before the step.
  void spread(std::int64_t b, std::int64_t s, std::int64_t t, const View& dx,
              const View& x, const RecurrentWeights& w,
              const RecurrentWeights& gradient) {
    const std::int64_t at = (b * spec_.steps + t) * spec_.inputs;
    for (std::int64_t k = 0; k < spec_.gates(); ++k)
      for (std::int64_t u = 0; u < spec_.units; ++u) {
        const std::int64_t row = k * spec_.units + u;
        const double in = input_side_[size(4 * u + k)];
        const double state = recurrent_side_[size(4 * u + k)];
        for (std::int64_t i = 0; i < spec_.inputs; ++i) {
          const std::int64_t place = row * spec_.inputs + i;
          gradient.input.as<double>()[place] += in * x.as<double>()[at + i];
          if (!dx.empty())
            dx.as<double>()[at + i] += in * w.input.as<double>()[place];
        }
        for (std::int64_t v = 0; v < spec_.units; ++v) {
          const std::int64_t place = row * spec_.units + v;
          const bool reset = spec_.reset_before && k == 2;
          const double seen = reset ? gates(b, s)[4 * v + 1] : 1;
          gradient.recurrent.as<double>()[place] += state * seen * h(b, s)[v];
          if (!reset)  // reset_back() has done it
            dh_[size(v)] += state * w.recurrent.as<double>()[place];
        }
        if (gradient.bias.empty()) continue;
        gradient.bias.as<double>()[row] += in;
        if (spec_.cell == Cell::kGru && k == 2 && !spec_.reset_before)
          gradient.bias.as<double>()[row + spec_.units] += state;
      }
  }

  RecurrentSpec spec_;
  std::int64_t max_batch_;
  std::vector<double> h_, c_, gates_;  // of all examples and steps
  std::vector<double> dh_, dc_, input_side_, recurrent_side_;  // of one
};

}  // namespace

std::unique_ptr<Recurrent> ReferenceDevice::recurrent(const RecurrentSpec& spec,
                                                      std::int64_t max_batch) {
  return std::make_unique<ReferenceRecurrent>(spec, max_batch);
}

}  // namespace dl::device
