// Small data sets for tests.

#ifndef DL_TESTS_UNIT_DATA_SAMPLE_H_
#define DL_TESTS_UNIT_DATA_SAMPLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/data/format/stream.h"
#include "libcore/io/memory.h"

namespace sample {

using Bytes = std::vector<std::byte>;

// n examples: features F32 [3], labels I32; values follow from `seed`.
inline dl::data::DataSet set(std::int64_t n, std::uint64_t seed) {
  using dl::tensor::DType;
  dl::tensor::Tensor x(DType::kF32, {n, 3}), y(DType::kI32, {n});
  dl::Philox random(seed, 0);
  for (float& v : x.as<float>()) v = static_cast<float>(random.uniform());
  for (std::int32_t& v : y.as<std::int32_t>())
    v = static_cast<std::int32_t>(random.below(2));
  dl::data::DataSet s;
  s.tensors.emplace("features", std::move(x));
  s.tensors.emplace("labels", std::move(y));
  return s;
}

inline dl::data::Metadata metadata() {
  dl::data::Metadata m;
  m.schema = dl::data::Metadata::schema_of(set(1, 0));
  m.classes = {"cat", "dog"};
  return m;
}

// A stream of records with these numbers of examples.
inline Bytes stream(const std::vector<std::int64_t>& records,
                    std::uint64_t seed = 0,
                    const dl::data::Metadata& m = metadata()) {
  Bytes bytes;
  dl::data::StreamWriter writer(dl::io::memory_sink(bytes));
  writer.write_metadata(m);
  for (const std::int64_t n : records) writer.write(set(n, ++seed));
  writer.close();
  return bytes;
}

inline std::vector<dl::data::DataSet> read(const Bytes& bytes) {
  dl::data::StreamReader reader(dl::io::memory_source(bytes, "'x'"));
  std::vector<dl::data::DataSet> sets;
  for (dl::data::DataSet s; reader.read(s);) sets.push_back(std::move(s));
  reader.close();
  return sets;
}

inline bool same(const dl::data::DataSet& a, const dl::data::DataSet& b) {
  if (a.tensors.size() != b.tensors.size()) return false;
  for (const auto& [name, t] : a.tensors) {
    const dl::tensor::Tensor* u = b.find(name);
    if (!u || t.dtype() != u->dtype() || !(t.shape() == u->shape()))
      return false;
    const auto p = t.bytes(), q = u->bytes();
    if (!std::equal(p.begin(), p.end(), q.begin(), q.end())) return false;
  }
  return true;
}

// The message of the kData error that f throws; "" if it throws none.
inline std::string fault_of(const std::function<void()>& f,
                            dl::Code code = dl::Code::kData) {
  try {
    f();
  } catch (const dl::Error& e) {
    return e.code() == code ? e.what() : std::string("other: ") + e.what();
  }
  return "";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sample

#endif  // DL_TESTS_UNIT_DATA_SAMPLE_H_
