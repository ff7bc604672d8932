// The end of a run of dl-preprocess, as it tells it.

#ifndef DL_TOOLS_DL_PREPROCESS_REPORT_H_
#define DL_TOOLS_DL_PREPROCESS_REPORT_H_

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/number_format.h"
#include "libcore/cli/tool.h"
#include "libcore/vectorize/reader.h"
#include "tools/dl-preprocess-options.h"
#include "tools/dl-preprocess-outputs.h"

// end: behind the number of bad records.
inline void report_left_out(const dl::vectorize::BadRecords& bad,
                            const char* end) {
  auto say = [](dl::Level level, const std::string& line) {
    dl::cli::log()(level, line);
  };
  auto count = [&](std::int64_t n, const char* one, const char* what) {
    if (n > 0) say(dl::Level::kInfo, dl::counted(n, one) + what);
  };
  count(bad.skipped(), "row", " with missing values left out");
  count(bad.filled(), "missing value", " filled in");
  count(bad.skipped_sequences(), "sequence", " longer than --steps left out");
  count(bad.truncated_sequences(), "sequence",
        " longer than --steps truncated");
  if (bad.examples().empty()) return;
  say(dl::Level::kWarning, dl::counted(bad.count(), "bad record") + end);
  for (const std::string& what : bad.examples()) say(dl::Level::kWarning, what);
}

// Examples by the names of shares, or of "".
using Shares = std::vector<std::pair<std::string, std::int64_t>>;

inline void report(const Args& a, const dl::vectorize::Reader& reader,
                   const dl::vectorize::BadRecords& bad, const Shares& shares) {
  const dl::vectorize::PassedOver passed_over = reader.passed_over();
  dl::Json parts = dl::Json::object();
  std::int64_t examples = 0;
  for (const auto& [name, count] : shares) {
    examples += count;
    parts[name] = count;
    if (!a.json)
      dl::cli::log()(dl::Level::kDetail,
                     std::to_string(count) + " examples" +
                         (name.empty() ? "" : " of the share " + name));
  }
  if (!a.json) {
    report_left_out(bad, " left out:");
    if (const std::string left = reader.left_out(); !left.empty())
      dl::cli::log()(dl::Level::kInfo, left);
    if (!passed_over.empty())
      dl::cli::log()(dl::Level::kInfo, dl::vectorize::sentence_of(passed_over));
    return;
  }
  dl::Json json = {{"examples", examples},
                   {"skipped", bad.skipped()},
                   {"filled", bad.filled()},
                   {"sequences_skipped", bad.skipped_sequences()},
                   {"sequences_truncated", bad.truncated_sequences()},
                   {"bad", bad.count()},
                   {"bad_examples", bad.examples()}};
  if (a.format == "images") json["passed_over"] = passed_over;
  if (has_parts(a)) json["shares"] = parts;
  std::cout << dl::dump_json(json) << '\n';
}

inline void report_up_to_date(const Args& a, std::int64_t examples,
                              const std::string& what) {
  dl::cli::log()(dl::Level::kInfo, what);
  if (a.json)
    std::cout << dl::dump_json({{"examples", examples}, {"up_to_date", true}})
              << '\n';
}

#endif  // DL_TOOLS_DL_PREPROCESS_REPORT_H_
