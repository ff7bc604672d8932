// make-dataset N [RECORD [SEED [KIND]]] - a small DataSet stream for tests
// make-dataset FILE.safetensors         - one of these tensors
//
// N examples in records of RECORD (default 4): features F32 [3] that follow
// from SEED and the example's number, labels I32 below 3, and an example's
// number in column 0.  KIND: "classes" (default, by chance), "learnable"
// (classes that column 1 tells), "regression" (F32 targets), "ids" (classes
// with id and index), "broken" (a label out of range), "unnamed" (the same
// without names of classes), "nan", "huge" (a feature of 1e30).

#include <cstdlib>
#include <iostream>
#include <limits>
#include <span>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/data/format/record.h"
#include "libcore/data/format/stream.h"
#include "libcore/io/source.h"

namespace {

using dl::tensor::DType;
using dl::tensor::Tensor;

dl::data::DataSet make(std::int64_t first, std::int64_t n, std::uint64_t seed,
                       const std::string& kind) {
  Tensor x(DType::kF32, {n, 3});
  const bool classes = kind != "regression";
  Tensor y = classes ? Tensor(DType::kI32, {n}) : Tensor(DType::kF32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    dl::Philox random(seed, static_cast<std::uint64_t>(first + i));
    float* row = x.as<float>().data() + 3 * i;
    row[0] = static_cast<float>(first + i);
    row[1] = static_cast<float>(random.uniform());
    row[2] = static_cast<float>(random.below(8)) / 8;
    if (kind == "nan" && first + i == 5)
      row[1] = std::numeric_limits<float>::quiet_NaN();
    if (kind == "huge" && first + i == 5) row[1] = 1e30F;
    const auto at = static_cast<std::size_t>(i);
    if (classes)
      y.as<std::int32_t>()[at] = static_cast<std::int32_t>(random.below(3));
    else
      y.as<float>()[at] = row[1] + row[2];
    if (kind == "learnable")
      row[1] = row[1] / 2 + static_cast<float>(y.as<std::int32_t>()[at]);
    if ((kind == "broken" || kind == "unnamed") && first + i == 5)
      y.as<std::int32_t>()[at] = 7;
  }
  dl::data::DataSet set;
  if (kind == "ids") {
    Tensor id(DType::kU8, {n, 8}), index(DType::kI64, {n});
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string text = "row-" + std::to_string(first + i);
      std::copy(text.begin(), text.end(),
                id.as<std::uint8_t>().begin() + 8 * i);
      index.as<std::int64_t>()[static_cast<std::size_t>(i)] = first + i;
    }
    set.tensors.emplace("id", std::move(id));
    set.tensors.emplace("index", std::move(index));
  }
  set.tensors.emplace("features", std::move(x));
  set.tensors.emplace("labels", std::move(y));
  return set;
}

void write(std::int64_t n, std::int64_t record, std::uint64_t seed,
           const std::string& kind) {
  dl::data::StreamWriter out(dl::io::open_sink("-"));
  dl::data::Metadata m;
  m.schema = dl::data::Metadata::schema_of(make(0, 1, seed, kind));
  m.columns = {"number", "real", "eighths"};
  const std::vector<std::string> names = {"ant", "bee", "cat"};
  if (kind == "classes" || kind == "learnable" || kind == "nan" ||
      kind == "ids")
    m.classes = names;
  out.write_metadata(m);
  for (std::int64_t at = 0; at < n; at += record)
    out.write(make(at, std::min(record, n - at), seed, kind));
  // Too late for the writer to notice; a reader must.
  if (kind == "broken") {
    m.classes = names;
    out.write_metadata(m);
  }
  out.close();
}

void write_tensors(const std::string& path) {
  const auto source = dl::io::open_source(path);
  const std::string bytes = dl::io::read_all(*source, std::size_t{256} << 20);
  const dl::data::DataSet set =
      dl::data::decode_record(std::as_bytes(std::span(bytes))).set;
  dl::data::StreamWriter out(dl::io::open_sink("-"));
  dl::data::Metadata m;
  m.schema = dl::data::Metadata::schema_of(set);
  out.write_metadata(m);
  out.write(set);
  out.close();
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, long otherwise) {
    return argc > i ? std::atol(argv[i]) : otherwise;
  };
  try {
    if (argc == 2 && std::string(argv[1]).ends_with(".safetensors"))
      write_tensors(argv[1]);
    else
      write(number(1, 10), number(2, 4),
            static_cast<std::uint64_t>(number(3, 1)),
            argc > 4 ? argv[4] : "classes");
  } catch (const dl::Error& e) {
    std::cerr << "make-dataset: " << e.what() << "\n";
    return static_cast<int>(e.code());
  }
  return 0;
}
