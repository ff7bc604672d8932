// A type of steps that change pictures at random in training.
//
// Each is a constant of a file of this folder, which holds all that is to know
// of it; list.inc names them all.  The checks of documents, the JSON Schema and
// dl-network(5) follow from `keys` and `words`.
//
// To add one: its file, its line in list.inc, and a test; scripts/generate then
// writes the page and the schema.

#ifndef DL_LIBCORE_NN_AUGMENT_AUGMENT_TYPE_H_
#define DL_LIBCORE_NN_AUGMENT_AUGMENT_TYPE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/nn/augment/sample.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/config_table.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/config/settings.h"

namespace dl::nn {

struct Layout;

// A step with its settings.  Several threads may use it at the same time.
class AugmentStep {
 public:
  virtual ~AugmentStep() = default;
  // Changes an example by what it draws from `random`.
  virtual void apply(Sample& sample, Philox& random, Room& room) const = 0;
};

// A step that mixes an example with the one before it in the mini-batch.
class MixingStep {
 public:
  virtual ~MixingStep() = default;
  // Returns the share of the example that stays, of its labels as well.
  virtual double mix(Picture picture, const std::uint8_t* other,
                     Philox& random) const = 0;
};

struct AugmentType {
  std::string_view name;  // "flip"
  // Its purpose, as dl-network(5) has it: sentences in scdoc's format.
  std::string_view words = {};
  // Its names elsewhere; in lower case, letters and digits alone.
  std::vector<std::string_view> other_names = {};
  std::vector<Key> keys = {};
  // Finds what is wrong though each key by itself is not.
  // shape: of an example, [height, width, channels].
  void (*check)(const LayerSettings&, const tensor::Shape& shape,
                const Complaint&) = nullptr;
  // One of the two.
  std::unique_ptr<AugmentStep> (*make)(const LayerSettings&) = nullptr;
  std::unique_ptr<MixingStep> (*make_mixing)(const LayerSettings&) = nullptr;
};

std::span<const AugmentType* const> augment_types();
const AugmentType& augment_type(std::string_view name);

// Returns a line for each mistake: "augment[2].padding: ..."
std::vector<std::string> check_augment(const NetworkConfig& config,
                                       const Layout& layout);

// The key that most types have: with this probability a step is applied.
Key chance(std::string_view fallback);
// The value of pixels that nothing is known of; labels have 0 there.
Key fill_key();

template <typename Step>
std::unique_ptr<AugmentStep> make_step(const LayerSettings& settings) {
  return std::make_unique<Step>(settings);
}

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_AUGMENT_AUGMENT_TYPE_H_
