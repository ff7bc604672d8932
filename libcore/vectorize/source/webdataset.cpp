// Archives as WebDataset has them: files that stand together and have one name
// up to its first dot are a record, with a column for each suffix, whatever its
// case.

#include <algorithm>
#include <cctype>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

// "a/b.x.jpg" is the column "x.jpg" of "a/b".
std::size_t dot_of(const std::string& path) {
  return std::min(path.find('.', path.rfind('/') + 1), path.size());
}

class WebDataset : public RecordSource {
 public:
  explicit WebDataset(Inputs inputs)
      : parses_json_(std::ranges::any_of(
            inputs.wanted,
            [](const WantedColumn& column) {
              return (";" + column.name).find(";json.") != std::string::npos;
            })),
        files_(open_files(std::move(inputs), {})) {}

  bool next(Record& record) override {
    if (!pending_ && !fetch()) return false;
    const std::string key = key_;
    record = {};
    bytes_ = 0;
    (void)record.columns.emplace("key", key);
    do {
      take(record);
    } while (fetch() && key_ == key);
    return true;
  }

 private:
  bool fetch() {
    pending_ = files_->next(file_);
    if (pending_) {
      const std::string path(file_.at("path"));
      key_ = path.substr(0, dot_of(path));
    }
    return pending_;
  }

  void take(Record& record) {
    const std::string path(file_.at("path"));
    std::string suffix = path.substr(std::min(dot_of(path) + 1, path.size()));
    for (char& c : suffix)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (record.name.empty()) record.name = file_.name;
    if (!record.problem.empty()) return;
    if (file_.problem.empty()) {
      try {
        load(file_);
        std::string bytes(file_.at("bytes"));
        bytes_ += bytes.size();
        if (bytes_ > kMaxRecordFile)
          bad_data("the files of its example have more than " +
                   std::to_string(kMaxRecordFile) + " bytes together");
        if (parses_json_ && suffix == "json")
          add_json_columns(record, suffix,
                           parse_json(bytes, "its text", Code::kData));
        if (!record.columns.emplace(suffix, std::move(bytes)))
          bad_data("its example has two files with this suffix");
      } catch (const Error& e) {
        file_.problem = e.what();
      }
    }
    if (file_.problem.empty()) return;
    record.name = file_.name;
    record.problem = file_.problem;
    record.columns = {};  // of no more use
    (void)record.columns.emplace("key", key_);
  }

  bool parses_json_;  // for "json.a", a key of an object
  std::unique_ptr<RecordSource> files_;
  Record file_;  // the next one, if pending_
  std::string key_;
  std::size_t bytes_ = 0;  // of the record so far
  bool pending_ = false;
};

}  // namespace

std::unique_ptr<RecordSource> open_webdataset(Inputs inputs) {
  return std::make_unique<WebDataset>(std::move(inputs));
}

}  // namespace dl::vectorize
