// Along one axis: its places in another order, or sums of them.

#include <algorithm>
#include <map>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

struct Run {
  std::int64_t begin, end;
  bool operator<(const Run& other) const {
    return begin != other.begin ? begin < other.begin : end < other.end;
  }
};

// Places that follow each other, as one.
std::vector<Run> runs_of(const Sizes& places) {
  std::vector<Run> runs;
  for (const std::int64_t at : places)
    if (!runs.empty() && runs.back().end == at)
      ++runs.back().end;
    else
      runs.push_back({at, at + 1});
  return runs;
}

// From each place to the next, where that is the same throughout; else 0.
std::int64_t step_of(const Sizes& places) {
  const std::int64_t step = places.size() > 1 ? places[1] - places[0] : 0;
  for (std::size_t i = 2; i < places.size(); ++i)
    if (places[i] - places[i - 1] != step) return 0;
  return step;
}

}  // namespace

void want_small(const Site& site, std::int64_t to, std::int64_t from) {
  constexpr std::int64_t kMost = 4096;
  if (to > kMost || from > kMost)
    site.refuse("it makes " + std::to_string(to) + " places of an axis of " +
                std::to_string(from) + "; up to 4096 would be needed");
}

Flow Site::through(const Flow& given, std::size_t axis, const Constant& matrix,
                   bool frozen) {
  Flow flow = real(given);
  flow.linear = nullptr;
  std::swap(flow.axes[axis], flow.axes.back());
  Flow made =
      product(flow, matrix.shape()[0], matrix, false, nullptr, nullptr, frozen);
  std::swap(made.axes[axis], made.axes.back());
  made.linear = nullptr;
  return made;
}

// Every step-th place: of rows of so many, one place each.
std::optional<Flow> Site::spaced(const Flow& given, std::size_t axis,
                                 const Sizes& places) {
  const std::int64_t step = step_of(places);
  const auto count = static_cast<std::int64_t>(places.size());
  const std::int64_t first =
      std::min(places[0], extent_of(given, axis) - count * step);
  if (step < 2 || first < 0) return std::nullopt;
  Flow flow = part_of(given, axis, first, first + count * step);
  Sizes rows = shape(flow);
  rows[axis] = count;
  rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(axis) + 1, step);
  flow = regrouped(flow, rows);
  const std::int64_t at = places[0] - first;
  return squeezed(part_of(flow, axis + 1, at, at + 1), {axis + 1});
}

Flow Site::taken(const Flow& given, std::size_t axis, const Sizes& places) {
  constexpr std::size_t kMostParts = 64;
  const std::int64_t extent = extent_of(given, axis);
  if (places.empty())
    refuse("it takes nothing of an axis of " + std::to_string(extent));
  for (const std::int64_t at : places)
    if (at < 0 || at >= extent) refuse("its index is outside of its input");
  const std::vector<Run> runs = runs_of(places);
  if (runs.size() == 1) return part_of(given, axis, runs[0].begin, runs[0].end);
  if (std::ranges::count(given.axes[axis], kBatch) > 0)
    refuse("it takes examples of a batch in another order");
  if (runs.size() > 2)
    if (const auto made = spaced(given, axis, places)) return *made;
  if (runs.size() > kMostParts) {
    const auto count = static_cast<std::int64_t>(places.size());
    want_small(*this, count, extent);
    std::vector<float> one_each(static_cast<std::size_t>(count * extent), 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      one_each[i * static_cast<std::size_t>(extent) +
               static_cast<std::size_t>(places[i])] = 1;
    Flow made = through(
        given, axis, Constant::of_reals({count, extent}, std::move(one_each)));
    made.positive = given.positive;
    return made;
  }
  Flow flow = real(given);
  if (flow.axes[axis].size() != 1) flow = with_last(flow, axis);
  const int part = flow.axes[axis][0];
  std::map<Run, Value> same;
  std::vector<Value> parts;
  for (const Run& run : runs) {
    auto found = same.find(run);
    if (found == same.end()) {
      const bool whole = run.begin == 0 && run.end == extent;
      found = same.emplace(run, whole ? static_cast<const Value&>(flow)
                                      : add("at" + std::to_string(same.size()),
                                            {{"type", "subset"},
                                             {"axis", part},
                                             {"begin", run.begin},
                                             {"end", run.end}},
                                            {flow}))
                  .first;
    }
    parts.push_back(found->second);
  }
  static_cast<Value&>(flow) =
      add("", {{"type", "merge"}, {"axis", part}}, parts);
  flow.linear = nullptr;
  return flow;
}

}  // namespace dl::convert::onnx
