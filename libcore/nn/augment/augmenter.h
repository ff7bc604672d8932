// Augmentation: the steps of a network, in their order, on mini-batches of
// training.
//
// Draws follow from the network's seed, the epoch, the example and the step
// alone, so that examples come out alike whoever does it, with any number
// of threads.  Examples that are mixed have their neighbor in the mini-batch
// for a partner, and which examples make up a mini-batch follows from seed and
// epoch as well.

#ifndef DL_LIBCORE_NN_AUGMENT_AUGMENTER_H_
#define DL_LIBCORE_NN_AUGMENT_AUGMENTER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/parallel.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/data/batch.h"

namespace dl::nn {

// The number by which an example is known, wherever it is used.
std::uint64_t name_of_example(std::uint32_t shard, std::uint32_t record,
                              std::uint32_t example);

// Throws Error: kData, there is augmentation, and the pictures are not bytes.
void check_augmented(const NetworkConfig& config, const data::Metadata& data);

// Used by one thread at a time.
class Augmenter {
 public:
  explicit Augmenter(const NetworkConfig& config);
  ~Augmenter();

  bool any() const { return !steps_.empty() || !mixing_.empty(); }
  // How many threads share the work from here on, the caller being one.
  void use_threads(int threads);
  int threads() const;

  // Changes a mini-batch.  names: of its examples.  Steps that mix leave labels
  // as kF32, [n, units].
  // Throws Error: kData, the pictures are not bytes.
  void apply(data::DataSet& set, std::span<const std::uint64_t> names,
             std::uint64_t epoch);

 private:
  template <typename Step>
  struct Drawn {
    std::unique_ptr<Step> step;
    double chance;
    std::uint64_t number;
  };
  struct Plane {  // a tensor of the set that has pixels
    tensor::Tensor* tensor;
    Picture first;  // of the first example
  };

  Philox random(std::uint64_t epoch, std::uint64_t example,
                std::uint64_t step) const;
  void find_planes(data::DataSet& set);
  void change(std::size_t example, std::uint64_t name, std::uint64_t epoch,
              Room& room) const;
  void soften_labels(data::DataSet& set);
  void blend(data::DataSet& set, const Drawn<MixingStep>& drawn,
             std::span<const std::uint64_t> names, std::uint64_t epoch);

  std::uint64_t seed_;
  Wanted wanted_;
  std::size_t input_ = 0;  // that is a picture
  std::vector<Drawn<AugmentStep>> steps_;
  std::vector<Drawn<MixingStep>> mixing_;
  std::vector<Plane> planes_;  // of the mini-batch at hand, features first
  std::unique_ptr<ThreadTeam> team_;
  std::vector<Room> rooms_;  // of each thread
  std::vector<float> labels_;
  std::vector<std::uint8_t> last_;
  std::vector<double> shares_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_AUGMENT_AUGMENTER_H_
