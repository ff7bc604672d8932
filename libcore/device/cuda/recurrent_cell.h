// One step of a recurrent cell for one unit of one example, between the matrix
// products.

#ifndef DL_LIBCORE_DEVICE_CUDA_RECURRENT_CELL_H_
#define DL_LIBCORE_DEVICE_CUDA_RECURRENT_CELL_H_

#include <cmath>
#include <cstdint>

#include "libcore/device/api/recurrent.h"
#include "libcore/device/cuda/kernel/step_rows.h"

namespace dl::device::cuda {

// Columns of the gates: simple h'; lstm i, f, g, o; gru n, z, r and, unless
// with reset_before, Rn h + bm: so those that see the state lie together.
struct CellStep {
  std::uint32_t units = 0;
  Activation activation, gate_activation;
  bool last = false;   // y is the state after the step, of padding as well
  bool fresh = false;  // no gradient comes from later steps

  // Read.
  Reals bias;          // or empty
  Reals peephole;      // lstm, or empty
  OuterRows mask;      // or empty: ones
  StepRows recurrent;  // R h; empty where h is 0
  StepRows candidate;  // reset_before: Rn kept; backward: gradient of kept
  StepRows h_before, c_before;
  OuterRows dy;  // or empty

  // Forward: W x becomes the gates.  Backward: these become the gradients
  // before their activations.
  StepRows gates;
  // Written by forward; h and y: or empty; c: lstm; kept: reset_before, r h.
  StepRows h, c, kept;
  OuterRows y;
  // Backward: the gradient after the step becomes what of it does not pass
  // through the gates.
  StepRows dh, dc;
};

DL_BOTH inline float cell_function(Activation f, float x) {
  switch (f) {
    case Activation::kRelu:
      return x < 0 ? 0.0F : x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kHardSigmoid: {
      const float y = static_cast<float>(kCellSlope) * x + 0.5F;
      return y < 0 ? 0.0F : y > 1 ? 1.0F : y;
    }
    case Activation::kHardTanh:
      return x < -1 ? -1.0F : x > 1 ? 1.0F : x;
    case Activation::kSoftsign:
      return x / (1 + std::fabs(x));
    default:
      return x;
  }
}

// Derivative of f, from its value y = f(x).
DL_BOTH inline float cell_slope(Activation f, float y) {
  switch (f) {
    case Activation::kRelu:
      return y > 0 ? 1.0F : 0.0F;
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kHardSigmoid:
      return y > 0 && y < 1 ? static_cast<float>(kCellSlope) : 0.0F;
    case Activation::kHardTanh:
      return y > -1 && y < 1 ? 1.0F : 0.0F;
    case Activation::kSoftsign:
      return (1 - std::fabs(y)) * (1 - std::fabs(y));
    default:
      return 1;
  }
}

// Unit u of example b.
struct CellPlace {
  std::int64_t b;
  std::uint32_t u;
  bool masked;

  DL_BOTH CellPlace(const CellStep& s, std::int64_t i) {
    const auto place = static_cast<std::uint32_t>(i);
    b = place / s.units;
    u = place % s.units;
    masked = !s.mask.empty() && s.mask.at(b, 0) == 0;
  }
};

// The k-th block of `units` in a row.
DL_BOTH inline float& block_of(const CellStep& s, const CellPlace& at,
                               const StepRows& rows, unsigned k) {
  return rows.of(at.b)[k * s.units + at.u];
}
DL_BOTH inline float bias_of(const CellStep& s, const CellPlace& at,
                             unsigned k) {
  return s.bias.empty() ? 0.0F : s.bias[k * s.units + at.u];
}
// Peephole weight of gate i, f or o.
DL_BOTH inline float peephole_of(const CellStep& s, const CellPlace& at,
                                 unsigned k) {
  return s.peephole.empty() ? 0.0F : s.peephole[k * s.units + at.u];
}
DL_BOTH inline float from_state(const CellStep& s, const CellPlace& at,
                                unsigned k) {
  return s.recurrent.empty() ? 0.0F : block_of(s, at, s.recurrent, k);
}

DL_BOTH inline void leave(const CellStep& s, const CellPlace& at, float h) {
  if (!s.h.empty()) s.h.of(at.b)[at.u] = h;
  if (!s.y.empty())
    s.y.data.set(at.b * s.y.row + at.u, at.masked && !s.last ? 0.0F : h);
}
DL_BOTH inline float take(const CellStep& s, const CellPlace& at) {
  const float later = s.fresh ? 0.0F : s.dh.of(at.b)[at.u];
  if (s.dy.empty() || (at.masked && !s.last)) return later;
  return later + s.dy.at(at.b, at.u);
}
// Padding takes no part: nothing goes to the weights, dh goes on as it is.
DL_BOTH inline void pass_by(const CellStep& s, const CellPlace& at, unsigned n,
                            float dh) {
  for (unsigned k = 0; k < n; ++k) block_of(s, at, s.gates, k) = 0;
  s.dh.of(at.b)[at.u] = dh;
}

DL_BOTH inline void simple_forward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  if (at.masked) return leave(s, at, s.h_before.of(at.b)[at.u]);
  float& gate = block_of(s, at, s.gates, 0);
  gate = cell_function(s.activation,
                       gate + from_state(s, at, 0) + bias_of(s, at, 0));
  leave(s, at, gate);
}

DL_BOTH inline void simple_backward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float dh = take(s, at);
  if (at.masked) return pass_by(s, at, 1, dh);
  float& gate = block_of(s, at, s.gates, 0);
  gate = dh * cell_slope(s.activation, gate);
  s.dh.of(at.b)[at.u] = 0;
}

DL_BOTH inline void lstm_forward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float before = s.c_before.of(at.b)[at.u];
  if (at.masked) {
    s.c.of(at.b)[at.u] = before;
    return leave(s, at, s.h_before.of(at.b)[at.u]);
  }
  float in[4];
  for (unsigned k = 0; k < 4; ++k)
    in[k] =
        block_of(s, at, s.gates, k) + from_state(s, at, k) + bias_of(s, at, k);
  const Activation f = s.activation, gate = s.gate_activation;
  in[0] = cell_function(gate, in[0] + peephole_of(s, at, 0) * before);
  in[1] = cell_function(gate, in[1] + peephole_of(s, at, 1) * before);
  in[2] = cell_function(f, in[2]);
  const float after = in[1] * before + in[0] * in[2];
  in[3] = cell_function(gate, in[3] + peephole_of(s, at, 2) * after);
  for (unsigned k = 0; k < 4; ++k) block_of(s, at, s.gates, k) = in[k];
  s.c.of(at.b)[at.u] = after;
  leave(s, at, in[3] * cell_function(f, after));
}

DL_BOTH inline void lstm_backward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float dh = take(s, at);
  float& kept = s.dc.of(at.b)[at.u];
  const float later = s.fresh ? 0.0F : kept;
  if (at.masked) {
    kept = later;
    return pass_by(s, at, 4, dh);
  }
  const Activation f = s.activation, gate = s.gate_activation;
  float g[4];
  for (unsigned k = 0; k < 4; ++k) g[k] = block_of(s, at, s.gates, k);
  const float before = s.c_before.of(at.b)[at.u];
  const float a = cell_function(f, s.c.of(at.b)[at.u]);
  const float d_o = dh * a * cell_slope(gate, g[3]);
  const float dc =
      later + dh * g[3] * cell_slope(f, a) + d_o * peephole_of(s, at, 2);
  const float d_i = dc * g[2] * cell_slope(gate, g[0]);
  const float d_f = dc * before * cell_slope(gate, g[1]);
  block_of(s, at, s.gates, 0) = d_i;
  block_of(s, at, s.gates, 1) = d_f;
  block_of(s, at, s.gates, 2) = dc * g[0] * cell_slope(f, g[2]);
  block_of(s, at, s.gates, 3) = d_o;
  kept = dc * g[1] + d_i * peephole_of(s, at, 0) + d_f * peephole_of(s, at, 1);
  s.dh.of(at.b)[at.u] = 0;
}

// Value of the gru's gates z and r, which are first in its weights.
DL_BOTH inline float gru_gate(const CellStep& s, const CellPlace& at,
                              unsigned k) {
  return cell_function(s.gate_activation, block_of(s, at, s.gates, 1 + k) +
                                              from_state(s, at, k) +
                                              bias_of(s, at, k));
}

DL_BOTH inline void gru_forward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float before = s.h_before.of(at.b)[at.u];
  if (at.masked) return leave(s, at, before);
  const float z = gru_gate(s, at, 0), r = gru_gate(s, at, 1);
  const float inner = from_state(s, at, 2) + bias_of(s, at, 3);
  const float n =
      cell_function(s.activation, block_of(s, at, s.gates, 0) +
                                      bias_of(s, at, 2) + r * inner);
  block_of(s, at, s.gates, 0) = n;
  block_of(s, at, s.gates, 1) = z;
  block_of(s, at, s.gates, 2) = r;
  block_of(s, at, s.gates, 3) = inner;
  leave(s, at, z * before + (1 - z) * n);
}

DL_BOTH inline void gru_backward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float dh = take(s, at);
  if (at.masked) return pass_by(s, at, 4, dh);
  const float n = block_of(s, at, s.gates, 0), z = block_of(s, at, s.gates, 1),
              r = block_of(s, at, s.gates, 2),
              inner = block_of(s, at, s.gates, 3);
  const float before = s.h_before.of(at.b)[at.u];
  const float dn = dh * (1 - z) * cell_slope(s.activation, n);
  block_of(s, at, s.gates, 0) = dn;
  block_of(s, at, s.gates, 1) =
      dh * (before - n) * cell_slope(s.gate_activation, z);
  block_of(s, at, s.gates, 2) = dn * inner * cell_slope(s.gate_activation, r);
  block_of(s, at, s.gates, 3) = dn * r;
  s.dh.of(at.b)[at.u] = dh * z;
}

// With reset_before, in two parts: the gates, which give `kept`, and the
// candidate that sees it; backward the other way.
DL_BOTH inline void reset_gates(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  float& kept = s.kept.of(at.b)[at.u];
  if (at.masked) {
    kept = 0;
    return;
  }
  const float z = gru_gate(s, at, 0), r = gru_gate(s, at, 1);
  block_of(s, at, s.gates, 1) = z;
  block_of(s, at, s.gates, 2) = r;
  kept = r * s.h_before.of(at.b)[at.u];
}

DL_BOTH inline void reset_candidate(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  const float before = s.h_before.of(at.b)[at.u];
  if (at.masked) return leave(s, at, before);
  const float seen = s.candidate.empty() ? 0.0F : s.candidate.of(at.b)[at.u];
  const float n = cell_function(
      s.activation, block_of(s, at, s.gates, 0) + bias_of(s, at, 2) + seen);
  const float z = block_of(s, at, s.gates, 1);
  block_of(s, at, s.gates, 0) = n;
  leave(s, at, z * before + (1 - z) * n);
}

DL_BOTH inline void reset_candidate_backward(const CellStep& s,
                                             std::int64_t i) {
  const CellPlace at(s, i);
  const float dh = take(s, at);
  if (at.masked) return pass_by(s, at, 3, dh);
  const float n = block_of(s, at, s.gates, 0), z = block_of(s, at, s.gates, 1);
  const float before = s.h_before.of(at.b)[at.u];
  block_of(s, at, s.gates, 0) = dh * (1 - z) * cell_slope(s.activation, n);
  block_of(s, at, s.gates, 1) =
      dh * (before - n) * cell_slope(s.gate_activation, z);
  s.dh.of(at.b)[at.u] = dh * z;
}

DL_BOTH inline void reset_gates_backward(const CellStep& s, std::int64_t i) {
  const CellPlace at(s, i);
  if (at.masked) return;
  float& gate = block_of(s, at, s.gates, 2);
  const float r = gate, through = s.candidate.of(at.b)[at.u];
  gate = through * s.h_before.of(at.b)[at.u] * cell_slope(s.gate_activation, r);
  s.dh.of(at.b)[at.u] += through * r;
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RECURRENT_CELL_H_
