// Checks and parts of DataSets.

#include "libcore/data/format/dataset.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/windows.h"

namespace dl::data {
namespace {

std::size_t row_bytes(const tensor::Tensor& t) {
  return static_cast<std::size_t>(t.shape().without_first().elements()) *
         tensor::size_of(t.dtype());
}

// Tensors that are in views alone.
std::size_t cut_as_copied(const DataSet& set) {
  return static_cast<std::size_t>(std::ranges::count_if(
      set.views,
      [&](const auto& view) { return !set.tensors.contains(view.first); }));
}

}  // namespace

std::int64_t DataSet::examples() const {
  if (!encoded.empty()) return encoded.begin()->second.examples();
  if (tensors.empty()) return 0;
  const tensor::Shape& shape = tensors.begin()->second.shape();
  return shape.rank() == 0 ? 0 : shape[0];
}

const tensor::Tensor* DataSet::find(const std::string& name) const {
  const auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

const tensor::Tensor& DataSet::get(const std::string& name) const {
  if (const tensor::Tensor* t = find(name)) return *t;
  throw Error{Code::kData, "there is no tensor '" + displayed(name) + "'"};
}

DataSet DataSet::slice(std::int64_t begin, std::int64_t end) const {
  DataSet part;
  for (const auto& [name, t] : tensors)
    part.tensors.emplace(name, t.rows(begin, end));
  for (const auto& [name, stored] : encoded)
    part.encoded.emplace(name, stored.slice(begin, end));
  part.views = views;
  return part;
}

void DataSet::check() const {
  for (const auto& [name, t] : tensors)
    if (t.empty() || t.shape().rank() == 0)
      throw Error{Code::kData,
                  "tensor " + in_quotes(name) + " has no dimension"};
  const std::int64_t n = examples();
  if (n == 0) throw Error{Code::kData, "there is no example"};
  for (const auto& [name, t] : tensors)
    if (t.shape()[0] != n)
      throw Error{Code::kData,
                  "tensor " + in_quotes(name) + " has " +
                      std::to_string(t.shape()[0]) + " examples, but " +
                      in_quotes(encoded.empty() ? tensors.begin()->first
                                                : encoded.begin()->first) +
                      " has " + std::to_string(n)};
  for (const auto& [name, t] : tensors)
    if (t.shape().elements() == 0)
      throw Error{Code::kData, "tensor " + in_quotes(name) + " of shape " +
                                   t.shape().to_string() + " has no values"};
}

bool names_example(const std::string& tensor) {
  return tensor == "id" || tensor == "index";
}

std::string id_text(const tensor::Tensor& ids, std::int64_t i) {
  const auto width = static_cast<std::size_t>(ids.shape().back());
  const auto all = ids.as<std::uint8_t>();
  const auto row = all.subspan(static_cast<std::size_t>(i) * width, width);
  return {row.begin(), std::find(row.begin(), row.end(), 0)};
}

void copy_examples(DataSet& target, std::int64_t to, const DataSet& source,
                   std::span<const std::uint32_t> from) {
  constexpr const char* kMixed = "examples of different data sets are mixed";
  require(
      target.tensors.size() == source.tensors.size() + cut_as_copied(source),
      kMixed);
  const auto count = static_cast<std::int64_t>(from.size());
  for (auto& [name, out] : target.tensors) {
    const std::size_t n = row_bytes(out);
    require(to + count <= out.shape()[0], kMixed);
    auto row = out.bytes().subspan(static_cast<std::size_t>(to) * n);
    const auto in = source.tensors.find(name);
    if (in == source.tensors.end()) {
      const auto view = source.views.find(name);
      require(view != source.views.end() && out.dtype() == view->second.dtype &&
                  out.shape().without_first() == view->second.shape,
              kMixed);
      const Encoded& series = source.encoded.at(kSeriesName);
      for (const std::uint32_t example : from) {
        cut_window(series, view->second, example, row.first(n));
        row = row.subspan(n);
      }
      continue;
    }
    require(n == row_bytes(in->second), kMixed);
    const std::byte* rows = in->second.bytes().data();
    std::byte* place = row.data();
    const auto examples = static_cast<std::uint64_t>(in->second.shape()[0]);
    for (const std::uint32_t example : from) {
      require(example < examples, "an example outside its record");
      if (n > 0) std::memcpy(place, rows + std::size_t{example} * n, n);
      place += n;
    }
  }
}

void copy_example(DataSet& target, std::int64_t to, const DataSet& source,
                  std::int64_t from) {
  require(std::in_range<std::uint32_t>(from), "an example outside its record");
  const auto example = static_cast<std::uint32_t>(from);
  copy_examples(target, to, source, {&example, 1});
}

DataSet make_like(const DataSet& like, std::int64_t n) {
  DataSet set;
  make_like(set, like, n);
  return set;
}

void make_like(DataSet& set, const DataSet& like, std::int64_t n) {
  std::erase_if(set.tensors, [&](const auto& tensor) {
    return !like.tensors.contains(tensor.first) &&
           !like.views.contains(tensor.first);
  });
  set.encoded.clear();
  set.views.clear();
  for (const auto& [name, view] : like.views)
    set.tensors[name].resize(view.dtype, view.shape.with_first(n));
  for (const auto& [name, t] : like.tensors)
    set.tensors[name].resize(t.dtype(),
                             t.shape().without_first().with_first(n));
}

}  // namespace dl::data
