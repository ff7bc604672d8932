// libFuzzer target: network configurations.  A parsed document must resolve to
// a document that parses to the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  dl::nn::NetworkConfig config;
  try {
    config = dl::nn::parse_network(text, "fuzz");
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kConfig) std::abort();
    return 0;
  }
  const dl::Json resolved = to_json(config);
  const auto again = dl::nn::parse_network(resolved.dump(), "resolved");
  if (to_json(again) != resolved) std::abort();
  summarise(config, layout_of(config));
  return 0;
}
