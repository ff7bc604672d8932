// Joining of streams example by example.

#include "libcore/data/sharding/zip.h"

#include <algorithm>
#include <optional>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/names.h"
#include "libcore/data/format/windows.h"
#include "libcore/data/sharding/contradiction.h"
#include "libcore/io/source.h"

namespace dl::data {
ZipSide parse_zip_side(const std::string& operand) {
  const auto equals = operand.find('=');
  const auto refuse = [&](const std::string& why) {
    throw Error{Code::kUsage, "--zip: " + in_quotes(operand) + ": " + why};
  };
  if (equals == std::string::npos || equals + 1 == operand.size())
    refuse("want NAME=INPUT, features/NAME=INPUT or labels/NAME=INPUT");
  std::string name = operand.substr(0, equals);
  ZipSide side;
  for (const char* kind : {"features", "labels"}) {
    if (name == kind || name.starts_with(std::string(kind) + "/")) {
      side.kind = kind;
      name.erase(0, std::min(name.size(), side.kind.size() + 1));
    }
  }
  if (!is_plain_name(name) && (side.kind.empty() || !name.empty()))
    refuse("a name is of letters, digits, '_', '-', '.'");
  side.name = name;
  side.specs = io::expand_operands({operand.substr(equals + 1)});
  return side;
}

// The streams of a side, one after the other.
class ZipReader::Side {
 public:
  explicit Side(ZipSide side) : side_(std::move(side)) { open_next(); }

  // Whether there is an example at hand, read if need be.
  bool fill() {
    while (at_ == size_) {
      if (!reader_) return false;
      if (reader_->read(set_)) {
        at_ = 0;
        size_ = set_.examples();
        continue;
      }
      reader_->close();
      join(reader_->metadata());
      reader_.reset();
      open_next();
    }
    return true;
  }

  std::int64_t at_hand() const { return size_ - at_; }
  std::int64_t examples() const { return taken_; }
  const std::string& name() const { return name_; }

  // Moves n examples into `to`, under their new names.
  void take(std::int64_t n, DataSet& to) {
    DataSet part = set_.slice(at_, at_ + n);
    check_ids(part, to, n);
    for (auto& [tensor, values] : part.tensors)
      if (const auto as = renamed(tensor)) to.tensors.emplace(*as, values);
    for (auto& [tensor, stored] : part.encoded)
      if (const auto as = renamed(tensor)) to.encoded.emplace(*as, stored);
    at_ += n;
    taken_ += n;
  }

  // Adds the description of this side so far, under its new names.
  void describe(Metadata& all) const {
    Metadata own = so_far();
    About& about = side_.name.empty() ? all : all.parts[side_.name];
    const bool features = side_.kind != "labels",
               labels = side_.kind != "features";
    if (features) {
      about.columns = own.columns;
      about.statistics = own.statistics;
    }
    if (labels) {
      about.classes = own.classes;
      about.targets = own.targets;
      about.label_statistics = own.label_statistics;
    }
    for (const auto& [tensor, field] : own.schema) {
      const auto as = renamed(tensor);
      if (!as) continue;
      const bool fresh = all.schema.emplace(*as, field).second;
      if (!fresh && !names_example(tensor))
        throw Error{Code::kUsage,
                    "--zip: two inputs give the tensor " + in_quotes(*as)};
    }
    for (const Provenance& step : own.provenance)
      if (std::ranges::find(all.provenance, step) == all.provenance.end())
        all.provenance.push_back(step);
  }

 private:
  void open_next() {
    if (next_ == side_.specs.size()) return;
    reader_.emplace(io::open_source(side_.specs[next_++]), Form::kStored);
    if (name_.empty()) name_ = reader_->name();
    if (reader_->metadata().schema.contains(kSeriesName))
      throw Error{Code::kData,
                  reader_->name() +
                      ": its examples are windows of a series, which cannot "
                      "be zipped"};
    if (!reader_->metadata().names().empty())
      throw Error{Code::kData,
                  reader_->name() + ": has tensors of several names already"};
    if (whole_) check_like();
  }

  void check_like() const {
    Metadata both = *whole_;
    both.join(reader_->metadata(), {reader_->name(), name_});
  }

  void join(const Metadata& next) {
    if (!whole_)
      whole_ = next;
    else
      whole_->join(next, {reader_->name(), name_});
  }

  // Two tables of which different rows were left out are as long.
  void check_ids(const DataSet& own, const DataSet& others,
                 std::int64_t n) const {
    const tensor::Tensor *mine = own.find("id"), *first = others.find("id");
    if (mine == nullptr || first == nullptr) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string here = id_text(*mine, i), there = id_text(*first, i);
      if (here == there) continue;
      throw Error{Code::kData,
                  name_ + ": example " + std::to_string(taken_ + i) + " is " +
                      in_quotes(here) + ", in a side before it " +
                      in_quotes(there) +
                      ": sides are joined in their order; give all the same "
                      "examples, or no ids"};
    }
  }

  Metadata so_far() const {
    return whole_ ? *whole_ : reader_ ? reader_->metadata() : Metadata();
  }

  // New name of a tensor; none where this side does not have it.
  std::optional<std::string> renamed(const std::string& tensor) const {
    if (names_example(tensor)) return tensor;
    const bool label = tensor.starts_with("labels");
    if (side_.kind == (label ? "features" : "labels")) return {};
    return side_.name.empty() ? tensor : tensor + "/" + side_.name;
  }

  ZipSide side_;
  std::size_t next_ = 0;
  std::string name_;  // of the first stream
  std::optional<StreamReader> reader_;
  std::optional<Metadata> whole_;  // of the streams that have ended
  DataSet set_;
  std::int64_t at_ = 0, size_ = 0, taken_ = 0;
};

ZipReader::ZipReader(std::vector<ZipSide> sides) {
  for (ZipSide& side : sides)
    sides_.push_back(std::make_unique<Side>(std::move(side)));
  join_metadata();
}

ZipReader::~ZipReader() = default;

const Metadata& ZipReader::metadata() const { return metadata_; }

void ZipReader::join_metadata() {
  metadata_ = {};
  for (const auto& side : sides_) side->describe(metadata_);
  std::erase_if(metadata_.parts,
                [](const auto& part) { return part.second.empty(); });
}

bool ZipReader::read(DataSet& set) {
  std::int64_t n = 0;
  const Side *ended = nullptr, *going = nullptr;
  for (const auto& side : sides_) {
    (side->fill() ? going : ended) = side.get();
    if (going == side.get())
      n = n == 0 ? side->at_hand() : std::min(n, side->at_hand());
  }
  if (ended != nullptr && going != nullptr)
    throw Error{Code::kData, ended->name() + " ends after " +
                                 std::to_string(ended->examples()) +
                                 " examples, " + going->name() + " has more"};
  if (going == nullptr) {
    join_metadata();
    return false;
  }
  set = {};
  for (const auto& side : sides_) side->take(n, set);
  examples_ += n;
  return true;
}

std::string ZipReader::name() const {
  std::string all;
  for (const auto& side : sides_)
    all += (all.empty() ? "" : " and ") + side->name();
  return all;
}

}  // namespace dl::data
