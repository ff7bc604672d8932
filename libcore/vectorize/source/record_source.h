// Sources: where records come from, one after the other, in a fixed order.
//
// A source cuts: it decodes nothing.  Records of files have the columns
//
//   path    below the folder, or as the operand has it: "cat/01.jpg"
//   folder  the name of the folder that holds the file: "cat"
//   name    "01.jpg"
//   bytes   the contents
//
// whether the file lies in a folder or in a tar archive.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/io/source.h"
#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/record.h"

namespace dl::vectorize {

class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // The next record; false at the end.  What is wrong with one record alone is
  // its `problem`.
  // Throws Error: kData, kNoInput, kIo: nothing can come after it.
  virtual bool next(Record& record) = 0;

  // Files that were passed over, as their names say that they are of another
  // kind.
  virtual std::int64_t passed_over() const { return 0; }
};

// Ends of names in lower case, with their dot, of the files that are wanted.
// A name without a dot, and an operand, is wanted whatever it is called.
using Suffixes = std::span<const std::string_view>;
bool has_suffix(std::string_view name, Suffixes wanted);

// A file's record, but for what is to be read.
Record record_of_file(std::string_view path);

// Operands: folders with all below them, files, tar archives (packed by gzip,
// zstd or not), "-" and "pipe:COMMAND", which give a tar archive.
std::unique_ptr<RecordSource> open_files(std::vector<std::string> operands,
                                         Suffixes wanted);

// Files of these operands that stand together and have one name up to its first
// dot, as records with a column for each suffix, and "key", that name.
std::unique_ptr<RecordSource> open_webdataset(
    std::vector<std::string> operands);

// Records of files with more columns: those that a CSV table with a header has
// beside the first one, which names a file by its path or its name.  A file
// without a row is a bad record.  The table is kept in memory.
// Throws Error: kNoInput, kData.
std::unique_ptr<RecordSource> with_table(std::unique_ptr<RecordSource> source,
                                         const std::string& table);

// The rows of CSV files, as records with a column for each of theirs, called as
// the header has it or by its number, and "file:line", the place of the row.
std::unique_ptr<RecordSource> open_csv_source(std::vector<std::string> operands,
                                              const RecipeSettings& settings);

// The files below a folder, each folder's in byte order of their names.  Links
// are followed, but for those that lead back to a folder that they are in.
std::unique_ptr<RecordSource> open_folder(const std::string& path,
                                          Suffixes wanted);

// The files of a tar archive, in its order: ustar, pax and GNU.
std::unique_ptr<RecordSource> open_tar(std::unique_ptr<io::Source> source,
                                       Suffixes wanted);
// Whether what a file begins with is a tar archive's.
constexpr std::size_t kTarBlock = 512;
bool is_tar(std::span<const std::byte> start);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_
