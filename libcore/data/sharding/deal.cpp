// Splitting and shuffling of streams into shards.

#include "libcore/data/sharding/deal.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/shard_names.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/format/windows.h"
#include "libcore/data/rows.h"
#include "libcore/data/sharding/balance.h"
#include "libcore/data/sharding/contradiction.h"
#include "libcore/data/sharding/older_shards.h"
#include "libcore/data/sharding/prefix_lock.h"
#include "libcore/data/sharding/split.h"
#include "libcore/data/sharding/spool.h"
#include "libcore/data/sharding/zip.h"
#include "libcore/data/statistics/set_statistics.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"

namespace dl::data {
namespace {

constexpr std::uint64_t kShuffleStream = 3;  // use of the seed

struct Part {
  std::string prefix;
  std::int64_t examples = 0;
  SetStatistics statistics;
};

class Dealer {
 public:
  Dealer(const DealOptions& options, const DealProgress& progress)
      : options_(options), progress_(progress), rule_(options.rule) {
    for (const SplitPart& part : split())
      parts_.push_back({part.name.empty() ? options.prefix
                                          : options.prefix + "-" + part.name,
                        0,
                        {}});
  }

  std::vector<std::string> find_old_shards() const;
  template <typename Reader>
  void read(Reader&& in);
  // old: shards of before, which go unless they are replaced.
  std::vector<Dealt> write(const std::vector<std::string>& old);

 private:
  std::vector<SplitPart> split() const;
  void start(const Metadata& metadata);
  void take(const DataSet& set);
  std::uint64_t memory() const;
  void hold(const DataSet& set);
  void take_held();
  void take_balanced(const DataSet& set);
  void add_statistics(const DataSet& set, const std::vector<std::size_t>& to);
  void check_counts() const;
  std::int64_t shards_of(const Part& part) const;
  void write_part(std::size_t p, io::SinkGroup& group,
                  std::vector<Dealt>& dealt);
  std::int64_t record_length(std::int64_t position);
  std::string set_id() const;

  const DealOptions& options_;
  const DealProgress& progress_;
  SplitRule rule_;
  std::unique_ptr<Splitter> splitter_;
  std::unique_ptr<ClassBalance> balance_;
  std::vector<Part> parts_;
  Metadata metadata_;  // of all inputs
  std::string first_input_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Spool> held_;  // what waits for the number of all examples
  std::vector<std::int64_t> held_sizes_;  // of its records
  std::vector<std::byte> row_;
  std::size_t row_bytes_ = 0;  // of an example that is decoded
  std::size_t buckets_ = 1;    // of a part
  std::int64_t together_ = 1;  // examples that a shuffle keeps together
  io::Digest contents_;        // of what was read
  std::int64_t read_ = 0, written_ = 0;
  std::vector<std::int64_t> record_ends_;  // of the input
  std::int64_t longest_ = 0;               // of its records
};

std::vector<SplitPart> Dealer::split() const {
  if (options_.folds > 0) return folds_of(options_.folds);
  return options_.split.empty() ? std::vector<SplitPart>{{"", 1}}
                                : parse_split(options_.split);
}

std::vector<std::string> Dealer::find_old_shards() const {
  std::vector<std::string> parts;
  parts.reserve(parts_.size());
  for (const Part& part : parts_) parts.push_back(part.prefix);
  std::vector<std::string> old = older_shards(options_.prefix, parts);
  if (!old.empty() && !options_.force) {
    const std::string prefix = parse_shard_name(old[0])->prefix;
    if (std::ranges::find(parts, prefix) != parts.end())
      throw Error{Code::kCantCreate, "cannot create " + in_quotes(old[0]) +
                                         ": it exists; --force overwrites"};
    throw Error{Code::kCantCreate,
                "cannot create " + in_quotes(shard_name(parts[0], 0, 1)) +
                    ": " + in_quotes(old[0]) + " is of an older set of " +
                    in_quotes(options_.prefix) + "; --force removes it"};
  }
  for (const Part& part : parts_) remove_abandoned_shards(part.prefix);
  return old;
}

void Dealer::start(const Metadata& metadata) {
  metadata_ = metadata;
  row_bytes_ = row_bytes(metadata.schema);
  if (row_bytes_ == 0) throw Error{Code::kData, "the examples have no values"};
  if (static_cast<std::uint64_t>(options_.batch) > kMaxRecordBytes / row_bytes_)
    throw Error{Code::kUsage, "--batch " + std::to_string(options_.batch) +
                                  ": a record has at most " +
                                  std::to_string(kMaxRecordBytes / row_bytes_) +
                                  " of these examples, which have " +
                                  std::to_string(row_bytes_) + " bytes each"};
  if (const auto series = metadata.schema.find(kSeriesName);
      series != metadata.schema.end()) {
    constexpr std::int64_t kShared = 8;  // so an eighth is stored twice at most
    together_ = kShared * series->second.shape[0];
    const std::string option = options_.folds > 0 ? "--folds" : "--split";
    if (parts_.size() > 1 && options_.rule.group.empty())
      throw Error{Code::kUsage,
                  option +
                      ": examples are windows of a series, and those of two "
                      "parts would have steps in common; split where they are "
                      "made: dl-preprocess series " +
                      option};
  }
  // Wrong options are told before all is read.
  rule_.folds = options_.folds > 0;
  if (rule_.folds && rule_.group.empty() && !rule_.in_order &&
      has_class_numbers(metadata))
    rule_.stratify = true;
  splitter_ =
      std::make_unique<Splitter>(split(), options_.seed, rule_, metadata, 0);
  if (!options_.balance.empty())
    balance_ = std::make_unique<ClassBalance>(options_.balance, options_.seed,
                                              metadata);
  if (options_.shuffle)
    buckets_ = std::max<std::size_t>(
        1, bucket_count(row_bytes_, options_.memory) / parts_.size());
  spool_ = std::make_unique<Spool>(shard_name(options_.prefix, 0, 1),
                                   buckets_ * parts_.size(), memory());
  if (options_.rule.in_order || balance_)
    held_ =
        std::make_unique<Spool>(shard_name(options_.prefix, 0, 1), 1, memory());
}

// The memory of one spool.
std::uint64_t Dealer::memory() const {
  return options_.memory / (options_.rule.in_order || balance_ ? 2 : 1);
}

void Dealer::hold(const DataSet& set) {
  held_sizes_.push_back(set.examples());
  if (balance_) balance_->count(set);
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    get_row(set, metadata_.schema, i, row_);
    held_->add(0, 0, row_);
  }
}

// Where an example goes follows from how many there are.
void Dealer::take_held() {
  const auto total =
      std::accumulate(held_sizes_.begin(), held_sizes_.end(), std::int64_t{0});
  splitter_ = std::make_unique<Splitter>(split(), options_.seed, rule_,
                                         metadata_, total);
  if (balance_ && options_.log)
    options_.log(Level::kInfo, balance_->sentence(metadata_.classes));
  Spool::Reader rows(*held_, 0, false);
  for (const std::int64_t n : held_sizes_) {
    DataSet set = make_set(metadata_.schema, n);
    for (std::int64_t i = 0; i < n; ++i)
      put_row(set, metadata_.schema, i, rows.next());
    add_decoded(set, metadata_.schema);
    if (balance_)
      take_balanced(set);
    else
      take(set);
  }
}

// Each example as often as the balance wants it, in sets that are no larger
// than this one.
void Dealer::take_balanced(const DataSet& set) {
  std::vector<std::int64_t> chosen;
  const auto flush = [&] {
    if (chosen.empty()) return;
    DataSet own = make_like(set, std::ssize(chosen));
    for (std::size_t k = 0; k < chosen.size(); ++k)
      copy_example(own, static_cast<std::int64_t>(k), set, chosen[k]);
    chosen.clear();
    take(own);
  };
  for (std::int64_t i = 0; i < set.examples(); ++i)
    for (std::int64_t n = balance_->times(class_of(set, i)); n > 0; --n) {
      chosen.push_back(i);
      if (std::ssize(chosen) == set.examples()) flush();
    }
  flush();
}

template <typename Reader>
void Dealer::read(Reader&& in) {
  const bool first = !spool_;
  if (first) {
    first_input_ = in.name();
    start(in.metadata());
  }
  const Sides names{in.name(), first_input_};
  const std::string why = contradiction(metadata_, in.metadata(), names);
  if (!why.empty()) throw Error{Code::kData, why};
  for (DataSet set; in.read(set);) {
    try {
      if (held_)
        hold(set);
      else
        take(set);
    } catch (Error& e) {
      if (e.code() == Code::kData)
        e.add_context(in.name() + ", examples up to " +
                      std::to_string(in.examples()));
      throw;
    }
    if (progress_) progress_(read_, 0);
  }
  in.close();
  if (first)
    metadata_ = in.metadata();
  else
    metadata_.join(in.metadata(), names);
}

void Dealer::take(const DataSet& set) {
  const std::int64_t n = set.examples();
  std::vector<std::size_t> to(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    get_row(set, metadata_.schema, i, row_);
    contents_.add(row_);
    const std::size_t p = splitter_->part_of(set, i, row_);
    std::uint64_t key = 0, bucket = 0;
    if (options_.shuffle) {
      // The order is that of the keys, however many buckets there are.
      const auto words = philox(
          options_.seed, static_cast<std::uint64_t>(read_ + i - i % together_),
          kShuffleStream);
      key = std::uint64_t{words[1]} << 32 | words[0];
      bucket = (key >> 32) * buckets_ >> 32;
    }
    spool_->add(p * buckets_ + static_cast<std::size_t>(bucket), key, row_);
    to[static_cast<std::size_t>(i)] = p;
    ++parts_[p].examples;
  }
  add_statistics(set, to);
  read_ += n;
  contents_.add(std::as_bytes(std::span(&n, 1)));
  longest_ = std::max(longest_, n);
  record_ends_.push_back(read_);
}

void Dealer::add_statistics(const DataSet& set,
                            const std::vector<std::size_t>& to) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto n = std::count(to.begin(), to.end(), p);
    if (n == 0) continue;
    DataSet own;
    if (n < set.examples()) {
      own = make_like(set, n);
      std::int64_t at = 0;
      for (std::size_t i = 0; i < to.size(); ++i)
        if (to[i] == p)
          copy_example(own, at++, set, static_cast<std::int64_t>(i));
    }
    const DataSet& mine = n < set.examples() ? own : set;
    parts_[p].statistics.add(mine);
  }
}

// The record that an example at this place of a part belongs to ends there.
std::int64_t Dealer::record_length(std::int64_t position) {
  if (options_.batch > 0) return options_.batch;
  if (options_.shuffle || parts_.size() > 1) return longest_;
  return *std::upper_bound(record_ends_.begin(), record_ends_.end(), position) -
         position;
}

std::int64_t Dealer::shards_of(const Part& part) const {
  if (options_.size == 0) return options_.shards;
  const auto each = std::max<std::uint64_t>(
      1, options_.size / std::max<std::size_t>(1, row_bytes_));
  const auto n = static_cast<std::uint64_t>(part.examples);
  return static_cast<std::int64_t>((n + each - 1) / each);
}

void Dealer::check_counts() const {
  if (read_ == 0)
    throw Error{Code::kData, "the input has no example; nothing was written"};
  for (const Part& part : parts_) {
    if (part.examples == 0)
      throw Error{Code::kData,
                  "no example falls into " + in_quotes(part.prefix) +
                      "; nothing was written" +
                      (options_.folds > 0 ? std::string(": want fewer folds")
                                          : " (equal examples stay together "
                                            "without --stratify)")};
    if (shards_of(part) > part.examples)
      throw Error{Code::kUsage, std::to_string(shards_of(part)) +
                                    " shards are more than the " +
                                    std::to_string(part.examples) +
                                    " examples of " + in_quotes(part.prefix)};
  }
}

// The rows of one part, bucket by bucket.
class PartRows {
 public:
  PartRows(Spool& spool, std::size_t first, std::size_t count, bool sorted)
      : spool_(spool), next_(first), end_(first + count), sorted_(sorted) {}

  // A part with another example is never asked for more than it has.
  std::span<const std::byte> next() {
    while (true) {
      if (reader_) {
        const auto row = reader_->next();
        if (!row.empty()) return row;
        reader_.reset();
      }
      require(next_ < end_, "a part has fewer examples than were counted");
      reader_ = std::make_unique<Spool::Reader>(spool_, next_++, sorted_);
    }
  }

 private:
  Spool& spool_;
  std::size_t next_, end_;
  bool sorted_;
  std::unique_ptr<Spool::Reader> reader_;
};

// The same input and options give the same shards, and the same id.
std::string Dealer::set_id() const {
  Json text = {metadata_.to_strings().at("schema"),
               metadata_.classes,
               metadata_.columns,
               metadata_.targets,
               contents_.value(),
               options_.shards,
               options_.size,
               options_.batch,
               options_.shuffle,
               options_.seed,
               options_.split,
               rule_.stratify};
  if (!options_.rule.group.empty()) text.push_back(options_.rule.group);
  if (options_.rule.in_order) text.push_back("in order");
  if (options_.folds > 0) text.push_back(options_.folds);
  if (balance_) text.push_back(options_.balance);
  const std::string bytes = dump_json(text);
  return io::hex(io::digest(std::as_bytes(std::span(bytes))));
}

void Dealer::write_part(std::size_t p, io::SinkGroup& group,
                        std::vector<Dealt>& dealt) {
  const Part& part = parts_[p];
  Metadata metadata = metadata_;
  part.statistics.put_into(metadata);
  PartRows rows(*spool_, p * buckets_, buckets_, options_.shuffle);
  const std::int64_t shards = shards_of(part);
  metadata.place = {set_id(), splitter_->name(p), 0, shards};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < shards; ++i) {
    metadata.place->shard = i;
    const std::string path = shard_name(part.prefix, i, shards);
    StreamWriter out(group.open(path));
    out.write_metadata(metadata);
    // Shards are as equal as possible; the first ones are longer by one.
    const std::int64_t end = part.examples / shards * (i + 1) +
                             std::min(i + 1, part.examples % shards);
    while (at < end) {
      const std::int64_t n = std::min(end - at, record_length(at));
      DataSet set = make_set(metadata.schema, n);
      for (std::int64_t k = 0; k < n; ++k)
        put_row(set, metadata.schema, k, rows.next());
      out.write(set);
      at += n;
      written_ += n;
      if (progress_) progress_(read_, written_);
    }
    out.close();
    dealt.push_back({path, out.examples()});
  }
}

std::vector<Dealt> Dealer::write(const std::vector<std::string>& old) {
  if (held_) take_held();
  check_counts();
  if (options_.step) metadata_.provenance.push_back(*options_.step);
  io::SinkGroup group;
  std::vector<Dealt> dealt;
  for (std::size_t p = 0; p < parts_.size(); ++p) write_part(p, group, dealt);
  group.publish(old);
  return dealt;
}

}  // namespace

std::vector<Dealt> deal(const std::vector<std::string>& inputs,
                        const DealOptions& options,
                        const DealProgress& progress) {
  const PrefixLock lock(options.prefix);
  Dealer dealer(options, progress);
  const std::vector<std::string> old = dealer.find_old_shards();
  for (const std::string& path : old)
    io::refuse_overwriting(path, inputs,
                           "would be replaced or removed, and is");
  if (options.zip) {
    std::vector<ZipSide> sides;
    sides.reserve(inputs.size());
    for (const std::string& input : inputs)
      sides.push_back(parse_zip_side(input));
    dealer.read(ZipReader(std::move(sides)));
  } else {
    for (const std::string& spec : inputs)
      dealer.read(StreamReader(io::open_source(spec), Form::kStored));
  }
  return dealer.write(old);
}

}  // namespace dl::data
