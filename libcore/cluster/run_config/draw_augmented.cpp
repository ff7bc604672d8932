#include "libcore/cluster/run_config/draw_augmented.h"

#include <algorithm>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/data/contact_sheet.h"
#include "libcore/nn/augment/augmenter.h"
#include "libcore/nn/layout.h"

namespace dl::cluster {
namespace {

constexpr std::int64_t kRows = 8, kEpochs = 8;

// Examples as a mini-batch, with their names.
struct First {
  data::DataSet set;
  std::vector<std::uint64_t> names;
};

First first_examples(MasterData& data) {
  First first;
  const std::int64_t wanted = std::min(kRows, data.examples());
  std::int64_t filled = 0;
  for (std::uint32_t shard = 0; shard < data.shards().size(); ++shard) {
    const auto& records = data.shards()[shard].records;
    for (std::uint32_t record = 0; record < records.size() && filled < wanted;
         ++record)
      data.examine(shard, record, [&](const data::DataSet& set) {
        if (filled == 0) first.set = data::make_like(set, wanted);
        for (std::int64_t i = 0; i < set.examples() && filled < wanted; ++i) {
          data::copy_example(first.set, filled++, set, i);
          first.names.push_back(nn::name_of_example(
              shard, record, static_cast<std::uint32_t>(i)));
        }
      });
  }
  return first;
}

}  // namespace

void draw_augmented(const nn::NetworkConfig& config, MasterData& data,
                    const std::string& path) {
  if (config.augment.empty())
    throw Error{Code::kConfig,
                R"(the network has no "augment", see AUGMENTATION in )"
                "dl-network(5)"};
  const First first = first_examples(data);
  const auto wanted = nn::wanted_by(config, nn::layout_of(config)).inputs;
  const auto input = std::ranges::find_if(
      wanted, [](const auto& each) { return each.shape.rank() == 3; });
  const auto rows = static_cast<std::int64_t>(first.names.size());
  data::ContactSheet sheet(input->shape, rows, 1 + kEpochs);
  nn::Augmenter augmenter(config);
  for (std::int64_t column = 0; column <= kEpochs; ++column) {
    data::DataSet set = first.set;
    if (column > 0)
      augmenter.apply(set, first.names, static_cast<std::uint64_t>(column - 1));
    const auto pixels = set.get(input->tensor).as<std::uint8_t>();
    const auto each = pixels.size() / static_cast<std::size_t>(rows);
    for (std::int64_t row = 0; row < rows; ++row)
      sheet.put(row, column,
                pixels.subspan(static_cast<std::size_t>(row) * each, each));
  }
  sheet.write(path);
}

}  // namespace dl::cluster
