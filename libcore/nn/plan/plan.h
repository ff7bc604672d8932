// A network as it is computed: its layers, rewritten where two are faster as
// one, the order of gradients, and where values and gradients lie.
//
// Buffers live from their first writer to their last reader, and those whose
// lives do not meet lie in the same memory (place()).  A gradient of a value
// with several readers is their sum, from the last reader to the first.

#ifndef DL_LIBCORE_NN_PLAN_PLAN_H_
#define DL_LIBCORE_NN_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"

namespace dl::nn {

// A layer, or what a fusion made of several.
struct PlannedLayer {
  std::size_t layer = 0;  // whose parameters it has, and whose random numbers
  LayerSettings settings;
  std::vector<Value> inputs;
  Value output = 0;
  BufferPolicy buffers;
  std::int64_t summed = 0;  // see LayerShape
  std::unique_ptr<Layer> (*make)(const LayerSite&, Memory&) = nullptr;
  // The batch normalization that it does as well.
  std::optional<std::size_t> absorbs = {};
  // Parameters that others behind it have too: its gradient is added to theirs.
  bool adds_gradient = false;
  // All lanes compute it together, each some of its units for the whole
  // mini-batch, and there is one gradient of its parameters.
  bool joint = false;

  // Whether it runs on lanes without examples, too.
  bool meets() const { return joint || summed > 0; }
};

// Numbers of an example, in use from one moment to another.
struct PlannedBuffer {
  std::int64_t elements = 0;
  int first = 0, last = 0;
  // Reals or integers, where others are what Device::activations() says: what
  // the network is asked for, its loss's gradient, tokens.
  bool whole = false;
};
using BufferIndex = std::size_t;
inline constexpr BufferIndex kNoBuffer = static_cast<BufferIndex>(-1);

struct BackwardStep {
  std::size_t step = 0;
  BufferIndex dy = kNoBuffer;
  // A copy of this is made in dy first: others still need it as it is.
  BufferIndex copied = kNoBuffer;
  std::vector<BufferIndex> dx;  // by input; kNoBuffer: nobody needs it
  bool computes = true;         // else dx are dy
  // From this element of the flat gradient on a lane has found all, afterwards.
  std::int64_t found_from = 0;
  // Afterwards, one after the other: to += from, or to = from.
  struct Sum {
    BufferIndex to, from;
    bool copies = false;
    std::int64_t elements = 0;
  };
  std::vector<Sum> sums;
};

// Over how many lanes mini-batches of up to so many examples are divided.
struct Division {
  int lanes = 1;
  std::int64_t examples = 1;
};

// Where the gradients of a lane lie that others have, too: not those of joint
// layers.
struct LaneGradients {
  static constexpr std::int64_t kNone = -1;
  std::vector<std::int64_t> offsets;  // by parameter segment; or kNone
  std::int64_t elements = 0;
};

struct Plan {
  std::vector<PlannedLayer> steps;
  std::vector<BufferIndex> values;  // by Value; kNoBuffer: fused away
  LaneGradients gradients;
  // Reals that the lanes share, see Joint.
  std::int64_t joint_given = 0, joint_made = 0;
  // In training:
  std::vector<BufferIndex> losses;  // by output, where its loss's gradient goes
  std::vector<BackwardStep> backward;
  std::vector<PlannedBuffer> buffers;
};

Plan plan_of(const NetworkConfig& config, const Layout& layout, bool training,
             Division division = {});

// Where in one piece of memory each buffer lies, in numbers from its start, for
// so many examples, and how long that piece is.  Buffers in use at the same
// time do not overlap; each lies at a multiple of 64 bytes. whole: the room
// that one of a whole buffer takes, 1 or, of halves, 2.
struct Places {
  std::vector<std::int64_t> offsets;
  std::int64_t elements = 0;
};
Places place(std::span<const PlannedBuffer> buffers, std::int64_t examples,
             std::int64_t whole = 1);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PLAN_PLAN_H_
