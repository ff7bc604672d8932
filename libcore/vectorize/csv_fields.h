// The meaning of the columns of a table, and how a row of it gets into tensors.

#ifndef DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_
#define DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/dataset.h"
#include "libcore/data/metadata.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

// Rule for a field that is empty or says NA.
struct MissingRule {
  enum Kind { kFail, kSkip, kFill } kind = kFail;
  double value = 0;
  std::set<std::string, std::less<>> words;

  explicit MissingRule(const CsvOptions& csv);  // Throws Error: kUsage.
};

class CsvFields {
 public:
  // All must outlive this object.  Throws Error: kUsage, a column that an
  // option names is not there; none is left to be features; ...; kData, two
  // features or two labels have one name.
  CsvFields(CsvTable& table, const ReaderOptions& options,
            const CsvOptions& csv, BadRecords& bad);

  // Whether the current row has the columns of the others, and says which
  // sequence it is of; else it is left out, and `bad` knows.
  bool is_whole();
  // Takes the current, whole row in.  False: it is to be left out, and `bad`
  // knows.
  // Throws Error: kData, there are more bad records than allowed; if none is,
  // with a sentence for each column in which this row or a later one is bad.
  bool parse();
  // The name of the sequence that the current, whole row is a step of.
  std::string_view sequence() const { return table_.field(*sequence_); }

  // Copies what parse() took in to place i of the tensors: a row of "features",
  // of "labels" with its weight, and of "id".
  void put_features(data::DataSet& set, std::int64_t i) const;
  void put_label(data::DataSet& set, std::int64_t i) const;
  void put_id(data::DataSet& set, std::int64_t i) const;

  // Schema of a row, names of classes and columns.
  void describe(data::Metadata& metadata) const;
  // Warning for the user, when all rows are known; "": nothing.
  std::string warning() const { return classes_.doubt(); }

 private:
  void choose_columns();
  void check_names(const std::vector<std::size_t>& columns) const;
  void choose_shape();
  // Error in the field, or ""; *skip says that it lacks a value and that such
  // rows are left out.
  std::string features(bool& skip);
  // Looks at the columns of the current row that lack a sentence in `problems`.
  void add_problems(std::map<std::size_t, std::string>& problems);
  std::string all_problems(const std::string& first);
  std::string drop_hint(
      const std::map<std::size_t, std::string>& problems) const;
  bool names_columns() const;  // as the row seems to
  std::string number(tensor::Tensor& row, std::int64_t i, std::size_t column,
                     bool& skip);
  std::string no_number(std::size_t column, bool is_label) const;
  std::string missing_name(const std::string& what, std::size_t column,
                           bool& skip) const;
  std::string class_label(bool& skip);
  std::string targets(bool& skip);
  std::string weight(bool& skip);
  std::string id();

  CsvTable& table_;
  const ReaderOptions& options_;
  const CsvOptions& csv_;
  BadRecords& bad_;
  MissingRule missing_;
  ClassLabels classes_;
  std::vector<std::size_t> features_, labels_;
  std::optional<std::size_t> sequence_, id_, weight_;
  tensor::Shape shape_;  // of the features of a row
  // The row that parse() took in: [columns], [] or [targets].
  tensor::Tensor features_row_, label_row_;
  float weight_value_ = 1;
  std::string id_text_;
  std::int64_t id_bytes_ = 32;
  std::int64_t filled_ = 0;  // values of it, by --missing fill
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_
