// Files of the update log, and the payloads of rounds, whose checksums a fuzzer
// would not get past.  A reader takes them or says kData or kProtocol, and what
// it takes is what encode_entry() writes.

#include <algorithm>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/cluster/run_dir/averaging_log.h"
#include "libcore/cluster/run_dir/update_log.h"

namespace {

using namespace dl::cluster;

void read_log(std::span<const std::byte> bytes) {
  UpdateLogReader reader(bytes, "'log'");
  for (;;) {
    const std::size_t before = reader.offset();
    const auto entry = reader.next();
    if (!entry) return;
    std::vector<std::byte> again;
    encode_entry(*entry, again);
    if (again.size() != reader.offset() - before) __builtin_trap();
    RunState state;
    if (entry->kind == EntryKind::kEpochEnd)
      restore_epoch_record(entry->payload, state);
    if (entry->kind == EntryKind::kStart) run_of(*entry);
  }
}

void read_round(std::span<const std::byte> payload) {
  LogEntry entry;
  entry.kind = EntryKind::kRound;
  entry.count = 4;
  entry.payload = payload;
  RunState state;
  state.parameters.resize(6);
  state.statistics.resize(2);
  state.updater_state.resize(3);
  apply_round(entry, state);
}

void check(void (*read)(std::span<const std::byte>),
           std::span<const std::byte> bytes) {
  try {
    read(bytes);
  } catch (const dl::Error& error) {
    if (error.code() != dl::Code::kData && error.code() != dl::Code::kProtocol)
      __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data,
                                      std::size_t size) {
  const std::span<const std::byte> bytes(
      reinterpret_cast<const std::byte*>(data), size);
  check(read_log, bytes);
  check(read_round, bytes);
  return 0;
}
