// CSV tables whose rows are examples; csv_sequences.cpp has those whose rows
// are steps.

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/csv_sequences.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {
namespace {

class CsvReader : public Reader {
 public:
  CsvReader(const std::vector<std::string>& inputs,
            const ReaderOptions& options, const CsvOptions& csv,
            BadRecords& bad)
      : options_(options),
        csv_(csv),
        table_(inputs, csv.delimiter, csv.header),
        fields_(table_, options_, csv_, bad),
        numbered_(bad.tolerant() || csv.missing == "skip"),
        schema_(metadata().schema),
        batch_(record_examples(options.batch, schema_)) {}

  bool read(data::DataSet& set) override {
    set = make_record(schema_, batch_);
    std::int64_t n = 0;
    while (n < batch_ && table_.next()) {
      const std::int64_t index = rows_++;
      if (!fields_.is_whole() || !fields_.parse()) continue;
      fields_.put_features(set, n);
      fields_.put_label(set, n);
      fields_.put_id(set, n);
      if (numbered_) set_index(set, n, index);
      ++n;
    }
    if (n < batch_) set = set.slice(0, n);
    return n > 0;
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    if (numbered_) metadata.schema["index"] = kIndexField;
    return metadata;
  }

  std::string warning() const override { return fields_.warning(); }

 private:
  ReaderOptions options_;
  CsvOptions csv_;
  CsvTable table_;
  CsvFields fields_;
  bool numbered_;  // rows may be left out, so that the others need a number
  Schema schema_;
  std::int64_t batch_;
  std::int64_t rows_ = 0;  // read
};

}  // namespace

std::unique_ptr<Reader> open_csv(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const CsvOptions& csv, BadRecords& bad) {
  const std::vector<std::string> specs =
      inputs.empty() ? std::vector<std::string>{"-"} : inputs;
  if (!csv.sequence.empty())
    return open_csv_sequences(specs, options, csv, bad);
  if (csv.steps != 0 || csv.per_step || csv.longer != "fail")
    throw Error{Code::kUsage,
                "--steps, --per-step and --longer want --sequence"};
  return std::make_unique<CsvReader>(specs, options, csv, bad);
}

}  // namespace dl::vectorize
