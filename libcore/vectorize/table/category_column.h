// A column of a record that names a category.

#ifndef DL_LIBCORE_VECTORIZE_TABLE_CATEGORY_COLUMN_H_
#define DL_LIBCORE_VECTORIZE_TABLE_CATEGORY_COLUMN_H_

#include <string>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/record.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/pattern.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

class CategoryColumn {
 public:
  explicit CategoryColumn(const RecipeSettings& settings)
      : column_(settings.text("from")),
        pattern_(settings),
        missing_(settings) {}

  const std::string& name() const { return column_.name(); }
  // Whether value() is the text as it stands, unless it is missing or wrong.
  bool is_plain() const { return pattern_.is_none(); }
  std::string_view text(const Record& record) const {
    return column_.of(record);
  }
  bool is_missing(std::string_view text) const {
    return missing_.contain(text);
  }
  // Empty: it is missing.  Throws Error: kData.
  std::string value(const Record& record) const {
    return value_of(column_.of(record));
  }
  std::string value_of(std::string_view whole) const {
    if (missing_.contain(whole)) return "";
    std::string text = pattern_.part_of(whole);
    if (missing_.contain(text)) return "";
    if (const std::string why = not_text("the category", text); !why.empty())
      bad_data("column " + in_quotes(name()) + ": " + why);
    return text;
  }

 private:
  ColumnOfRecords column_;
  Pattern pattern_;
  MissingWords missing_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_TABLE_CATEGORY_COLUMN_H_
