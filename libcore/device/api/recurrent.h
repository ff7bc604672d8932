// The primitive under recurrent layers.

#ifndef DL_LIBCORE_DEVICE_API_RECURRENT_H_
#define DL_LIBCORE_DEVICE_API_RECURRENT_H_

#include <cstdint>

#include "libcore/device/api/activation.h"
#include "libcore/device/api/values.h"

namespace dl::device {

// The computation of a recurrent layer at each step, from the state h (and c)
// before it and the input x; s and a are the gate activation and the
// activation:
//
//   simple  h' = a(W x + R h + b)
//   lstm    i = s(Wi x + Ri h + bi)      f, o likewise
//           g = a(Wg x + Rg h + bg)
//           c' = f c + i g               h' = o a(c')
//           with peepholes p: i and f see p c, and o sees p c', each its own
//   gru     z = s(Wz x + Rz h + bz)      r likewise
//           n = a(Wn x + bn + r (Rn h + bm))
//           h' = z h + (1 - z) n
//           with reset_before: n = a(Wn x + bn + Rn (r h))
//
// Rows of W, R and b are blocks of `units`: lstm i, f, g, o; gru z, r, n, and
// b has bm as a fourth, if there is one.  Hochreiter and Schmidhuber 1997 with
// the forget gate of Gers et al. 2000 and, where wanted, the peepholes of Gers
// et al. 2002; Cho et al. 2014, whose reset gate comes before the product.
enum class Cell { kSimple, kLstm, kGru };
struct RecurrentSpec {
  Cell cell = Cell::kLstm;
  std::int64_t steps = 0, inputs = 0, units = 0;
  // Both of identity, relu, sigmoid and tanh.
  Activation activation = Activation::kTanh;
  Activation gate_activation = Activation::kSigmoid;
  bool reset_before = false;  // gru
  bool reverse = false;       // from the last step to the first
  // y is the state after all steps, [batch, row]; else that of each step,
  // [batch, steps, row].
  bool last = false;
  // y's rows: `row` wide (0: units), and this fills `units` from `column` on.
  std::int64_t row = 0, column = 0;
  // Gradients do not flow back over a step whose number is a multiple of this;
  // 0: they flow all the way.
  std::int64_t truncate = 0;

  std::int64_t gates() const;   // 4, 3, 1
  std::int64_t biases() const;  // 4, 4 (3 with reset_before), 1 times units
  std::int64_t row_width() const { return row > 0 ? row : units; }
};
struct RecurrentWeights {
  View input, recurrent;  // [gates * units, inputs], [gates * units, units]
  View bias;              // [biases], or empty
  View peephole = {};     // lstm: [3, units] of i, f, o, or empty
};

// State that a cell carries on from the previous part of the sequences, each
// [batch, units].
struct RecurrentState {
  View h, c = {};  // c: lstm's
  bool empty() const { return h.empty(); }
};

// The batch is 1..max_batch, as with Conv2d.  `mask` [batch, steps] (empty:
// ones): where it is 0, the state stays as it is and the step's y is 0.
class Recurrent {
 public:
  virtual ~Recurrent() = default;
  // Remembers what backward() needs.  state: what it starts from, which becomes
  // what it ends with; empty: it starts at 0.  Two calls that pass it on do
  // what one of all steps does, on the cpu and reference to the bit.
  virtual void forward(View y, View x, View mask, const RecurrentWeights& w,
                       const RecurrentState& state) = 0;
  // forward() will be called with weights of these values only, until the next
  // freeze(), and may keep them in the form that is fastest; backward() never.
  virtual void freeze(const RecurrentWeights& w) { static_cast<void>(w); }
  // After forward() of the same x, mask and w; the state before it is taken for
  // given.  dx is overwritten, or with `add` added to; an empty dx is left out.
  virtual void backward(View dx, bool add, View dy, View x, View mask,
                        const RecurrentWeights& w,
                        const RecurrentWeights& gradient) = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_RECURRENT_H_
