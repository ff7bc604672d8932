#include "libcore/data/set_statistics.h"

#include "libcore/data/label_mask.h"

namespace dl::data {
namespace {

void gather(const tensor::Tensor& values, const tensor::Tensor* mask,
            const std::string& name, Statistics& out) {
  if (values.shape().rank() > 1 &&
      values.shape().back() > kMaxStatisticsColumns)
    return;
  out.add(values, mask, name);
}

void put(const Statistics& gathered, std::optional<Statistics>& out) {
  out.reset();
  if (gathered.examples > 0) out = gathered;
}

}  // namespace

void SetStatistics::add(const DataSet& set) {
  if (const tensor::Tensor* features = set.find("features"))
    gather(*features, set.find("features_mask"), "features", features_);
  if (const tensor::Tensor* labels = set.find("labels")) {
    real_labels_ = tensor::is_real(labels->dtype());
    tensor::Tensor product;
    gather(*labels, label_mask(set, product), "labels", labels_);
  }
}

void SetStatistics::put_into(Metadata& metadata) const {
  put(features_, metadata.statistics);
  const bool classes = !real_labels_ && !metadata.classes.empty();
  put(classes ? Statistics() : labels_, metadata.label_statistics);
}

}  // namespace dl::data
