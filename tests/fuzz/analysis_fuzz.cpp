// Saved analyses of tables, as analyze and compare read them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/analysis/drift.h"
#include "libcore/vectorize/analysis/report.h"
#include "libcore/vectorize/analysis/table_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes,
                                      std::size_t size) {
  using dl::vectorize::TableProfile;
  constexpr std::size_t kMostValues = 1 << 16;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try {
    const dl::Json json =
        dl::parse_json(text, "fuzz", dl::Code::kData, kMostValues);
    TableProfile table =
        TableProfile::of_state(dl::JsonView(json, dl::Code::kData).at("state"));
    (void)dl::vectorize::analysis_text(analysis_of(table, ""));
    (void)dl::vectorize::drift_text(drift_of(table, table, 0.1));
    table.merge(TableProfile(table));
    (void)table.state();
  } catch (const dl::Error&) {
  }
  return 0;
}
