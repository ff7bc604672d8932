// Keys of examples that a split must keep together.

#include "libcore/data/sharding/group.h"

#include <algorithm>
#include <charconv>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"

namespace dl::data {

ExampleGroup::ExampleGroup(const std::string& text, const Metadata& data) {
  const bool has_ids = data.schema.contains("id");
  by_id_ = text.starts_with("id:") || (text == "id" && has_ids);
  if (by_id_) {
    if (text.size() > 3) separator_ = text.substr(3);
    if (!has_ids || text == "id:")
      throw Error{Code::kUsage,
                  "--group " + text +
                      (has_ids ? ": want id, or id:SEPARATOR"
                               : ": the examples have no ids; dl-preprocess "
                                 "--id gives them some")};
    return;
  }
  const auto features = data.schema.find("features");
  const auto name = std::ranges::find(data.columns, text);
  if (features != data.schema.end() && features->second.shape.rank() > 0)
    columns_ = features->second.shape.back();
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (name != data.columns.end())
    column_ = name - data.columns.begin();
  else if (error == std::errc{} && rest == end && number >= 1 &&
           number <= columns_)
    column_ = number - 1;
  else
    columns_ = 0;
  if (columns_ > 0) return;
  const std::string near = nearest(text, data.columns);
  throw Error{Code::kUsage,
              "--group: the features have no column " + in_quotes(text) +
                  (!near.empty() ? "; did you mean '" + displayed(near) + "'?"
                   : has_ids     ? "; --group id is by the ids"
                                 : "")};
}

std::string ExampleGroup::of(const DataSet& set, std::int64_t i) const {
  if (!by_id_) {
    const tensor::Tensor& features = set.get("features");
    const std::int64_t size = features.elements() / set.examples();
    double value = features.value(i * size + column_);
    if (value == 0) value = 0;  // -0
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  std::string id = id_text(set.get("id"), i);
  if (separator_.empty()) return id;
  const std::size_t end = id.find(separator_);
  if (end == std::string::npos)
    throw Error{Code::kData, "--group: the id " + in_quotes(id) + " has no " +
                                 in_quotes(separator_)};
  return id.substr(0, end);
}

}  // namespace dl::data
