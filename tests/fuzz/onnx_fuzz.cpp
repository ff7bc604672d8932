// libFuzzer target: files of ONNX.  Its result must be a network, or be refused
// as a mistake in the data.

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/make.h"
#include "libcore/convert/import/onnx/pattern.h"
#include "libcore/convert/import/onnx/read.h"
#include "libcore/nn/config/config.h"

namespace {

namespace convert = dl::convert;

// Memory as a reader apart hands it back.
std::shared_ptr<const dl::io::Mapping> mapped(
    const std::vector<std::byte>& bytes) {
  void* at = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  std::memcpy(at, bytes.data(), bytes.size());
  return std::make_shared<const dl::io::Mapping>(
      std::span(static_cast<const std::byte*>(at), bytes.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  try {
    std::vector<std::byte> read;
    convert::onnx::write_graph(std::as_bytes(std::span(data, size)),
                               [&](std::span<const std::byte> bytes) {
                                 read.insert(read.end(), bytes.begin(),
                                             bytes.end());
                               });
    const convert::Archive archive = convert::open_archive(mapped(read));
    convert::onnx::Model model = convert::onnx::model_of(archive, "");
    convert::onnx::simplify(model);
    const auto result = convert::onnx::make_network(model, {});
    (void)dl::nn::parse_network(result.document.dump(), "made");
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData && e.code() != dl::Code::kUsage &&
        e.code() != dl::Code::kConfig)
      std::abort();
  }
  return 0;
}
