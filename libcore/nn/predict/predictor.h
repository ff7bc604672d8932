// A model applied to DataSet streams, batch after batch in bounded memory.

#ifndef DL_LIBCORE_NN_PREDICT_PREDICTOR_H_
#define DL_LIBCORE_NN_PREDICT_PREDICTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/data/examples.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/nn/data/data_check.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/predict/carried.h"

namespace dl::nn {

struct PredictorOptions {
  std::int64_t batch = 256;           // most examples computed at a time
  std::string device = "cpu";         // see device/open.h
  std::int64_t threads = 0;           // 0: one for each core
  std::string precision = "float32";  // see device/open.h
  Labels labels = Labels::kIgnored;
  Log log = {};  // told of data that are put right; or none
  // Where sequences go on from, over all streams that are read; they may have
  // any number of steps then.  Outlives the predictor.
  CarriedState* state = nullptr;
};

// Holds a network of its own.  Used by one thread at a time.
class Predictor {
 public:
  // Throws Error: kUsage, an option is out of range, no device, or no precision
  // of this one; kUnavailable; kConfig.
  Predictor(const Model& model, const PredictorOptions& options);
  ~Predictor();

  // The network used for predictions.
  Network& network();

  // Called once a stream before its first batch and once at its end, when its
  // metadata is complete; what it is shown, and the examples as well, are in
  // the order that the model knows (data_check.h).
  using See = std::function<void(const data::Metadata& metadata)>;
  // set: 1..batch examples, none of more than one record.  outputs: what the
  // model says of them, as Network::predict() does, finite or not.
  using Take = std::function<void(data::DataSet& set,
                                  const std::vector<Prediction>& outputs)>;

  // Reads the stream that `spec` names (io/source.h) and predicts it all, in
  // order, handing each batch over before the next one is computed or waited
  // for; records that are there are read ahead (data/read_ahead.h).
  // Throws Error: kData, the stream is damaged or does not fit the model; what
  // see and take throw.  kData errors name the source.
  void run(const std::string& spec, const See& see, const Take& take);
  // The same of examples that come from elsewhere.
  void run(data::Examples& examples, const See& see, const Take& take);

 private:
  struct State;
  void fit(const data::Metadata& metadata);
  void run(data::Examples& examples, const data::Metadata& first,
           const See& see, const Take& take);
  std::unique_ptr<State> state_;
};

// Calls work(predictor, spec) for each of specs, up to `at_once` (>= 1) of them
// at the same time, each on a thread with a network of its own.  After an error
// no further spec is begun; of several errors that of the first spec is thrown.
void for_each_input(
    const Model& model, const PredictorOptions& options,
    const std::vector<std::string>& specs, std::int64_t at_once,
    const std::function<void(Predictor&, const std::string& spec)>& work);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_PREDICTOR_H_
