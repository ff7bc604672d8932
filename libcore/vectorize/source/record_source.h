// Sources: where records come from, one after the other, in a fixed order.
//
// A source cuts: it decodes nothing.  Records of files have the columns
//
//   path    below the folder, or as the operand has it: "cat/01.jpg"
//   folder  the name of the folder that holds the file: "cat"; of one beside
//           folders, "", as they are more likely the classes
//   name    "01.jpg"
//   bytes   the contents
//
// whether the file lies in a folder or in a tar archive.

#ifndef DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_
#define DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/record.h"

namespace dl::vectorize {

class Ledger;  // ledger.h

// Files that were passed over, as their names say that they are of another
// kind: how many, by the end of the name in lower case, ".heic".
using PassedOver = std::map<std::string, std::int64_t>;
// "3 files were passed over, whose names end as no picture's: 2 .heic, 1 .txt";
// "" if there are none.
std::string sentence_of(const PassedOver& files);

class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // The next record; false at the end.  What is wrong with one record alone is
  // its `problem`.
  // Throws Error: kData, kNoInput, kIo: nothing can come after it.
  virtual bool next(Record& record) = 0;

  // Rows that lie together, of which any thread may make records.
  class Rows {
   public:
    virtual ~Rows() = default;
    // The next one, in the memory of the one before; false at the end.
    // Throws Error: as RecordSource::next().
    virtual bool next(Record& record) = 0;
    virtual std::size_t bytes() const = 0;  // of their text
  };
  // Whether next_rows() gives all that next() does, each row made of no other.
  virtual bool gives_rows() const { return false; }
  // The next rows, `most` at most, in place of next(); null at the end.
  virtual std::unique_ptr<Rows> next_rows(std::int64_t most) {
    static_cast<void>(most);
    return nullptr;
  }

  virtual PassedOver passed_over() const { return {}; }
  // A sentence about rows that steps left out, at the end; or "".
  virtual std::string left_out() const { return ""; }
  // Columns that hold words, whatever these look like.
  virtual std::vector<std::string> words() const { return {}; }
  // Columns of the table that is read, in its order; none: they are not known.
  virtual std::vector<std::string> columns() const { return {}; }
};

// Ends of names in lower case, with their dot, of the files that are wanted.
// A name without a dot, and an operand, is wanted whatever it is called.
using Suffixes = std::span<const std::string_view>;
bool has_suffix(std::string_view name, Suffixes wanted);
// The end of a name in lower case, ".jpg"; "" without a dot.
std::string suffix_of(std::string_view name);

// A file's record, but for what is to be read.
Record record_of_file(std::string_view path);

// A column that a recipe takes, or, as "jpg;png", one of several.
struct WantedColumn {
  std::string name;
  std::string by;  // "'r.json': tensors.labels"
};
// Throws Error: code, `source`, which has these columns, lacks one.
void check_columns(const std::vector<WantedColumn>& wanted,
                   const std::vector<std::string>& columns,
                   const std::string& source, Code code);

// The inputs of a run.
struct Inputs {
  // Folders with all below them, files, tar archives (packed by gzip, zstd or
  // not), "-" and "pipe:COMMAND", which give a tar archive.
  std::vector<std::string> operands;
  // A file of names of more of them, "-" for standard input; "": none.
  std::string list = {};
  char separator = '\n';  // behind each name of the list
  // Files that will be written: no name of the list may be one of them, or a
  // folder that would have one more picture by it.
  std::vector<std::string> outputs = {};
  // Passes over those that were taken before; or none.
  Ledger* ledger = nullptr;
  // How often a command that failed is started again, and who is told.
  std::int64_t retries = 0;
  Log log = {};
  // Told of files whose byte order mark says how they are encoded; or none.
  Log tell_encoding = {};
  // The columns that tables must have.
  std::vector<WantedColumn> wanted = {};
  // The encoding of text, in place of the recipe's; "": that.
  std::string encoding = {};
  // A byte order mark that says another encoding than the recipe is right, as
  // in a later table than that for which the recipe was made.
  bool mark_wins = false;
};
std::unique_ptr<RecordSource> open_files(Inputs inputs, Suffixes wanted);

// Files of these inputs that stand together and have one name up to its first
// dot, as records with a column for each suffix in lower case, and "key", that
// name; and where "json.a" is wanted, with columns for what their .json has.
std::unique_ptr<RecordSource> open_webdataset(Inputs inputs);

// The column of a table's record that is its place, "a.csv:17".
inline constexpr std::string_view kPlaceColumn = "file:line";

// Records of files with more columns: those that a CSV table with a header has
// beside the first one, which names a file by its path or its name.  A file
// without a row is a bad record.  The table is kept in memory.  wanted: of
// files and table together. Throws Error: kNoInput, kData.
std::unique_ptr<RecordSource> with_table(
    std::unique_ptr<RecordSource> source, const std::string& table,
    const std::vector<WantedColumn>& wanted);
// The columns of a file's record.
std::vector<std::string> columns_of_files();

// The rows of CSV files, as records with a column for each of theirs, called as
// the header of the file has it or by its number, and "file:line", the place of
// the row.
// Throws Error: kData, a file lacks a column that is wanted.
std::unique_ptr<RecordSource> open_csv_source(Inputs inputs,
                                              const RecipeSettings& settings);

// For a file that is to be written.
// Throws Error: kUsage, it lies in a folder among the operands and would be one
// of its pictures.
void refuse_picture_of(const std::string& output,
                       const std::vector<std::string>& operands);

// The rows of a query, "query", or of a table, "table", of files of SQLite.
// Throws Error: kUsage, kNoInput, kData.
std::unique_ptr<RecordSource> open_sqlite(Inputs inputs,
                                          const RecipeSettings& settings);
// Throws Error: kNoInput, kIo.
bool is_sqlite(const std::string& file);

// The rows of ARFF, and whether a file is one, by its first lines.
std::unique_ptr<RecordSource> open_arff(Inputs inputs,
                                        const RecipeSettings& settings);
// Throws Error: kNoInput, kIo, kData.
bool is_arff(const std::string& file, const std::string& encoding);

// The lines of files whose columns have the widths "widths".
std::unique_ptr<RecordSource> open_fixed_width(Inputs inputs,
                                               const RecipeSettings& settings);

// The lines of JSON Lines, as records with a column for each value that an
// object has, "a.b" for one within another, and "file:line".
std::unique_ptr<RecordSource> open_json_lines(Inputs inputs,
                                              const RecipeSettings& settings);
// Adds a value of JSON as a column, and those within an object as "name.key".
// Throws Error: kData, a column is there already.
void add_json_columns(Record& record, const std::string& name,
                      const Json& value);
// "a.csv:17", of an input as messages call it.
std::string place_of(std::string_view input, std::int64_t line);

// The files below a folder, each folder's in byte order of their names.  Links
// are followed, but for those that lead back to a folder that they are in.
// ledger: as of Inputs.
std::unique_ptr<RecordSource> open_folder(const std::string& path,
                                          Suffixes wanted, Ledger* ledger);

// The files of a tar archive, in its order: ustar, pax, GNU and V7.
std::unique_ptr<RecordSource> open_tar(std::unique_ptr<io::Source> source,
                                       Suffixes wanted);
// Whether what a file begins with is a tar archive's.
constexpr std::size_t kTarBlock = 512;
bool is_tar(std::span<const std::byte> start);
// Whether it would be one, but for the checksum of its first header.
bool is_damaged_tar(std::span<const std::byte> start);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_SOURCE_RECORD_SOURCE_H_
