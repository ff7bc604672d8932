// The columns that a source must have.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

void check_columns(const std::vector<WantedColumn>& wanted,
                   const std::vector<std::string>& columns,
                   const std::string& source, Code code) {
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  for (const WantedColumn& column : wanted) {
    // A name with a semicolon may be one, or several.
    if (is_there(column.name) ||
        std::ranges::any_of(split(column.name, ';'), is_there))
      continue;
    constexpr std::size_t kMost = 10;
    std::string known;
    for (std::size_t i = 0; i < std::min(columns.size(), kMost); ++i)
      known += (i == 0 ? "" : ", ") + in_quotes(columns[i]);
    if (columns.size() > kMost) known += ", ...";
    const std::string near = nearest(column.name, columns);
    throw Error{code,
                source + " has no column " + in_quotes(column.name) +
                    ", wanted by " + column.by + "; " +
                    (near.empty() ? "it has " + known
                                  : "did you mean " + in_quotes(near) + "?")};
  }
}

}  // namespace dl::vectorize
