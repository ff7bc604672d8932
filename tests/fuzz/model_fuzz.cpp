// libFuzzer target: model files.  Anything but a whole model is refused as
// damaged input.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcore/nn/model/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const int file = memfd_create("model", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    dl::nn::load_model("/proc/self/fd/" + std::to_string(file));
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) std::abort();
  }
  return 0;
}
