#include "libcore/vectorize/table/number_columns.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

constexpr double kMostNumber = std::numeric_limits<float>::max();

WordSet words_of(const RecipeSettings& settings, const char* key) {
  return settings.has(key) ? WordSet(settings.texts(key)) : WordSet();
}

}  // namespace

NumberColumns::NumberColumns(std::vector<std::string> columns,
                             const RecipeSettings& settings)
    : columns_(std::move(columns)),
      places_(columns_.begin(), columns_.end()),
      words_(settings),
      true_(words_of(settings, "true")),
      false_(words_of(settings, "false")) {
  for (const std::string& word : true_)
    if (false_.contains(word))
      bad_config("true and false both have " + in_quotes(word));
  for (const WordSet& words : {words_.words(), true_, false_})
    for (const std::string& word : words)
      if (double value = 0; parse_number(word, value)) has_number_words_ = true;
  for (std::size_t c = 0; c < starts_word_.size(); ++c) {
    const char start = static_cast<char>(c);
    starts_word_[c] = words_.may_begin(start) || true_.may_begin(start) ||
                      false_.may_begin(start);
  }
}

std::optional<double> NumberColumns::value(const Record& record,
                                           std::size_t i) const {
  const double* known = places_[i].number_of(record);
  if (known != nullptr && !has_number_words_ && std::abs(*known) <= kMostNumber)
    return *known;
  return value_of(trim(places_[i].of(record)), i);
}

std::optional<double> NumberColumns::value_of(std::string_view text,
                                              std::size_t i) const {
  double value = 0;
  // Nearly all values are numbers, which no word begins as.
  if (!text.empty() && !starts_word_[static_cast<unsigned char>(text[0])] &&
      parse_number(text, value) && std::abs(value) <= kMostNumber)
    return value;
  if (words_.contain(text)) return std::nullopt;
  if (true_.contains(text)) return 1;
  if (false_.contains(text)) return 0;
  if (!parse_number(text, value) && !parse_truth(text, value))
    bad_data("column " + in_quotes(columns_[i]) + ": want a number, got '" +
             clipped(text) + "'");
  if (std::isnan(value) && words_.are_known()) return std::nullopt;
  if (!(std::abs(value) <= kMostNumber))
    bad_data("column " + in_quotes(columns_[i]) + ": " +
             does_not_fit(text, tensor::DType::kF32));
  return value;
}

}  // namespace dl::vectorize
