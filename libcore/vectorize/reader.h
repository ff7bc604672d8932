// Readers of raw files: they give DataSets, a record at a time.
//
// A reader holds one record in memory and two blocks of its input a thread
// (engine.h), whatever the size of its input; the limits of schema.h and
// raw_input.h bound them.
//
// Where examples may be left out (bad ones, those with missing values), a
// tensor "index", I64 [n], has the number of each in the input, from 0.

#ifndef DL_LIBCORE_VECTORIZE_READER_H_
#define DL_LIBCORE_VECTORIZE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/bad_records.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

class Reader {
 public:
  virtual ~Reader() = default;

  // The next record of 1..batch examples; false at the end of the input.
  // Throws Error: kData, naming file, line or example, and column.
  virtual bool read(data::DataSet& set) = 0;

  // Schema, classes and column names; the schema is known from the start, the
  // classes may grow until read() returned false.
  virtual data::Metadata metadata() const = 0;

  // The examples of the input so far, with those that were left out.
  virtual std::int64_t examples() const = 0;

  // The bytes of it that were read; 0: not counted.
  virtual std::int64_t bytes() const { return 0; }

  // Files that are not among the examples, when read() returned false.
  virtual PassedOver passed_over() const { return {}; }
  // A sentence about rows that steps of the recipe left out, or "".
  virtual std::string left_out() const { return ""; }

  // Warning for the user, a sentence, when read() returned false; "": nothing.
  virtual std::string warning() const { return ""; }
};

// Options that the formats share.
struct ReaderOptions {
  std::int64_t batch = 256;  // examples a record, fewer if they are large
  std::string shape;         // of one example, "8,8,1"; "": as the file
  std::string dtype;         // "u8", "f32", ...; "": as fits the format
  std::string classes;       // class_labels.h
  bool regression = false;   // labels are numbers to predict
  // Length of the tensor "id", [n, id_bytes] bytes of UTF-8 padded with zeros.
  // 0: csv has 32; a raw example ends with no id.
  std::int64_t id_bytes = 0;
  int threads = 1;  // that parse
  // Form of features in the stream: of csv's sequences, padded or ragged.
  std::string store = {};
  // The part to take of `parts` parts: every parts-th block from block part - 1
  // on, each of `batch` examples at most.
  std::int64_t part = 1, parts = 1;
};

struct CsvOptions {
  std::string delimiter = ",";
  bool header = false;           // the first row names the columns
  std::string label;             // names or numbers (1 = first, -1 = last),
                                 // comma separated; "none": no labels
  std::string drop;              // columns to leave out, likewise
  std::string missing = "fail";  // fail, skip, fill:VALUE
  // Spellings of a missing value, besides "".
  std::string na = "NA,N/A,NaN,nan,NAN,null,NULL,?";
  // Rows that are the steps of an example [steps, columns] with a mask, as
  // SequenceCut has them: a column, in which neighbors have one text, file:,
  // lines:N, line:TEXT.  "": a row is an example.
  std::string sequence;
  std::string label_files;      // folder with the labels of each file; or ""
  std::string align;            // of labels per step: start, end; "": all have
  std::int64_t steps = 0;       // of the longest sequence
  std::string longer = "fail";  // those that are longer: fail, truncate, skip
  bool per_step = false;        // a label for each step; else the last row's
  // Column that names an example, which becomes the tensor "id"; of a sequence:
  // its first row's.  "": none.
  std::string id;
  std::string encoding;  // of the text, as is_encoding() knows it; "": UTF-8
  Log log;  // told of files whose byte order mark says another; or none
  // Column of what a label counts in learning, which becomes "labels_mask"; "":
  // all count 1.
  std::string weight;
};

struct SvmlightOptions {
  std::int64_t features = 0;  // length of an example
  bool zero_based = false;    // indices start at 0, not 1
  bool multilabel = false;    // "1,3 4:0.5": labels are classes that apply
};

struct RawOptions {
  bool labels = true;        // an example is followed by its label
  std::int64_t targets = 1;  // numbers to predict, of an example
  // Examples that the inputs are said to have, which makes them bare records
  // whatever they begin with; 0: not said.
  std::int64_t examples = 0;
};

// Each takes source specs (io/source.h); gzip and zstd are recognized.
// `bad` must outlive the reader.  Throws Error: kUsage, kNoInput, kData.

// inputs: pairs of features and labels, or, with labels == false, features
// alone.  Images [height, width] become [height, width, 1].
std::unique_ptr<Reader> open_idx(const std::vector<std::string>& inputs,
                                 bool labels, const ReaderOptions& options,
                                 BadRecords& bad);
std::unique_ptr<Reader> open_csv(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const CsvOptions& csv, BadRecords& bad);
std::unique_ptr<Reader> open_svmlight(const std::vector<std::string>& inputs,
                                      const ReaderOptions& options,
                                      const SvmlightOptions& svmlight,
                                      BadRecords& bad);
// variant: "10", "100" (fine labels) or "100-coarse".
std::unique_ptr<Reader> open_cifar(const std::vector<std::string>& inputs,
                                   const std::string& variant,
                                   const ReaderOptions& options,
                                   BadRecords& bad);
// An example is shape's numbers of dtype; then, little-endian, its class as
// I32, or `targets` numbers, F32 (F64 where dtype is F64, I32 or I64); then its
// id.  Inputs are taken as they are, not unpacked.
std::unique_ptr<Reader> open_raw(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const RawOptions& raw, BadRecords& bad);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_READER_H_
