// Models and checkpoints in files, dl-model(5): one safetensors file with the
// network, the normalizers, class names, provenance and an XXH3 in its
// metadata.  A checkpoint is a model with more tensors and counters.

#ifndef DL_LIBCORE_NN_MODEL_MODEL_H_
#define DL_LIBCORE_NN_MODEL_MODEL_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/io/mapping.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/network.h"

namespace dl::nn {

struct Model {
  NetworkConfig config;
  data::Normalizers normalizers;  // of features, and of labels that are reals
  data::Metadata data;  // classes, columns, targets, provenance of the data
  std::vector<data::Provenance> provenance;  // of the model

  std::vector<float> parameters;  // flat, in the order of layout_of()
  std::vector<float> statistics;
  // After open_model(): the parameters in their file, and a copy of that.
  std::span<const float> in_file;
  std::shared_ptr<const io::Mapping> file;
  std::span<const float> weights() const {
    return file ? in_file : std::span<const float>(parameters);
  }
  // Checkpoints only:
  std::vector<float> updater_state;  // flat; empty in a plain model
  Json training;                     // counters and what the run needs; or null
  // Further flat vectors of the run, by name: a letter, then letters and _.
  std::map<std::string, std::vector<float>> training_vectors;
};

// Writes the file whole or not at all.  Equal models give equal bytes.
// Throws Error: kCantCreate, kIo; kData, parameters or statistics are not
// finite.
void save_model(const Model& model, const std::string& path);

// Reads a source, io/source.h.  The log is told of a model without a checksum,
// which another program wrote: its tensors may lie in any order.
// Throws Error: kNoInput; kIo; kData, the file is damaged, no model, or of a
// version not understood.
Model load_model(const std::string& path, const Log& log = {});
// The same for prediction: the parameters of a file stay in a copy of it in
// memory, and the model's vector of them is empty; weights() has them.
Model open_model(const std::string& path, const Log& log = {});

// Copies a model into a network compiled from its configuration, and back.  A
// training network starts with the model's updater state, or a fresh one where
// it has none; take_from() leaves config, normalizer, data, provenance and
// what is of training alone.
void put_into(Network& network, const Model& model);
void take_from(Network& network, Model& model);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MODEL_MODEL_H_
