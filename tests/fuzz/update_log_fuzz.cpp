// Files of the update log.  A reader takes them or says kData or kProtocol, and
// what it takes is what encode_entry() writes.

#include <algorithm>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cluster/update_log.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  using namespace dl::cluster;
  const std::span<const std::byte> bytes(
      reinterpret_cast<const std::byte*>(data), size);
  try {
    UpdateLogReader reader(bytes, "'log'");
    for (;;) {
      const std::size_t before = reader.offset();
      const auto entry = reader.next();
      if (!entry) break;
      std::vector<std::byte> again;
      encode_entry(*entry, again);
      if (again.size() != reader.offset() - before) __builtin_trap();
      RunState state;
      if (entry->kind == EntryKind::kEpochEnd)
        restore_epoch_record(entry->payload, state);
      if (entry->kind == EntryKind::kStart) run_of(*entry);
    }
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kData && error.code() != dl::Code::kProtocol)
      __builtin_trap();
  }
  return 0;
}
