// Files as shards: opened from their end and read, or refused with kData.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcore/base/error.h"
#include "libcore/data/format/shard.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const int file = memfd_create("shard", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const dl::data::Shard shard("/proc/self/fd/" + std::to_string(file));
    for (std::size_t i = 0; i < shard.records().size(); ++i) shard.read(i);
  } catch (const dl::Error& e) {
    if (e.code() != dl::Code::kData) std::abort();
  }
  return 0;
}
