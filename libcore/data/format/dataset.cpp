// Checks and parts of DataSets.

#include "libcore/data/format/dataset.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {
namespace {

std::size_t row_bytes(const tensor::Tensor& t) {
  return static_cast<std::size_t>(t.shape().without_first().elements()) *
         tensor::size_of(t.dtype());
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
  require(target.tensors.size() == source.tensors.size(),
          "examples of different data sets are mixed");
  const auto count = static_cast<std::int64_t>(from.size());
  auto in = source.tensors.begin();
  for (auto& [name, out] : target.tensors) {
    const std::size_t n = row_bytes(out);
    require(in->first == name && n == row_bytes(in->second) &&
                to + count <= out.shape()[0],
            "examples of different data sets are mixed");
    const std::byte* rows = in->second.bytes().data();
    std::byte* row = out.bytes().data() + static_cast<std::size_t>(to) * n;
    const auto examples = static_cast<std::uint64_t>(in->second.shape()[0]);
    for (const std::uint32_t example : from) {
      require(example < examples, "an example outside its record");
      if (n > 0) std::memcpy(row, rows + std::size_t{example} * n, n);
      row += n;
    }
    ++in;
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
  const bool same_names = std::ranges::equal(
      set.tensors, like.tensors,
      [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!same_names) set.tensors.clear();
  set.encoded.clear();
  for (const auto& [name, t] : like.tensors)
    set.tensors[name].resize(t.dtype(),
                             t.shape().without_first().with_first(n));
}

}  // namespace dl::data
