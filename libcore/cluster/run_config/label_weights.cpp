#include "libcore/cluster/run_config/label_weights.h"

#include <cstdint>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::cluster {
namespace {

// The masks of labels, if all labels have one.
std::vector<std::string> masks_of_all_labels(const data::Metadata& metadata) {
  std::vector<std::string> masks;
  for (const auto& [name, field] : metadata.schema) {
    const std::string kind = name.substr(0, name.find('/'));
    if (kind != "labels") continue;
    masks.push_back("labels_mask" + name.substr(kind.size()));
    if (!metadata.schema.contains(masks.back())) return {};
  }
  return masks;
}

bool any_counts(const tensor::Tensor& mask) {
  for (std::int64_t i = 0; i < mask.elements(); ++i)
    if (mask.value(i) != 0) return true;
  return false;
}

}  // namespace

void refuse_zero_weights(MasterData& data, const std::string& what) {
  const std::vector<std::string> masks = masks_of_all_labels(data.metadata());
  bool counts = masks.empty(), is_whole = true;
  for (std::uint32_t shard = 0; shard < data.shards().size() && !counts;
       ++shard)
    for (std::uint32_t record = 0;
         record < data.shards()[shard].records.size() && !counts; ++record)
      try {
        data.examine(shard, record, [&](const data::DataSet& set) {
          for (const std::string& mask : masks)
            counts = counts || any_counts(set.get(mask));
        });
      } catch (const Error& error) {  // training tells
        if (error.code() != Code::kData) throw;
        is_whole = false;
      }
  if (!counts && is_whole)
    bad_data(what + ": every weight in " + in_quotes(masks[0]) +
             " is 0, so that no label counts; want weights above 0");
}

}  // namespace dl::cluster
