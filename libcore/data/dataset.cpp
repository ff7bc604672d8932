#include "libcore/data/dataset.h"

#include <cstring>

#include "libcore/base/error.h"

namespace dl::data {
namespace {

std::size_t row_bytes(const tensor::Tensor& t) {
  return static_cast<std::size_t>(t.shape().without_first().elements()) *
         tensor::size_of(t.dtype());
}

}  // namespace

std::int64_t DataSet::examples() const {
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
  throw Error{Code::kData, "there is no tensor '" + name + "'"};
}

DataSet DataSet::slice(std::int64_t begin, std::int64_t end) const {
  DataSet part;
  for (const auto& [name, t] : tensors)
    part.tensors.emplace(name, t.rows(begin, end));
  return part;
}

void DataSet::check() const {
  for (const auto& [name, t] : tensors)
    if (t.empty() || t.shape().rank() == 0)
      throw Error{Code::kData, "tensor '" + name + "' has no dimension"};
  const std::int64_t n = examples();
  if (n == 0) throw Error{Code::kData, "there is no example"};
  for (const auto& [name, t] : tensors)
    if (t.shape()[0] != n)
      throw Error{Code::kData, "tensor '" + name + "' has " +
                                   std::to_string(t.shape()[0]) +
                                   " examples, but '" + tensors.begin()->first +
                                   "' has " + std::to_string(n)};
}

void copy_example(DataSet& target, std::int64_t to, const DataSet& source,
                  std::int64_t from) {
  require(target.tensors.size() == source.tensors.size(),
          "examples of different data sets are mixed");
  auto in = source.tensors.begin();
  for (auto& [name, out] : target.tensors) {
    const std::size_t n = row_bytes(out);
    require(in->first == name && n == row_bytes(in->second) &&
                to < out.shape()[0] && from < in->second.shape()[0],
            "examples of different data sets are mixed");
    if (n > 0)
      std::memcpy(
          out.bytes().data() + static_cast<std::size_t>(to) * n,
          in->second.bytes().data() + static_cast<std::size_t>(from) * n, n);
    ++in;
  }
}

DataSet make_like(const DataSet& like, std::int64_t n) {
  DataSet set;
  for (const auto& [name, t] : like.tensors)
    set.tensors.emplace(
        name,
        tensor::Tensor(t.dtype(), t.shape().without_first().with_first(n)));
  return set;
}

}  // namespace dl::data
