// One step of a recurrent cell for a batch, between the matrix products: all
// arrays are rows of examples, contiguous.

#ifndef DL_LIBCORE_DEVICE_CPU_RECURRENT_STEP_H_
#define DL_LIBCORE_DEVICE_CPU_RECURRENT_STEP_H_

#include <cstdint>

#include "libcore/device/api/device.h"

namespace dl::device::kernels {

struct CellStep {
  std::int64_t batch = 0, units = 0;
  Activation activation, gate_activation;
  const float* mask = nullptr;        // [batch], or null: ones
  const float* inner_bias = nullptr;  // gru: bm, [units]
  // lstm, [3 * units] or null; backward adds to their gradient.
  const float* peephole = nullptr;
  float* peephole_gradient = nullptr;

  // [batch, gates * units].  Forward: W x + b (simple and lstm: + R h) becomes
  // the gates.  Backward: these become the gradients before their activations.
  float* gates = nullptr;
  // gru, [batch, 3 * units].  Forward: R h; its last third becomes Rn h + bm.
  // Backward: the gradient of R h + its biases.
  float* recurrent = nullptr;
  // gru with reset_before, [batch, units].  Forward: r h.  Backward: its
  // gradient.
  float* kept = nullptr;
  // [batch, units]: the state before and after the step.
  const float* h_before = nullptr;
  float* h = nullptr;
  const float* c_before = nullptr;  // lstm
  float* c = nullptr;
  float* squashed = nullptr;  // lstm: a(c)

  // [batch, units], backward: the gradient after the step becomes what of it
  // does not pass through the gates.
  float* dh = nullptr;
  float* dc = nullptr;  // lstm
};

void simple_forward(const CellStep& step);
void simple_backward(const CellStep& step);
void lstm_forward(const CellStep& step);
void lstm_backward(const CellStep& step);
void gru_forward(const CellStep& step);
void gru_backward(const CellStep& step);
// With reset_before, each in two parts: the gates, which give `kept`, and the
// candidate, for which the last third of `recurrent` is Rn kept; and from the
// candidate, which gives what the gradient of `kept` is made of, to the gates.
void gru_gates(const CellStep& step);
void gru_candidate(const CellStep& step);
void gru_candidate_backward(const CellStep& step);
void gru_gates_backward(const CellStep& step);

}  // namespace dl::device::kernels

#endif  // DL_LIBCORE_DEVICE_CPU_RECURRENT_STEP_H_
