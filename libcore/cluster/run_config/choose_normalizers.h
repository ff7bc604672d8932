// The normalizers of a run: a model's, those of the run that goes on, or fitted
// to the training data.

#ifndef DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_NORMALIZERS_H_
#define DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_NORMALIZERS_H_

#include <string>

#include "libcore/base/log.h"
#include "libcore/cluster/loading/master_data.h"
#include "libcore/cluster/run_config/master_options.h"
#include "libcore/nn/model/model.h"

namespace dl::cluster {

// Parts of a model that are kept with the same network, or another.
struct Kept {
  // Whether normalizers of inputs and outputs are kept.
  bool inputs = false, outputs = false;
};

// Chooses the normalizers of `model` that are not kept, as --normalize and
// --normalize-targets say. folder: the run directory. Throws Error: kConfig,
// the data are not such that they could be; kData.
void choose_normalizers(nn::Model& model, Kept kept,
                        const MasterOptions& options, MasterData& data,
                        const std::string& folder, const Log& log);

// Reads all records for what is found in the data before training, but from a
// bad one on the rest of its shard, of which so many may go bad as in training.
// what: goes without it, for messages.  Throws Error: kData, kNoInput, kIo.
void read_all(MasterData& data, const MasterOptions& options,
              const std::string& what, const Log& log, const CheckRecord& take);

// Reads some records, spread over all, that have so many examples or more where
// there are as many; passes over damaged ones.  Throws Error: kNoInput, kIo.
void read_some(MasterData& data, std::int64_t examples,
               const CheckRecord& take);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_CONFIG_CHOOSE_NORMALIZERS_H_
