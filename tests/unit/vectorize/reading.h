// The records of a reader, and the sentence it ends with.

#ifndef DL_TESTS_UNIT_VECTORIZE_READING_H_
#define DL_TESTS_UNIT_VECTORIZE_READING_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/vectorize/reader.h"
#include "tests/unit/vectorize/files.h"

namespace dl::test {

// All records of a reader, joined.
inline data::DataSet drain(vectorize::Reader& reader) {
  data::DataSet all;
  for (data::DataSet set; reader.read(set);) {
    set.check();
    if (all.tensors.empty()) {
      all = set;
      continue;
    }
    data::DataSet joined =
        data::make_like(all, all.examples() + set.examples());
    for (std::int64_t i = 0; i < joined.examples(); ++i)
      if (i < all.examples())
        data::copy_example(joined, i, all, i);
      else
        data::copy_example(joined, i, set, i - all.examples());
    all = std::move(joined);
  }
  return all;
}

template <typename F>
std::string complaint(F&& f, Code code = Code::kData) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "no error";
}

inline std::string idx(std::initializer_list<int> header,
                       const std::string& data) {
  std::string text;
  for (int b : header) text += static_cast<char>(b);
  return text + data;
}

inline std::vector<double> values(const tensor::Tensor& t) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < t.elements(); ++i) result.push_back(t.value(i));
  return result;
}

// The ids of examples, without their padding.
inline std::vector<std::string> ids(const data::DataSet& set) {
  const tensor::Tensor& t = set.get("id");
  const auto bytes = t.as<std::uint8_t>();
  const auto width = static_cast<std::size_t>(t.shape()[1]);
  std::vector<std::string> result;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::string id(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    result.push_back(id.substr(0, id.find('\0')));
  }
  return result;
}

}  // namespace dl::test

#endif  // DL_TESTS_UNIT_VECTORIZE_READING_H_
