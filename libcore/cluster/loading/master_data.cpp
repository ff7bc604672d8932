// The master's view of shards: reading, alignment and digests.

#include "libcore/cluster/loading/master_data.h"

#include <algorithm>
#include <filesystem>

#include "libcore/data/format/stream.h"
#include "libcore/data/sharding/contradiction.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"

namespace dl::cluster {

namespace {

// Copies a stream into a shard, which has one end mark and an index.
void spool(const std::string& operand, const std::string& path) {
  data::StreamReader reader(io::open_source(operand), data::Form::kStored);
  data::StreamWriter writer(io::open_sink(path));
  writer.write_metadata(reader.metadata());
  for (data::DataSet set; reader.read(set);) writer.write(set);
  reader.close();
  // Complete only now: statistics may come at the end.
  writer.write_metadata(reader.metadata());
  writer.close();
}

// Identity of the training data: the records, and what their columns are
// called.
std::uint64_t contents_of(const data::Shard& shard) {
  const data::Metadata& named = shard.metadata();
  const std::string text = io::hex(shard.contents()) +
                           dump_json(named.columns) + dump_json(named.classes) +
                           dump_json(named.targets);
  return io::digest(std::as_bytes(std::span(text)));
}

// Reports an alignment that several shards share only once.
void tell_alignments(const std::vector<std::string>& names,
                     const std::vector<ShardInfo>& shards, const Log& log) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string& note = shards[i].alignment.note;
    const auto alike = [&](const ShardInfo& shard) {
      return shard.alignment.note == note;
    };
    const auto at = shards.begin() + static_cast<std::ptrdiff_t>(i);
    if (note.empty() || std::any_of(shards.begin(), at, alike)) continue;
    const auto more = std::count_if(at + 1, shards.end(), alike);
    log(Level::kWarning,
        "'" + names[i] + "'" +
            (more == 0 ? "" : " and " + std::to_string(more) + " more") + ": " +
            note);
  }
}

}  // namespace

MasterData::MasterData(const std::vector<std::string>& operands,
                       const std::string& spool_name, const Like& like,
                       const Check& check, const Log& log) {
  int streams = 0;
  std::vector<std::string> names;
  for (const std::string& operand : io::expand_operands(operands)) {
    names.push_back(operand);
    if (io::names_file(operand)) {
      add(operand, operand, like, check);
      continue;
    }
    names.back() = spool_name + "-" + std::to_string(streams++) + ".dls";
    const std::filesystem::path final_name(names.back());
    // As of what a sweep of the run directory removes.
    auto file = std::make_unique<io::Temporary>(
        (final_name.parent_path() /
         ("." + final_name.filename().string() + ".tmp"))
            .string());
    spool(operand, file->path());
    add(file->path(), names.back(), like, check);
    spooled_.push_back({std::move(file), names.back(), shards_.size() - 1});
  }
  tell_alignments(names, shards_, log);
}

void MasterData::keep() {
  for (Spooled& spooled : spooled_) spooled.file->rename_to(spooled.name);
  if (!spooled_.empty()) io::sync_folder_of(spooled_.back().name);
  spooled_.clear();
}

// shown: the name that the file has, or will have.
void MasterData::add(const std::string& path, const std::string& shown,
                     const Like& like, const Check& check) {
  const data::Shard shard(path);
  if (shards_.empty()) like_ = like(shard.metadata());
  try {
    check(shard.metadata());
  } catch (Error& error) {
    error.add_context("'" + shown + "'");
    throw;
  }
  ShardInfo info;
  try {
    info.alignment = data::align(shard.metadata(), like_, true);
    data::Metadata own = info.alignment.apply(shard.metadata(), like_);
    std::erase_if(own.schema, [](const auto& field) {
      return data::names_example(field.first);
    });
    if (shards_.empty())
      metadata_ = std::move(own);
    else
      metadata_.join(own, {"it", "'" + shards_.front().path + "'"});
  } catch (Error& error) {
    error.add_context(
        "'" + shown + "'" +
        (shards_.empty() ? "" : " does not go with the shards before it"));
    throw;
  }
  for (auto names : {&data::Metadata::columns, &data::Metadata::classes,
                     &data::Metadata::targets})
    if ((like_.*names).empty()) like_.*names = metadata_.*names;
  info.path = std::filesystem::absolute(shown).lexically_normal().string();
  info.digest = shard.digest();
  info.records = shard.records();
  info.encoded = shard.encoded();
  named_.push_back({{"digest", io::hex(info.digest)},
                    {"contents", io::hex(contents_of(shard))},
                    {"examples", shard.examples()}});
  shards_.push_back(std::move(info));
}

data::Catalogue MasterData::catalogue() const {
  data::Catalogue catalogue;
  for (const ShardInfo& shard : shards_)
    catalogue.records.push_back(shard.records);
  return catalogue;
}

// A stream taken up gets its name in keep().
const std::string& MasterData::file_of(std::uint32_t shard) const {
  for (const Spooled& spooled : spooled_)
    if (spooled.shard == shard) return spooled.file->path();
  return shards_[shard].path;
}

const data::Shard& MasterData::open(std::uint32_t shard, std::uint32_t record) {
  if (shard >= shards_.size() || record >= shards_[shard].records.size())
    throw Error{Code::kProtocol, "there is no record " +
                                     std::to_string(record) + " of shard " +
                                     std::to_string(shard)};
  if (!open_ || open_index_ != shard) {
    open_ = std::make_unique<data::Shard>(file_of(shard));
    open_index_ = shard;
    if (open_->digest() != shards_[shard].digest) {
      open_.reset();
      throw Error{Code::kData, "'" + shards_[shard].path +
                                   "' has changed since the run began"};
    }
  }
  return *open_;
}

std::vector<std::byte> MasterData::record(std::uint32_t shard,
                                          std::uint32_t record) {
  const data::Shard& file = open(shard, record);
  std::vector<std::byte> packed = file.read_packed(record);
  // Once: a worker sees itself what is damaged later, but does not know the
  // shard's metadata.
  if (!checked_.contains({shard, record})) {
    (void)file.decode(record, packed);
    checked_.emplace(shard, record);
  }
  return packed;
}

void MasterData::examine(std::uint32_t shard, std::uint32_t record,
                         const CheckRecord& check) {
  data::DataSet set = open(shard, record).read(record);
  prepare_record(shards_[shard], record, set, check);
}

// Some records of each shard say what is usual.
std::string MasterData::odd_values(const data::ExampleRun& piece) {
  constexpr std::size_t kSome = 64;
  if (!usual_) {
    usual_.emplace();
    const std::size_t each = std::max<std::size_t>(1, kSome / shards_.size());
    for (std::uint32_t shard = 0; shard < shards_.size(); ++shard) {
      const std::size_t records = shards_[shard].records.size();
      const std::size_t step = std::max<std::size_t>(1, records / each);
      for (std::size_t r = 0; r < records; r += step) {
        const auto number = static_cast<std::uint32_t>(r);
        usual_->learn(open(shard, number).read(number));
      }
    }
  }
  const data::DataSet set = open(piece.shard, piece.record).read(piece.record);
  const std::string what = usual_->of(set, piece.examples);
  return what.empty() ? ""
                      : "'" + shards_[piece.shard].path + "', record " +
                            std::to_string(piece.record) + ", " + what;
}

Json MasterData::to_json() const { return named_; }

void MasterData::name_as(const Json& before) {
  if (!before.is_array() || before.size() != named_.size()) return;
  for (std::size_t i = 0; i < named_.size(); ++i) {
    const Json& then = before[i];
    if (!then.is_object()) continue;
    // Runs of version 0.1 tell the digests of whole files only.
    const char* key = then.contains("contents") ? "contents" : "digest";
    if (then.value(key, Json()) == named_[i][key]) named_[i] = then;
  }
}

}  // namespace dl::cluster
