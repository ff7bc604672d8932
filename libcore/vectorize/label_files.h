// Labels of sequences that are files: in another folder, each in a file of the
// same name.

#ifndef DL_LIBCORE_VECTORIZE_LABEL_FILES_H_
#define DL_LIBCORE_VECTORIZE_LABEL_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/reader.h"

namespace dl::vectorize {

class CsvTable;

// The rows of one such file.
struct FileLabels {
  std::string name;                   // of the file, for messages
  std::vector<std::int32_t> classes;  // of each row, or
  std::vector<float> numbers;         // [rows, targets]
  std::int64_t rows = 0;
};

class LabelFiles {
 public:
  // csv.label_files: the folder; csv.label: its columns, the only one by
  // default.  inputs: of the sequences, whose first file says the columns.
  // Throws Error: kUsage, kNoInput, kData.
  LabelFiles(const std::vector<std::string>& inputs,
             const ReaderOptions& options, const CsvOptions& csv);

  // The file that belongs to an input: "labels/7.csv" of "features/7.csv".
  static std::string file_of(const std::string& folder,
                             const std::string& input);

  // The labels of the next input, in order.
  // Throws Error: kNoInput, kData, naming file, line and column.
  FileLabels read(const std::string& input);

  std::int64_t targets() const { return targets_; }
  bool has_classes() const { return !regression_; }
  const ClassLabels& classes() const { return classes_; }
  const std::vector<std::string>& target_names() const { return names_; }

 private:
  CsvTable table_of(const std::string& input) const;
  std::vector<std::size_t> columns_of(const CsvTable& table) const;

  CsvOptions csv_;
  bool regression_;
  ClassLabels classes_;
  std::int64_t targets_ = 1;
  std::vector<std::string> names_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_LABEL_FILES_H_
