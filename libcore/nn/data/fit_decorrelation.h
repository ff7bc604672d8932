// Normalizers of inputs that follow from how columns vary together, for which
// all data are read once.

#ifndef DL_LIBCORE_NN_DATA_FIT_DECORRELATION_H_
#define DL_LIBCORE_NN_DATA_FIT_DECORRELATION_H_

#include <functional>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/decorrelate.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"

namespace dl::nn {

// Calls what it is given for each record of the data, in their order.
using EachRecord = std::function<void(
    const std::function<void(const data::DataSet& record)>&)>;

// One for each input.  The columns are those of the input's last dimension, of
// which an example has as many rows as the input's other dimensions say: an
// image of 28 by 28 pixels is a row of 784 columns for an input [50] of pca:50,
// a series of steps [20, 13] is 20 rows of 13 for an input [20, 5] of pca:5.
// Steps that a mask hides do not count. Remarks go to the log. Throws Error:
// kConfig, an input has other columns than are made, or there are too many;
// kData, values are not finite, or there are none; and what `records` does.
std::vector<data::Normalizer> fit_decorrelation(
    const data::Decorrelation& wanted, const NetworkConfig& config,
    const data::Metadata& metadata, const EachRecord& records, const Log& log);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_FIT_DECORRELATION_H_
