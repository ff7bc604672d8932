#include "libcore/vectorize/example_reader.h"

namespace dl::vectorize {

void ExampleReader::start(std::int64_t batch) {
  schema_ = metadata().schema;
  batch_ = record_examples(batch, schema_);
}

bool ExampleReader::read(data::DataSet& set) {
  const bool numbered = schema_.contains("index");
  set = make_record(schema_, batch_);
  std::int64_t n = 0;
  while (n < batch_ && next()) {
    const std::int64_t index = examples_++;
    if (!put(set, n)) {
      clear_example(set, n);  // it may have left values behind
      continue;
    }
    if (numbered) set_index(set, n, index);
    ++n;
  }
  if (n < batch_) set = set.slice(0, n);
  return n > 0;
}

}  // namespace dl::vectorize
