#include "libcore/cluster/master/epoch/sharing/agreement.h"

#include <algorithm>
#include <utility>

#include "libcore/cluster/master/run_context.h"
#include "libcore/exchange/rules/average.h"
#include "libcore/io/digest.h"

namespace dl::cluster {

Agreement::Agreement(std::span<const float> parameters, std::uint64_t sequence,
                     double now)
    : sequence_(sequence),
      digest_(io::digest(std::as_bytes(parameters))),
      began_(now) {}

bool Agreement::take(std::uint64_t member, Digest answer,
                     std::int64_t examples) {
  if (answer.sequence != sequence_ || awaited_.erase(member) == 0) return false;
  answers_[member] = {std::move(answer), examples};
  return true;
}

std::vector<float> Agreement::statistics(std::vector<float> otherwise) const {
  std::vector<Weighted> parts;
  parts.reserve(answers_.size());
  for (const auto& [member, answer] : answers_)
    parts.push_back({&answer.digest.statistics, answer.examples});
  return weighted_mean(std::move(parts), std::move(otherwise));
}

std::vector<float> weighted_mean(std::vector<Weighted> parts,
                                 std::vector<float> otherwise) {
  std::erase_if(parts, [&](const Weighted& part) {
    return part.values->empty() || part.examples <= 0 ||
           (!otherwise.empty() && part.values->size() != otherwise.size()) ||
           !all_finite(*part.values);
  });
  if (parts.empty()) return otherwise;
  const std::size_t size = parts[0].values->size();
  std::erase_if(
      parts, [&](const Weighted& part) { return part.values->size() != size; });
  exchange::Average mean(parts.size(), size);
  for (std::size_t i = 0; i < parts.size(); ++i)
    mean.put(i, *parts[i].values, static_cast<double>(parts[i].examples));
  return mean.result();
}

}  // namespace dl::cluster
