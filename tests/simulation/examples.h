// The examples of a simulated run, in memory once for all its workers.

#ifndef DL_TESTS_SIMULATION_EXAMPLES_H_
#define DL_TESTS_SIMULATION_EXAMPLES_H_

#include <memory>
#include <optional>
#include <vector>

#include "libcore/cluster/loading/batches.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "libcore/eval/outputs.h"

namespace simulated {

class Examples {
 public:
  Examples(const dl::cluster::RunConfig& plan, const dl::Log& log);

  // Place of a reader in an epoch.
  struct Reader {
    std::int64_t epoch = -1;
    std::optional<dl::data::Epoch> order;
    dl::cluster::LoadedBatch batch;
  };
  // Mini-batch `index` of an epoch; there until the reader reads another one.
  // batch: examples of it.
  const dl::data::DataSet& read(Reader& reader, std::int64_t epoch,
                                std::int64_t index, std::int64_t batch);

  // Scores of a model with these parameters on the held-out data, by name;
  // nothing where there are none.
  std::map<std::string, double> evaluate(const dl::cluster::RunState& state);

 private:
  const dl::cluster::RunConfig& plan_;
  dl::cluster::RecordStore training_;
  std::optional<dl::cluster::RecordStore> evaluation_;
  dl::eval::Subjects subjects_;
  std::unique_ptr<dl::nn::Network> network_;  // of evaluations
};

}  // namespace simulated

#endif  // DL_TESTS_SIMULATION_EXAMPLES_H_
