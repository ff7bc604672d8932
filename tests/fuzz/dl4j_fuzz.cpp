// libFuzzer target: configurations of Deeplearning4j, with as many parameters
// as follow a NUL behind them, and arrays of ND4J.  Its result must be a
// network, or be refused as a mistake in the data.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/model.h"
#include "libcore/convert/import/dl4j/nd4j_array.h"
#include "libcore/convert/import/dl4j/normalizer.h"

namespace {

template <typename F>
void must_refuse(const F& work) {
  try {
    work();
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData && e.code() != dl::Code::kUsage)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  must_refuse([&] {
    dl::convert::dl4j::Bytes left(bytes);
    (void)dl::convert::dl4j::read_nd4j_array(left);
  });
  must_refuse([&] { (void)dl::convert::dl4j::read_normalizer(bytes); });
  must_refuse([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto end = text.find('\0');
    dl::convert::Archive archive;
    archive.texts["configuration.json"] = text.substr(0, end);
    const std::vector<float> numbers(end == std::string::npos ? 0 : size - end);
    if (!numbers.empty())
      archive.arrays["coefficients.bin"] = {
          {static_cast<std::int64_t>(numbers.size())}, numbers};
    (void)dl::convert::dl4j::make_model(archive, {});
  });
  return 0;
}
