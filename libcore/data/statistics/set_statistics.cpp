// Statistics of a data set, gathered record by record.

#include "libcore/data/statistics/set_statistics.h"

#include <algorithm>

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
  for (const auto& [name, values] : set.tensors) {
    const auto slash = std::min(name.find('/'), name.size());
    const std::string kind = name.substr(0, slash), of = name.substr(slash);
    if (kind == "features") {
      gather(values, set.find("features_mask" + of), name,
             gathered_[of].features);
    } else if (kind == "labels") {
      Gathered& own = gathered_[of];
      own.real_labels = tensor::is_real(values.dtype());
      tensor::Tensor product;
      gather(values, label_mask(set, product, of), name, own.labels);
    }
  }
}

void SetStatistics::merge(const SetStatistics& next) {
  for (const auto& [of, other] : next.gathered_) {
    Gathered& own = gathered_[of];
    own.real_labels = other.real_labels;
    own.features.merge(other.features);
    own.labels.merge(other.labels);
  }
}

void SetStatistics::put_into(Metadata& metadata) const {
  const auto put_gathered = [](const Gathered& own, About& about) {
    put(own.features, about.statistics);
    const bool classes = !own.real_labels && !about.classes.empty();
    put(classes ? Statistics() : own.labels, about.label_statistics);
  };
  put_gathered({}, metadata);
  for (auto& [name, about] : metadata.parts) put_gathered({}, about);
  for (const auto& [of, own] : gathered_)
    put_gathered(own, of.empty() ? metadata : metadata.parts[of.substr(1)]);
}

}  // namespace dl::data
