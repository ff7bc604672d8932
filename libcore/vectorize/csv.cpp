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
      : ExampleReader(options, bad),
        csv_(csv),
        table_(inputs, {csv.delimiter, csv.header, csv.encoding, csv.log}),
        fields_(table_, this->options(), csv_),
        numbered_(bad.tolerant() || csv.missing == "skip") {
    start();
  }
  ~CsvReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    if (numbered_) metadata.schema["index"] = kIndexField;
    return metadata;
  }

  std::string warning() const override { return fields_.warning(); }

 private:
  bool cut(InputBlock& block) override {
    return table_.cut(block, most_examples());
  }
  void parse(ParsedBlock& parsed) const override {
    if (only_counts(parsed.block))
      parsed.all = count_csv_rows(parsed.block);
    else
      fields_.parse(parsed);
  }
  bool takes_labels() const override { return fields_.has_classes(); }
  bool learns_classes() const override { return fields_.learns_classes(); }
  std::string take_label(ParsedBlock& parsed, std::int64_t number,
                         std::int32_t& label) override {
    return fields_.take_label(parsed, number, label);
  }
  std::string full_sentence(ParsedBlock& parsed, std::int64_t number,
                            const std::string& what) override {
    return fields_.all_problems(parsed, number, what,
                                [this] { return next_block(); });
  }

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
  if (!csv.sequence.empty() && options.parts > 1)
    throw Error{Code::kUsage, "--part does not go with --sequence"};
  if (!csv.sequence.empty())
    return open_csv_sequences(specs, options, csv, bad);
  if (csv.steps != 0 || csv.per_step || csv.longer != "fail")
    throw Error{Code::kUsage,
                "--steps, --per-step and --longer want --sequence"};
  if (!csv.label_files.empty() || !csv.align.empty())
    bad_usage("--label-files and --align want --sequence file:");
  return std::make_unique<CsvReader>(specs, options, csv, bad);
}

}  // namespace dl::vectorize
