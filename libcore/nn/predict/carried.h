// The state that recurrent layers carry from one part of a sequence to the
// next: which networks can go on where they were, and the state that they go on
// from.

#ifndef DL_LIBCORE_NN_PREDICT_CARRIED_H_
#define DL_LIBCORE_NN_PREDICT_CARRIED_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// Why a layer cannot take a sequence part by part, "reads a stack"; "" if it
// can.
std::string whole_alone(const LayerConfig& layer, const LayerLayout& layout);

// States that the layers carry, each called "lstm1/h", in the order in which
// Network::predict() takes it. Throws Error: kUsage, what the network says of a
// sequence is not what it says of its parts: a layer looks at several steps
// without carrying a state, or at the whole; no layer carries one.
std::vector<CarriedSpec> carried_by(const NetworkConfig& config);

// The same network, of such, for sequences of as many steps as the data have.
NetworkConfig with_steps_of(NetworkConfig config,
                            const data::Metadata& metadata);

// Throws Error: kUsage, --keep-state FILE is no file of its own, but one of the
// others that a command names.
void check_state_path(const std::string& path, const std::string& model,
                      const std::string& output,
                      const std::vector<std::string>& inputs);

// The state after the sequences' parts so far, a row for each example, in
// memory; dl-infer(1) describes the file.  Used by one thread.
class CarriedState {
 public:
  // whole: the model that the file is of; config: that of a part of it, or its
  // own.  path: where the state is, or, where there is nothing, will be; it
  // starts at 0 then.
  // Throws Error: as carried_by(); kData, the file is damaged, of another
  // model, or of other layers; kIo.
  CarriedState(const Model& whole, const NetworkConfig& config,
               std::string path);

  // The rows of the next n examples, to be moved on by Network::predict().
  // Throws Error: kData, these are more examples than the file has.
  std::span<tensor::Tensor> next(std::int64_t n);
  // They have been moved on.
  void keep();
  // Throws Error: kData, these were fewer examples than the file has.
  void check_complete() const;
  // Throws Error: as check_complete(), and the file stays as it is; kIo,
  // kCantCreate.
  void save();

 private:
  void read();

  std::string path_, model_;
  std::vector<CarriedSpec> specs_;
  std::vector<std::vector<float>> rows_;  // by spec, of all examples
  std::int64_t examples_ = 0;             // of the file; 0: there is none
  std::int64_t done_ = 0;
  std::vector<tensor::Tensor> moving_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_CARRIED_H_
