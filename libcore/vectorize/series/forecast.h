// Forecasts of series beyond their end: windows to be predicted, and the
// predictions put behind the rows that are known.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_FORECAST_H_
#define DL_LIBCORE_VECTORIZE_SERIES_FORECAST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

struct ForecastRow {
  std::string key;         // of the series; "": there is one
  std::string time;        // "": rows have none
  bool is_number = false;  // the time is one
  std::int64_t step = 1;   // behind the last row that is known
  std::vector<float> values;
};

class Forecast {
 public:
  // known: what the model knows of its data; its recipe is of series.
  // Throws Error: kData, it is not, or the rows do not suffice; kUsage.
  Forecast(const data::Metadata& known, const Inputs& inputs,
           std::int64_t steps, BadRecords& bad);
  ~Forecast();

  const data::Metadata& metadata() const;  // of the windows
  const std::vector<std::string>& targets() const;

  // The windows to predict next, one a series; false: all is predicted.
  bool next(data::DataSet& windows);
  // The predictions of all of them, in order: kF32 [windows, horizon *
  // targets], perhaps in parts.
  void take(const tensor::Tensor& predictions);

  // All of them, series by series.
  void each(const std::function<void(const ForecastRow&)>& take) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_FORECAST_H_
