// CSV tables whose rows are examples; csv_sequences.cpp has those whose rows
// are steps.

#include "libcore/base/error.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/csv_sequences.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/example_reader.h"

namespace dl::vectorize {
namespace {

class CsvReader : public ExampleReader {
 public:
  CsvReader(const std::vector<std::string>& inputs,
            const ReaderOptions& options, const CsvOptions& csv,
            BadRecords& bad)
      : options_(options),
        csv_(csv),
        table_(inputs, csv.delimiter, csv.header),
        fields_(table_, options_, csv_, bad),
        numbered_(bad.tolerant() || csv.missing == "skip") {
    start(options.batch);
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    if (numbered_) metadata.schema["index"] = kIndexField;
    return metadata;
  }

  std::string warning() const override { return fields_.warning(); }

 private:
  bool next() override { return table_.next(); }

  bool put(data::DataSet& set, std::int64_t i) override {
    if (!fields_.is_whole() || !fields_.parse()) return false;
    fields_.put_features(set, i);
    fields_.put_label(set, i);
    fields_.put_id(set, i);
    return true;
  }

  ReaderOptions options_;
  CsvOptions csv_;
  CsvTable table_;
  CsvFields fields_;
  bool numbered_;  // rows may be left out, so that the others need a number
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
