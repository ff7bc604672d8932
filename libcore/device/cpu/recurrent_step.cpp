// The nonlinear part of recurrent cells, over the gates of a step.

#include "libcore/device/cpu/recurrent_step.h"

#include <algorithm>

#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device::kernels {
namespace {

template <typename F>
DL_INLINE void each(float* x, std::int64_t n, F f) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

// x = f(x): a loop an activation, not one for all of them, which would take
// compilers long and not be vectorised.
DL_VECTOR void activate(Activation f, float* x, std::int64_t n) {
  switch (f) {
    case Activation::kRelu:
      return each(x, n, [](float v) { return v < 0 ? 0.0f : v; });
    case Activation::kSigmoid:
      return each(x, n, [](float v) { return sigmoid(v); });
    case Activation::kTanh:
      return each(x, n, [](float v) { return tanh_of(v); });
    case Activation::kHardSigmoid:
      return each(x, n, [](float v) {
        return hard_sigmoid(static_cast<float>(kCellSlope), v);
      });
    case Activation::kHardTanh:
      return each(x, n, [](float v) { return hard_tanh(v); });
    case Activation::kSoftsign:
      return each(x, n, [](float v) { return softsign(v); });
    default:
      return;
  }
}

// Derivative of f, from its value y = f(x).
DL_INLINE float slope(Activation f, float y) {
  switch (f) {
    case Activation::kRelu:
      return y > 0 ? 1.0f : 0.0f;
    case Activation::kSigmoid:
      return y * (1.0f - y);
    case Activation::kTanh:
      return 1.0f - y * y;
    case Activation::kHardSigmoid:
      return y > 0 && y < 1 ? static_cast<float>(kCellSlope) : 0.0f;
    case Activation::kHardTanh:
      return y > -1 && y < 1 ? 1.0f : 0.0f;
    case Activation::kSoftsign:
      return (1.0f - std::fabs(y)) * (1.0f - std::fabs(y));
    default:
      return 1.0f;
  }
}

DL_INLINE bool is_masked(const CellStep& s, std::int64_t b) {
  return s.mask != nullptr && s.mask[b] == 0;
}

DL_INLINE void simple_rows_back(const CellStep& s, Activation f) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * n, *dh = s.dh + b * n;
    if (is_masked(s, b)) {
      std::fill_n(g, n, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      g[u] = dh[u] * slope(f, g[u]);
      dh[u] = 0;
    }
  }
}

// peeps: known where this is inlined, so that cells without peepholes do
// without.
DL_INLINE void lstm_rows_back(const CellStep& s, Activation gate, Activation f,
                              bool peeps) {
  const std::int64_t n = s.units;
  const float* p = s.peephole;
  float* dp = s.peephole_gradient;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float* g = s.gates + b * 4 * n;
    const float *c_before = s.c_before + b * n, *c = s.c + b * n,
                *squashed = s.squashed + b * n;
    float *dh = s.dh + b * n, *dc = s.dc + b * n;
    if (is_masked(s, b)) {
      std::fill_n(g, 4 * n, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      const float i = g[u], k = g[n + u], j = g[2 * n + u], o = g[3 * n + u];
      const float a = squashed[u];
      const float d_o = dh[u] * a * slope(gate, o);
      float state = dc[u] + dh[u] * o * slope(f, a);
      if (peeps) state += d_o * p[2 * n + u];
      const float d_i = state * j * slope(gate, i);
      const float d_k = state * c_before[u] * slope(gate, k);
      g[u] = d_i;
      g[n + u] = d_k;
      g[2 * n + u] = state * i * slope(f, j);
      g[3 * n + u] = d_o;
      dc[u] = state * k;
      dh[u] = 0;
      if (!peeps) continue;
      dc[u] += d_i * p[u] + d_k * p[n + u];
      dp[u] += d_i * c_before[u];
      dp[n + u] += d_k * c_before[u];
      dp[2 * n + u] += d_o * c[u];
    }
  }
}

DL_INLINE void gru_rows_back(const CellStep& s, Activation gate, Activation f) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * 3 * n, *m = s.recurrent + b * 3 * n;
    const float* before = s.h_before + b * n;
    float* dh = s.dh + b * n;
    if (is_masked(s, b)) {
      std::fill_n(g, 3 * n, 0.0f);
      std::fill_n(m, 3 * n, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      const float z = g[u], r = g[n + u], y = g[2 * n + u];
      const float inner = m[2 * n + u];
      const float dy = dh[u] * (1.0f - z) * slope(f, y);
      const float dr = dy * inner * slope(gate, r);
      const float dz = dh[u] * (before[u] - y) * slope(gate, z);
      g[u] = dz;
      g[n + u] = dr;
      g[2 * n + u] = dy;
      m[u] = dz;
      m[n + u] = dr;
      m[2 * n + u] = dy * r;
      dh[u] = dh[u] * z;
    }
  }
}

DL_INLINE void candidate_rows_back(const CellStep& s, Activation gate,
                                   Activation f) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * 3 * n, *m = s.recurrent + b * 3 * n;
    const float* before = s.h_before + b * n;
    float* dh = s.dh + b * n;
    if (is_masked(s, b)) {
      std::fill_n(g, 3 * n, 0.0f);
      std::fill_n(m, 3 * n, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      const float z = g[u], y = g[2 * n + u];
      const float dy = dh[u] * (1.0f - z) * slope(f, y);
      const float dz = dh[u] * (before[u] - y) * slope(gate, z);
      g[u] = dz;
      g[2 * n + u] = dy;
      m[u] = dz;
      m[2 * n + u] = dy;
      dh[u] = dh[u] * z;
    }
  }
}

DL_INLINE void gate_rows_back(const CellStep& s, Activation gate) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * 3 * n, *m = s.recurrent + b * 3 * n;
    const float *before = s.h_before + b * n, *through = s.kept + b * n;
    float* dh = s.dh + b * n;
    if (is_masked(s, b)) continue;
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      const float r = g[n + u];
      const float dr = through[u] * before[u] * slope(gate, r);
      g[n + u] = dr;
      m[n + u] = dr;
      dh[u] += through[u] * r;
    }
  }
}

// The cells of nearly all networks get a loop of their own.
DL_INLINE bool is_usual(const CellStep& s) {
  return s.gate_activation == Activation::kSigmoid &&
         s.activation == Activation::kTanh;
}

}  // namespace

DL_VECTOR void simple_forward(const CellStep& s) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * n, *h = s.h + b * n;
    if (is_masked(s, b)) {
      std::copy_n(s.h_before + b * n, n, h);
      continue;
    }
    activate(s.activation, g, n);
    std::copy_n(g, n, h);
  }
}

DL_VECTOR void lstm_forward(const CellStep& s) {
  const std::int64_t n = s.units;
  const float* p = s.peephole;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float* g = s.gates + b * 4 * n;
    const float* c_before = s.c_before + b * n;
    float *h = s.h + b * n, *c = s.c + b * n, *squashed = s.squashed + b * n;
    if (is_masked(s, b)) {
      std::copy_n(s.h_before + b * n, n, h);
      std::copy_n(c_before, n, c);
      continue;
    }
    if (p != nullptr) {
      DL_INDEPENDENT
      for (std::int64_t u = 0; u < n; ++u) {
        g[u] += p[u] * c_before[u];
        g[n + u] += p[n + u] * c_before[u];
      }
    }
    activate(s.gate_activation, g, 2 * n);
    activate(s.activation, g + 2 * n, n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      c[u] = g[n + u] * c_before[u] + g[u] * g[2 * n + u];
      squashed[u] = c[u];
    }
    if (p != nullptr) {
      DL_INDEPENDENT
      for (std::int64_t u = 0; u < n; ++u) g[3 * n + u] += p[2 * n + u] * c[u];
    }
    activate(s.gate_activation, g + 3 * n, n);
    activate(s.activation, squashed, n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) h[u] = g[3 * n + u] * squashed[u];
  }
}

DL_VECTOR void gru_forward(const CellStep& s) {
  const std::int64_t n = s.units;
  const float* bias = s.inner_bias;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float *g = s.gates + b * 3 * n, *m = s.recurrent + b * 3 * n;
    const float* before = s.h_before + b * n;
    float* h = s.h + b * n;
    if (is_masked(s, b)) {
      std::copy_n(before, n, h);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < 2 * n; ++u) g[u] += m[u];
    activate(s.gate_activation, g, 2 * n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) {
      m[2 * n + u] += bias[u];
      g[2 * n + u] += g[n + u] * m[2 * n + u];
    }
    activate(s.activation, g + 2 * n, n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u)
      h[u] = g[u] * before[u] + (1.0f - g[u]) * g[2 * n + u];
  }
}

DL_VECTOR void gru_gates(const CellStep& s) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float* g = s.gates + b * 3 * n;
    const float *m = s.recurrent + b * 3 * n, *before = s.h_before + b * n;
    float* kept = s.kept + b * n;
    if (is_masked(s, b)) {
      std::fill_n(kept, n, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < 2 * n; ++u) g[u] += m[u];
    activate(s.gate_activation, g, 2 * n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) kept[u] = g[n + u] * before[u];
  }
}

DL_VECTOR void gru_candidate(const CellStep& s) {
  const std::int64_t n = s.units;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    float* g = s.gates + b * 3 * n;
    const float *m = s.recurrent + b * 3 * n, *before = s.h_before + b * n;
    float* h = s.h + b * n;
    if (is_masked(s, b)) {
      std::copy_n(before, n, h);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u) g[2 * n + u] += m[2 * n + u];
    activate(s.activation, g + 2 * n, n);
    DL_INDEPENDENT
    for (std::int64_t u = 0; u < n; ++u)
      h[u] = g[u] * before[u] + (1.0f - g[u]) * g[2 * n + u];
  }
}

DL_VECTOR void simple_backward(const CellStep& s) {
  if (s.activation == Activation::kTanh)
    simple_rows_back(s, Activation::kTanh);
  else
    simple_rows_back(s, s.activation);
}

DL_VECTOR void lstm_backward(const CellStep& s) {
  if (s.peephole != nullptr)
    lstm_rows_back(s, s.gate_activation, s.activation, true);
  else if (is_usual(s))
    lstm_rows_back(s, Activation::kSigmoid, Activation::kTanh, false);
  else
    lstm_rows_back(s, s.gate_activation, s.activation, false);
}

DL_VECTOR void gru_candidate_backward(const CellStep& s) {
  candidate_rows_back(s, s.gate_activation, s.activation);
}
DL_VECTOR void gru_gates_backward(const CellStep& s) {
  gate_rows_back(s, s.gate_activation);
}

DL_VECTOR void gru_backward(const CellStep& s) {
  if (is_usual(s))
    gru_rows_back(s, Activation::kSigmoid, Activation::kTanh);
  else
    gru_rows_back(s, s.gate_activation, s.activation);
}

}  // namespace dl::device::kernels
