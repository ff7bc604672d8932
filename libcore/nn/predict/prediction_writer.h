// Writer of a run's predictions, batch after batch, in the order of the
// examples: JSON Lines (prediction_lines.h), or a DataSet stream with the
// model's outputs as labels, or as features.

#ifndef DL_LIBCORE_NN_PREDICT_PREDICTION_WRITER_H_
#define DL_LIBCORE_NN_PREDICT_PREDICTION_WRITER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "libcore/io/sink.h"
#include "libcore/nn/model/model.h"

namespace dl::nn {

class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  // The input's metadata: before the first batch, and whenever more is known.
  // Throws Error: kData, it does not go with the inputs before it.
  virtual void see(const data::Metadata& input) = 0;
  // May take tensors out of `set`.
  // Throws Error: kData, an output is not finite; kIo.
  virtual void take(data::DataSet& set,
                    const std::vector<Prediction>& outputs) = 0;
  virtual void close() = 0;
};

// The lines of a batch are passed on at once, since the reader of a pipe may be
// waiting for them.
std::unique_ptr<PredictionWriter> write_lines(
    const Model& model, std::int64_t top,
    std::function<void(std::string_view)> write,
    std::optional<double> threshold = {});
std::unique_ptr<PredictionWriter> write_lines(
    const Model& model, std::int64_t top, std::unique_ptr<io::Sink> sink,
    std::optional<double> threshold = {});

// Kind of stream that the outputs of a model are written to.
enum class StreamKind {
  kPredictions,  // labels; the input's own are left out
  kFeatures      // features, in the place of the input's
};
struct StreamOptions {
  StreamKind kind = StreamKind::kPredictions;
  bool keep_features = false;  // of predictions: copy the input's features
  // Step added to the input's provenance; without it, none is written.
  std::optional<data::Provenance> step = {};
};

// labels or features: [n, ...output] in kF32, of several outputs "labels/NAME";
// labels are called as the model's outputs are.  "id" and "index" are copied,
// and of features the input's labels as well.  For sequences the masks become
// theirs, in kU8 if all masks of the input are, and padding is 0.
std::unique_ptr<PredictionWriter> write_stream(const Model& model,
                                               std::unique_ptr<io::Sink> sink,
                                               const StreamOptions& options);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_PREDICTION_WRITER_H_
