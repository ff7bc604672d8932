// The one check that data fit a model, for training, evaluation and prediction.

#ifndef DL_LIBCORE_NN_DATA_DATA_CHECK_H_
#define DL_LIBCORE_NN_DATA_DATA_CHECK_H_

#include <vector>

#include "libcore/data/alignment.h"
#include "libcore/data/format/metadata.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/model/model.h"

namespace dl::nn {

// Treatment of labels: training and evaluation need them, and prediction does
// not look at them.
enum class Labels { kNeeded, kIgnored };

// Metadata of data whose labels are ignored.
data::Metadata without_labels(data::Metadata data);

// Whether what a model says of classes was learnt, or is still to be.
enum class Outputs { kLearnt, kNew };

// The knowledge that a model has of its data.  One that has learnt classes
// without names takes their numbers for names ("7") if these data do:
// dl-preprocess numbers classes as they appear.
data::Metadata known_by(const Model& model, Outputs outputs,
                        const data::Metadata& data);

class DataCheck {
 public:
  // Keeps those parts of the model that the check needs, not the parameters.
  explicit DataCheck(const Model& model, Outputs outputs = Outputs::kLearnt);

  // How data with this metadata are brought into the order that the model
  // knows.  The note has corrections and oddities. Throws Error: kData, they do
  // not fit: shapes, names of columns or classes, a dtype that the normalizer
  // was not made for.
  data::Alignment examine(const data::Metadata& data, Labels labels) const;

  // Metadata of the data after alignment.
  data::Metadata aligned(const data::Alignment& alignment,
                         const data::Metadata& data) const;

 private:
  void check_normalizer(const data::Metadata& data, std::size_t input,
                        data::Alignment& alignment) const;
  void check_parts(const data::Metadata& data, bool labels) const;
  data::Metadata known(const data::Metadata& data) const;
  std::string doubt(const data::Metadata& data) const;

  Wanted wanted_;
  std::vector<data::Normalizer> normalizers_;  // by input
  Outputs outputs_;
  data::Metadata known_;  // of the data that the model was trained on
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_DATA_CHECK_H_
