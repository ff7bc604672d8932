// From a record of a series to the numbers of its row, and the tensors that
// windows of these rows have.

#ifndef DL_LIBCORE_VECTORIZE_SERIES_ROW_MAKER_H_
#define DL_LIBCORE_VECTORIZE_SERIES_ROW_MAKER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/table/dates.h"

namespace dl::vectorize {

// The form of a column's numbers, which decides what is made of several rows.
enum class RowColumn {
  kNumber,    // may be averaged; NaN is a missing one
  kOther,     // as those of a category: of several rows the last counts
  kCalendar,  // follows from the time alone
  kLag        // follows from a row before
};

// A column with the numbers that another one has so many rows before.
struct LagColumn {
  std::size_t column, of;
  std::int64_t rows;
};

class RowMaker {
 public:
  // classes: known ones, by tensor.  labels: whether they are wanted.
  // Throws Error: kConfig.
  RowMaker(const Recipe& recipe, const SeriesSettings& settings,
           const std::map<std::string, std::vector<std::string>>& classes,
           bool labels);

  std::size_t width() const { return columns_.size(); }
  const std::vector<RowColumn>& columns() const { return columns_; }
  // Columns of what is to be predicted, one for each target, where these are
  // numbers; of those that are features as well the same.
  const std::vector<std::size_t>& targets() const { return targets_; }
  const std::vector<std::string>& target_names() const { return names_; }
  const std::vector<LagColumn>& lags() const { return lags_; }
  // Columns that a series has one value of, with their names.
  std::vector<std::pair<std::size_t, std::string>> fixed() const;

  // The numbers of a record but for those of the calendar and of lags.
  // Throws Error: kData, without the record's name.
  void put(const Record& record, std::span<float> row);
  void put_calendar(Time time, std::span<float> row) const;

  // Schema of the windows of such rows, and names of columns and classes.
  data::Metadata metadata() const;

 private:
  struct Part {
    std::unique_ptr<Vectorizer> vectorizer;
    std::unique_ptr<Vectorizer::Workspace> workspace;
    // For each of its numbers the column of the row.
    std::vector<std::size_t> columns;
    bool is_calendar = false;
    tensor::DType dtype = tensor::DType::kF32;
  };
  struct Made {
    std::string name;
    std::vector<Part> parts;
    data::About about;
    std::vector<std::size_t> lags = {};  // columns behind those of the parts
    std::vector<std::int64_t> columns() const;
  };
  void make(const RecipeTensor& tensor, RecipeFrom from);
  void find_targets(const Recipe& recipe);
  void make_part(const RecipePart& part, RecipeFrom from, Made& made);
  void make_lags();
  data::Field field_of(const Made& made) const;
  void put_part(Part& part, const Record& record, std::int64_t seen,
                std::span<float> row) const;

  SeriesSettings settings_;
  std::map<std::string, std::vector<std::string>> classes_;
  std::vector<Made> tensors_;
  std::vector<RowColumn> columns_;
  std::vector<std::size_t> targets_;
  std::vector<std::string> names_;
  std::vector<LagColumn> lags_;
  // Columns that several tensors may have.
  std::map<std::string, std::size_t> numbers_;
  mutable std::vector<std::byte> buffer_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SERIES_ROW_MAKER_H_
