// The meaning of the columns of a table, and how a row of it gets into tensors.

#ifndef DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_
#define DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/sequence_cut.h"

namespace dl::vectorize {

// Rule for a field that is empty or says NA.
struct MissingRule {
  enum Kind { kFail, kSkip, kFill } kind = kFail;
  double value = 0;
  std::set<std::string, std::less<>> words;
  bool has_numbers = false;  // among the words, but for NaN

  explicit MissingRule(const CsvOptions& csv);  // Throws Error: kUsage.
};

class CsvFields {
 public:
  // All must outlive this object.  Throws Error: kUsage, a column that an
  // option names is not there; none is left to be features; ...; kData, two
  // features or two labels have one name.
  CsvFields(const CsvTable& table, const ReaderOptions& options,
            const CsvOptions& csv);

  // Takes the rows of a block in: each is an example of the block's set, or
  // left out.  Several threads may call it.
  // Throws Error: kData, as CsvRows::next().
  void parse(ParsedBlock& parsed) const;

  bool has_classes() const { return !labels_.empty() && !options_.regression; }
  bool learns_classes() const { return has_classes() && !classes_.fixed(); }
  // As BlockReader::take_label().
  std::string take_label(ParsedBlock& parsed, std::int64_t number,
                         std::int32_t& label);
  // A sentence for each column in which this row or a later one is bad, where
  // `first` is what is wrong with the row.
  using NextBlock = std::function<std::optional<ParsedBlock>()>;
  std::string all_problems(ParsedBlock& parsed, std::int64_t number,
                           const std::string& first, const NextBlock& next);

  // Schema of a row, names of classes and columns.
  void describe(data::Metadata& metadata) const;
  Json recipe() const;
  // Warning for the user, when all rows are known; "": nothing.
  std::string warning() const;

 private:
  // The tensors of a block, and what is known of the row at work.
  struct Row {
    explicit Row(data::DataSet& set);
    tensor::Tensor *features, *labels, *weights, *ids;  // or null
    std::span<float> feature_values, label_values;      // if they are F32
    PartClasses classes = {};
    std::int64_t place = 0;                  // in the tensors
    std::optional<std::int32_t> label = {};  // its class, once it is known
    std::int32_t filled = 0;                 // values, by --missing fill
    bool skip = false;  // a value is missing: the row is left out
  };

  void choose_columns();
  void check_names(const std::vector<std::size_t>& columns) const;
  void choose_shape();
  bool is_whole(const CsvRows& row, ParsedBlock& parsed) const;
  bool note_cut(const CsvRows& row, ParsedBlock& parsed) const;
  // Error in the field, or ""; *skip says that it lacks a value and that such
  // rows are left out.
  std::string fields(const CsvRows& row, Row& to) const;
  // Stores what most fields are, a number that fits; false: number() has more
  // to do.
  bool is_plain_number(const CsvRows& row, Row& to, bool of_labels,
                       std::size_t i) const;
  std::string number(const CsvRows& row, Row& to, bool of_labels,
                     std::size_t i) const;
  std::string class_label(const CsvRows& row, Row& to) const;
  std::string weight(const CsvRows& row, Row& to) const;
  std::string id(const CsvRows& row, Row& to) const;
  std::string no_number(const CsvRows& row, std::size_t column,
                        bool is_label) const;
  std::string missing_name(const CsvRows& row, const std::string& what,
                           std::size_t column, bool& skip) const;
  bool names_columns(const CsvRows& row) const;  // as the row seems to
  bool is_missing(std::string_view text) const {
    return missing_.words.contains(text);
  }
  // Looks at the columns of the row that lack a sentence in `problems`.
  void add_problems(const CsvRows& row, Row& to,
                    std::map<std::size_t, std::string>& problems);
  std::string drop_hint(
      const std::map<std::size_t, std::string>& problems) const;

  void note_rounded(const CsvRows& row, std::size_t column) const;

  const CsvTable& table_;
  const ReaderOptions& options_;
  const CsvOptions& csv_;
  MissingRule missing_;
  SequenceCut cut_;
  ClassLabels classes_;
  std::vector<std::size_t> features_, labels_;
  std::optional<std::size_t> sequence_, id_, weight_;
  tensor::Shape shape_;  // of the features of a row
  Schema schema_;        // of a row
  std::int64_t id_bytes_ = 32;
  Json recipe_;
  // The first integer that was found that a double rounds, and its place.
  mutable std::mutex mutex_;
  mutable std::string rounded_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CSV_FIELDS_H_
