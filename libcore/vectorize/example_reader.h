// A reader whose input gives one example after the other.

#ifndef DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_
#define DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_

#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {

class ExampleReader : public Reader {
 public:
  // Puts examples into a record until it is full, numbers them where the schema
  // has "index", and counts those that are left out as well.
  bool read(data::DataSet& set) final;
  std::int64_t examples() const final { return examples_; }

 protected:
  // Takes the schema that metadata() has; once, before read().
  // Throws Error: kData, as record_examples().
  void start(std::int64_t batch);

 private:
  // Goes to the next example; false at the end of the input.
  virtual bool next() = 0;
  // Puts it at place i of `set`, which has zeros there; false: it is left out.
  virtual bool put(data::DataSet& set, std::int64_t i) = 0;

  Schema schema_;
  std::int64_t batch_ = 1;
  std::int64_t examples_ = 0;  // of the input, so far
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_EXAMPLE_READER_H_
