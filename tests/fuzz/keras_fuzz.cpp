// libFuzzer target: configurations of Keras models.  Its result must be a
// network, or be refused as a mistake in the data.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libcore/base/error.h"
#include "libcore/convert/import/keras/model.h"
#include "libcore/nn/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  dl::convert::keras::Result result;
  try {
    dl::convert::keras::Source source;
    source.model = dl::parse_json(text, "fuzz", dl::Code::kData);
    if (source.model.is_object() && source.model.contains("compile_config"))
      source.training = source.model["compile_config"];
    result = dl::convert::keras::make_network(source);
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData && e.code() != dl::Code::kUsage)
      std::abort();
    return 0;
  }
  try {
    (void)dl::nn::parse_network(result.document.dump(), "made");
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kConfig) std::abort();
  }
  return 0;
}
