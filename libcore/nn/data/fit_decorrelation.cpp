// Fitting of PCA and whitening over all data.

#include "libcore/nn/data/fit_decorrelation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/nn/data/batch.h"

namespace dl::nn {
namespace {

// From here on most networks do not learn from what components are.
constexpr double kLargeDeviation = 10;

std::string decorrelation_name(const data::Decorrelation& wanted) {
  return wanted.components ? "pca:" + std::to_string(*wanted.components)
                           : "whiten";
}

// How many columns the data have for an input of that shape.
std::int64_t columns_of(const data::Decorrelation& wanted,
                        const WantedInput& input, const data::Field& features) {
  const std::string name = decorrelation_name(wanted) + ": ";
  const std::int64_t last = input.shape.back(),
                     rows = input.shape.elements() / last,
                     columns = features.shape.elements() / rows;
  if (input.tokens > 0)
    bad_config(name + "an input of token numbers has no columns");
  if (columns * rows != features.shape.elements())
    bad_config(
        name + "examples are " + features.shape.to_string() +
        ", the network wants " + input.shape.to_string() +
        ": its input's last dimension are the columns that are made, the "
        "others are as in the data");
  const std::int64_t made = wanted.components.value_or(columns);
  if (made > columns)
    bad_config(name + "the data have " + std::to_string(columns) + " columns");
  if (made != last)
    bad_config(name + "makes " + std::to_string(made) +
               " columns, the network's input is " + input.shape.to_string());
  if (columns > data::kMaxCovarianceColumns)
    bad_config(name + "the data have " + std::to_string(columns) +
               " columns, " + std::to_string(data::kMaxCovarianceColumns) +
               " are the most");
  if (made * columns > data::kMaxMatrix)
    bad_config(name + std::to_string(made) + " of " + std::to_string(columns) +
               " columns take a matrix of more than " +
               std::to_string(data::kMaxMatrix) +
               " numbers, the most: use pca with fewer components");
  return columns;
}

data::Normalizer components_of(const data::Covariance& columns,
                               std::int64_t count, const std::string& tensor,
                               const Log& log) {
  data::PrincipalComponents made = data::principal_components(columns, count);
  log(Level::kInfo, "the columns of " + tensor +
                        ": pca:" + std::to_string(count) + " keeps " +
                        format("%.4g", 100 * made.share) +
                        " % of their variance");
  if (made.rank == 0)
    log(Level::kWarning,
        "the columns of " + tensor + " do not vary: all components are 0");
  else if (made.rank < count)
    log(Level::kWarning,
        "the columns of " + tensor + " vary in " + std::to_string(made.rank) +
            (made.rank == 1 ? " direction" : " directions") +
            " alone: components beyond are rounding, take pca:" +
            std::to_string(made.rank));
  if (made.deviation > kLargeDeviation)
    log(Level::kWarning,
        "the components of " + tensor + " deviate by up to " +
            format("%.4g", made.deviation) +
            ", as the columns do; a network learns badly from numbers that "
            "large: take --normalize whiten, or batch_norm for the first "
            "layer");
  return std::move(made.normalizer);
}

}  // namespace

std::vector<data::Normalizer> fit_decorrelation(
    const data::Decorrelation& wanted, const NetworkConfig& config,
    const data::Metadata& metadata, const EachRecord& records, const Log& log) {
  const std::vector<WantedInput> inputs =
      wanted_by(config, layout_of(config)).inputs;
  std::vector<data::Covariance> gathered;
  for (const WantedInput& input : inputs) {
    const auto features = metadata.schema.find(input.tensor);
    if (features == metadata.schema.end())
      bad_config(decorrelation_name(wanted) + ": the data have no tensor '" +
                 displayed(input.tensor) + "'");
    gathered.emplace_back(columns_of(wanted, input, features->second));
  }
  records([&](const data::DataSet& record) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      gathered[i].add(
          record.get(inputs[i].tensor),
          inputs[i].sequence ? record.find(inputs[i].mask) : nullptr,
          inputs[i].tensor);
  });
  std::vector<data::Normalizer> made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (gathered[i].count() == 0)
      throw Error{Code::kData, decorrelation_name(wanted) + ": no value of " +
                                   inputs[i].tensor + " counts"};
    made.push_back(
        wanted.components
            ? components_of(gathered[i], *wanted.components, inputs[i].tensor,
                            log)
            : data::whitening(gathered[i],
                              metadata.schema.at(inputs[i].tensor).dtype));
  }
  return made;
}

}  // namespace dl::nn
