#include "libcore/vectorize/label_files.h"

#include <filesystem>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/sequence_cut.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {

std::string LabelFiles::file_of(const std::string& folder,
                                const std::string& input) {
  return (std::filesystem::path(folder) /
          std::filesystem::path(input).filename())
      .string();
}

LabelFiles::LabelFiles(const std::vector<std::string>& inputs,
                       const ReaderOptions& options, const CsvOptions& csv)
    : csv_(csv), regression_(options.regression), classes_(options.classes) {
  if (SequenceCut(csv.sequence).way != SequenceCut::kFile)
    bad_usage("--label-files is for --sequence file:");
  for (const std::string& input : inputs)
    if (!io::names_file(input))
      bad_usage("--label-files wants files, whose names its own have, got " +
                in_quotes(input));
  if (csv_.label.empty()) csv_.label = "1";
  const CsvTable table = table_of(inputs.at(0));
  const std::vector<std::size_t> columns = columns_of(table);
  if (csv.label.empty() && table.names().size() > 1)
    bad_usage("--label-files: " + table.name() + " has " +
              std::to_string(table.names().size()) +
              " columns: --label COLUMN names that of the label");
  targets_ = std::ssize(columns);
  if (!regression_ && targets_ > 1)
    bad_usage("--label: a class is one column; several go with --regression");
  if (table.has_header())
    for (const std::size_t column : columns)
      names_.push_back(table.names()[column]);
}

CsvTable LabelFiles::table_of(const std::string& input) const {
  const std::string file = file_of(csv_.label_files, input);
  std::error_code none;
  if (std::filesystem::is_fifo(file, none))  // nobody might ever write to it
    bad_data(in_quotes(file) + " is a named pipe: want a file");
  return CsvTable({file}, {csv_.delimiter, csv_.header, csv_.encoding});
}

std::vector<std::size_t> LabelFiles::columns_of(const CsvTable& table) const {
  std::vector<std::size_t> columns;
  for (const std::string& word : split_list(csv_.label, "--label"))
    columns.push_back(table.find(word, "--label", true));
  return columns;
}

FileLabels LabelFiles::read(const std::string& input) {
  CsvTable table = table_of(input);
  const std::vector<std::size_t> columns = columns_of(table);
  FileLabels labels;
  labels.name = table.name();
  for (InputBlock block; table.cut(block, kMaxColumns);) {
    CsvRows row(block, block.delimiter);
    for (; row.next(); ++labels.rows) {
      if (row.size() != table.names().size())
        bad_data(row.place() + ": has " + std::to_string(row.size()) +
                 " columns, want " + std::to_string(table.names().size()));
      for (const std::size_t column : columns) {
        const std::string_view text = csv_field(row, column);
        double number = 0;
        tensor::Tensor one(tensor::DType::kF32, {1});
        if (text.empty())
          bad_data(table.place(row, column) + "the label is missing");
        if (!regression_) {
          const std::int64_t index = classes_.index(text);
          if (index < 0)
            bad_data(table.place(row, column) + classes_.complaint(text));
          labels.classes.push_back(static_cast<std::int32_t>(index));
        } else if (parse_number(text, number) && store(one, 0, number)) {
          labels.numbers.push_back(one.as<float>()[0]);
        } else {
          bad_data(table.place(row, column) + "want a number, got '" +
                   clipped(text) + "'");
        }
      }
    }
  }
  if (labels.rows == 0) bad_data(labels.name + ": has no rows with labels");
  return labels;
}

}  // namespace dl::vectorize
