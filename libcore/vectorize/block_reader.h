// Readers whose inputs are cut into blocks that are worked on side by side.
//
// A block is text of whole lines or rows, or bytes of whole records.  It is cut
// by one thread, parsed by any, and taken in again in its order: whatever
// depends on the order, as the numbers of classes and the count of bad records,
// happens there.

#ifndef DL_LIBCORE_VECTORIZE_BLOCK_READER_H_
#define DL_LIBCORE_VECTORIZE_BLOCK_READER_H_

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/vectorize/engine.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {

struct InputBlock {
  static constexpr std::size_t kBytes = std::size_t{1} << 20;  // about so many

  std::string bytes;
  std::string name;          // of the input, as messages call it
  std::int64_t line = 1;     // the number of its first line, or record
  bool starts_file = false;  // it has the first bytes of its input
  bool first = false;        // it has the first data of its input
  char delimiter = ',';      // csv
  std::size_t input = 0;     // csv: its number among the inputs
  // csv: where the file has each column of the table; null: in its place.
  std::shared_ptr<const std::vector<std::size_t>> order = nullptr;
  bool is_mine = true;       // it is of the part that is read
  std::exception_ptr error;  // comes after it, and ends the input
};

// A block that was parsed.
struct ParsedBlock {
  // An example that is left out.
  struct LeftOut {
    std::int64_t number;  // in the block, from 0
    std::string what;     // the sentence about it; "": on purpose
    std::optional<std::int32_t> label = {};  // that it had, as in the set
  };

  InputBlock block;
  data::DataSet set;      // the good examples, and perhaps room for more
  std::int64_t good = 0;  // examples in `set`
  std::int64_t all = 0;   // examples with those that are left out
  std::vector<LeftOut> left_out;     // in order
  std::vector<std::int32_t> filled;  // values of each good example, or nothing
  std::vector<std::int64_t> lines;   // of each example, where they are wanted
  std::vector<std::string> classes;  // names that the labels number
  // Their numbers among all classes, once they are known, else -1.
  std::vector<std::int64_t> class_numbers;
  // csv with --sequence: of each row; a row of the wrong length has none.
  std::vector<std::optional<std::string>> sequences;
  // csv with --sequence line:TEXT: whether a separator is before each row, and
  // behind the last.
  std::vector<bool> cuts;
  bool ends_with_cut = false;
  std::exception_ptr error;  // comes after them, and ends the input

  void leave_out(std::string what, std::optional<std::int32_t> label = {}) {
    left_out.push_back({all++, std::move(what), label});
  }
};

class BlockReader : public Reader {
 public:
  std::int64_t examples() const override { return examples_; }

 protected:
  BlockReader(const ReaderOptions& options, BadRecords& bad)
      : bad_(bad), options_(options) {}

  // Takes the schema that metadata() has; once, before all others.
  // Throws Error: kData, as record_examples().
  void start();
  // Whether the examples of a block are to be counted and no more.
  bool only_counts(const InputBlock& block) const {
    return !block.is_mine && !learns_classes();
  }
  // Examples that a block has at most.
  std::int64_t most_examples() const { return most_; }

  // The next block; none at the end of the input.  The first call starts the
  // threads.
  std::optional<ParsedBlock> next_block();

  // Goes to the next example of a block that next_block() gave; false at its
  // end.  `good`: whether it is there, as example `place` of the block's set.
  // Throws Error: the block's own, at its end; kData, too many are bad.
  struct Cursor {
    std::int64_t number = -1;  // of the example in the block
    std::size_t left_out = 0;  // that were passed
    std::int64_t place = -1;
    bool good = false;
  };
  bool next_example(ParsedBlock& parsed, Cursor& cursor);
  // Whether it will find one.  Throws Error: the block's own, at its end.
  static bool has_next(const ParsedBlock& parsed, const Cursor& cursor);

  bool tolerant() const { return bad_.tolerant(); }
  const ReaderOptions& options() const { return options_; }
  const Schema& schema() const { return schema_; }
  std::int64_t batch() const { return batch_; }  // examples of a record
  BadRecords& bad_;

 private:
  // Fills the next block.  What was cut before an error is worked on.
  virtual bool cut(InputBlock& block) = 0;
  // Several threads call it at the same time.
  virtual void parse(ParsedBlock& parsed) const = 0;

  // Takes in the label of an example, in order, and gives it its number;
  // returns what is wrong with it, or "".
  virtual std::string take_label(ParsedBlock& parsed, std::int64_t number,
                                 std::int32_t& label) {
    static_cast<void>(parsed), static_cast<void>(number),
        static_cast<void>(label);
    return "";
  }
  // Whether labels go through take_label(): I32, one of an example.
  virtual bool takes_labels() const { return false; }
  // Whether it learns classes from them, which those of other parts are too.
  virtual bool learns_classes() const { return false; }
  // The sentence about the bad example that ends the run.
  virtual std::string full_sentence(ParsedBlock& parsed, std::int64_t number,
                                    const std::string& what) {
    static_cast<void>(parsed), static_cast<void>(number);
    return what;
  }

  ParsedBlock parse_all(InputBlock& block) const;
  void leave_out(ParsedBlock& parsed, std::int64_t number,
                 const std::string& what);
  bool cut_next(InputBlock& block);

  ReaderOptions options_;
  Schema schema_;
  std::int64_t batch_ = 1, most_ = 1, bytes_ = 1;
  std::int64_t examples_ = 0;  // of the input, so far
  std::int64_t blocks_ = 0;
  bool failed_ = false;  // cut() did
  std::optional<Engine<InputBlock, ParsedBlock>> engine_;

 protected:
  // Ends the threads, which call virtual functions: for destructors.
  void stop() { engine_.reset(); }
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_BLOCK_READER_H_
