// The vectorizer bins: the interval that a number lies in, as scikit-learn's
// KBinsDiscretizer has it.

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/table/missing.h"
#include "libcore/vectorize/table/number_columns.h"
#include "libcore/vectorize/table/number_counts.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {
namespace {

constexpr std::string_view kBinStrategies[] = {"quantile", "uniform"};
constexpr std::string_view kBinForms[] = {"one_hot", "ordinal"};
constexpr std::string_view kMissingBins[] = {"fail", "own"};

bool has_own_bin(const RecipeSettings& settings) {
  return settings.has("missing") && settings.text("missing") == "own";
}

class BinsVectorizer : public Vectorizer {
 public:
  explicit BinsVectorizer(const RecipeSettings& settings)
      : columns_({settings.text("from")}, settings),
        is_one_hot_(settings.text("encode") == "one_hot"),
        has_own_(has_own_bin(settings)) {
    if (!settings.has("edges"))
      bad_config(
          "the edges of bins are to be learnt: dl-preprocess fit RECIPE "
          "DATA");
    edges_ = settings.numbers("edges");
    if (edges_.size() < 2 ||
        std::ranges::adjacent_find(edges_, std::ranges::greater_equal{}) !=
            edges_.end())
      bad_config("edges want two numbers or more, that ascend");
  }

  data::Field field() const override {
    return {tensor::DType::kF32, {is_one_hot_ ? places() : 1}};
  }

  void put(const Record& record, std::int64_t, Workspace*,
           std::span<std::byte> out) const override {
    const std::optional<double> value = columns_.value(record, 0);
    if (!value && !has_own_)
      bad_data("column " + in_quotes(columns_.columns()[0]) +
               ": a value is missing (\"missing\" of the recipe lets it pass)");
    const std::size_t bin = value ? bin_of(*value) : edges_.size() - 1;
    std::ranges::fill(out, std::byte{0});
    const float number = is_one_hot_ ? 1 : static_cast<float>(bin);
    std::memcpy(out.data() + (is_one_hot_ ? bin * sizeof number : 0), &number,
                sizeof number);
  }

  void describe(data::About& about, bool of_labels) const override {
    std::vector<std::string>& names = of_labels ? about.targets : about.columns;
    const std::string& column = columns_.columns()[0];
    if (!is_one_hot_) return names.push_back(column + "=bin");
    for (std::size_t i = 0; i + 1 < edges_.size(); ++i)
      names.push_back(column + "=" + dump_json(edges_[i]) + ".." +
                      dump_json(edges_[i + 1]));
    if (has_own_) names.push_back(missing_name(column));
  }

 private:
  std::int64_t places() const {
    return std::ssize(edges_) - 1 + (has_own_ ? 1 : 0);
  }
  // The first and the last one have all beyond them.
  std::size_t bin_of(double value) const {
    const auto inner = std::span(edges_).subspan(1, edges_.size() - 2);
    return static_cast<std::size_t>(std::ranges::upper_bound(inner, value) -
                                    inner.begin());
  }

  NumberColumns columns_;
  bool is_one_hot_, has_own_;
  std::vector<double> edges_;
};

class BinsLearner : public Learner {
 public:
  explicit BinsLearner(const RecipeSettings& settings)
      : columns_({settings.text("from")}, settings),
        bins_(settings.integer("bins")),
        is_uniform_(settings.text("strategy") == "uniform") {}

  void see(const Record& record) override {
    if (const auto value = columns_.value(record, 0)) counts_.add(*value);
  }
  Json state() const override { return counts_.state(); }
  void merge(const JsonView& state, std::int64_t records) override {
    counts_.merge(state, records);
  }

  // Bins without width, of numbers that come again, are none.
  void finish(Json& given) const override {
    if (counts_.count() == 0)
      bad_data("column " + in_quotes(columns_.columns()[0]) +
               " has no values to learn from");
    constexpr double kLeastWidth = 1e-8;
    Json edges = Json::array();
    double last = -std::numeric_limits<double>::infinity();
    for (const double edge : all_edges()) {
      if (!(edge - last > kLeastWidth)) continue;
      edges.push_back(edge);
      last = edge;
    }
    if (edges.size() < 2)
      bad_data("column " + in_quotes(columns_.columns()[0]) +
               " has one value in all rows, which makes no bins");
    given["edges"] = edges;
  }

 private:
  std::vector<double> all_edges() const {
    const std::vector<double> shares =
        even_shares(static_cast<std::size_t>(bins_));
    if (!is_uniform_) return counts_.quantiles(shares);
    std::vector<double> edges;
    edges.reserve(shares.size());
    for (const double share : shares)
      edges.push_back(counts_.min() + (counts_.max() - counts_.min()) * share);
    return edges;
  }

  NumberColumns columns_;
  std::int64_t bins_;
  bool is_uniform_;
  NumberCounts counts_;
};

}  // namespace

extern const VectorizerType bins_vectorizer;
const VectorizerType bins_vectorizer = {
    .name = "bins",
    .words =
        "The interval that a number lies in, which a fit finds: a row of zeros "
        "with a one in its place, as F32 [bins], or its number.",
    .keys = {{.name = "from", .fallback = "", .doc = "The column."},
             {.name = "bins",
              .kind = KeyKind::kInteger,
              .fallback = "5",
              .doc = "The number of bins; there are fewer where several would "
                     "have the same edges.",
              .low = 2,
              .high = 4096},
             {.name = "strategy",
              .kind = KeyKind::kOneOf,
              .fallback = "\"quantile\"",
              .doc = "*quantile*, as many numbers in each; *uniform*, all of "
                     "one width.",
              .words = kBinStrategies},
             {.name = "encode",
              .kind = KeyKind::kOneOf,
              .fallback = "\"one_hot\"",
              .doc = "*one_hot*, the row; *ordinal*, the number from 0 on, as "
                     "F32 [1].",
              .words = kBinForms},
             {.name = "missing",
              .kind = KeyKind::kOneOf,
              .doc = "A missing number: *fail*, the default, the record is "
                     "bad; *own*, it has a bin of its own behind them.",
              .words = kMissingBins},
             kNaKey,
             {.name = "edges",
              .kind = KeyKind::kNumbers,
              .doc = "The edges that a fit found: that of a bin and the next "
                     "one belongs to the next one, and what lies beyond all to "
                     "the first or the last one."}},
    .make = [](const RecipeSettings& settings,
               const std::vector<std::string>&) -> std::unique_ptr<Vectorizer> {
      return std::make_unique<BinsVectorizer>(settings);
    },
    .fit = [](const RecipeSettings& settings) -> std::unique_ptr<Learner> {
      if (settings.has("edges")) return nullptr;
      return std::make_unique<BinsLearner>(settings);
    }};

}  // namespace dl::vectorize
