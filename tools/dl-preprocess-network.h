// The network that dl-preprocess proposes for the examples that it made.

#ifndef DL_TOOLS_DL_PREPROCESS_NETWORK_H_
#define DL_TOOLS_DL_PREPROCESS_NETWORK_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "libcore/base/display.h"
#include "libcore/cli/tool.h"
#include "libcore/io/sink.h"
#include "libcore/vectorize/analysis/propose_network.h"
#include "libcore/vectorize/reader.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-report.h"

inline bool lacks_network(const Args& a) {
  return !a.network.empty() &&
         (a.network == "-" || !std::filesystem::exists(a.network));
}

// Refuses examples that there is no such network for, before any is made.
inline void check_network(const Args& a, const dl::vectorize::Reader& reader) {
  if (!a.network.empty())
    (void)dl::vectorize::propose_network(reader.metadata(), 1);
}

inline void write_network(const Args& a, const dl::vectorize::Reader& reader,
                          const Shares& shares) {
  if (a.network.empty()) return;
  // The first share is the one to learn from, or all folds but one.
  std::int64_t examples = shares[0].second;
  for (std::size_t i = 1; a.folds > 0 && i + 1 < shares.size(); ++i)
    examples += shares[i].second;
  const auto proposed =
      dl::vectorize::propose_network(reader.metadata(), examples);
  const std::string text = proposed.network.dump(2) + "\n";
  dl::io::write_whole(a.network, text);
  dl::cli::log()(dl::Level::kInfo,
                 "a network for them: dl-master --net " + a.network +
                     " --local 1 --epochs " + std::to_string(proposed.epochs) +
                     " --batch " + std::to_string(proposed.batch) +
                     " --data SHARDS -o MODEL");
}

#endif  // DL_TOOLS_DL_PREPROCESS_NETWORK_H_
