// The cache of unpacked records, read from shards or received from the master.

#include "libcore/cluster/loading/record_store.h"

#include <filesystem>
#include <system_error>

#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/data/format/windows.h"

namespace dl::cluster {
namespace {

namespace fs = std::filesystem;

bool lies_below(const fs::path& path, const fs::path& root) {
  auto part = path.begin();
  for (const fs::path& want : root) {
    if (want.empty()) continue;  // after a final slash
    if (part == path.end() || *part != want) return false;
    ++part;
  }
  return true;
}

std::size_t bytes_of(const data::DataSet& set) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : set.tensors) bytes += tensor.bytes().size();
  for (const auto& [name, stored] : set.encoded) bytes += stored.bytes.size();
  return bytes;
}

// Keeps the rows of a series in place of the windows that are cut of them, and
// no other stored form.
void keep_rows(data::DataSet& set) {
  if (set.views.empty()) return set.encoded.clear();
  std::erase_if(set.encoded, [](const auto& stored) {
    return stored.first != data::kSeriesName;
  });
  std::erase_if(set.tensors, [&](const auto& tensor) {
    return set.views.contains(tensor.first);
  });
}

// Number of a record, counted through all shards.
std::int64_t number_of(const std::vector<ShardInfo>& shards,
                       std::uint32_t shard, std::uint32_t record) {
  std::int64_t number = record;
  for (std::uint32_t i = 0; i < shard; ++i)
    number += static_cast<std::int64_t>(shards[i].records.size());
  return number;
}

}  // namespace

void prepare_record(const ShardInfo& info, std::uint32_t record,
                    data::DataSet& set, const CheckRecord& check) {
  std::erase_if(set.tensors, [](const auto& tensor) {
    return data::names_example(tensor.first);
  });
  try {
    info.alignment.apply(set);
    if (check) check(set);
  } catch (Error& e) {
    e.add_context("'" + info.path + "', record " + std::to_string(record));
    throw;
  }
}

std::optional<data::Shard> open_local(const ShardInfo& info,
                                      const std::string& data_root,
                                      std::string& why) {
  if (info.path.empty() || info.path[0] != '/') {
    why = "the master has no file of it";
    return std::nullopt;
  }
  std::error_code error;
  const fs::path root = fs::canonical(data_root, error);
  if (error) {
    why = "cannot use '" + data_root + "': " + error.message();
    return std::nullopt;
  }
  const fs::path path = fs::canonical(info.path, error);
  if (error) {
    why = error.message();
    return std::nullopt;
  }
  if (!lies_below(path, root)) {
    why = "lies outside '" + data_root + "'";
    return std::nullopt;
  }
  if (!fs::is_regular_file(path, error)) {
    why = "is no regular file";
    return std::nullopt;
  }
  try {
    data::Shard shard(path.string());
    if (shard.digest() == info.digest && shard.records() == info.records)
      return shard;
    why = "differs from the master's";
  } catch (const Error& e) {
    why = e.what();
  }
  return std::nullopt;
}

RecordStore::RecordStore(std::vector<ShardInfo> shards,
                         const std::string& data_root, FetchRecord fetch,
                         std::size_t cache_bytes, Log log, CheckRecord check)
    : shards_(std::move(shards)),
      fetch_(std::move(fetch)),
      cache_bytes_(cache_bytes),
      log_(std::move(log)),
      check_(std::move(check)) {
  for (const ShardInfo& info : shards_) {
    std::string why;
    files_.push_back(open_local(info, data_root, why));
    if (!files_.back())
      log_(Level::kDetail,
           "'" + info.path + "' is read through the master: " + why);
  }
}

std::vector<std::uint32_t> RecordStore::unreadable() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t i = 0; i < files_.size(); ++i)
    if (!files_[i]) missing.push_back(i);
  return missing;
}

std::shared_ptr<const data::DataSet> RecordStore::get(std::uint32_t shard,
                                                      std::uint32_t record) {
  const Key key{shard, record};
  if (const auto at = index_.find(key); at != index_.end()) {
    kept_.splice(kept_.begin(), kept_, at->second);
    return at->second->set;
  }
  require(shard < shards_.size() && record < shards_[shard].records.size(),
          "a record outside the catalog");
  auto set = std::make_shared<const data::DataSet>(load(shard, record));
  keep(key, set);
  return set;
}

data::DataSet RecordStore::load(std::uint32_t shard, std::uint32_t record) {
  failpoint("worker.record", number_of(shards_, shard, record));
  if (files_[shard]) {
    try {
      data::DataSet set = files_[shard]->read(record, data::Form::kStored);
      prepare_record(shards_[shard], record, set, check_);
      keep_rows(set);
      return set;
    } catch (const Error& e) {
      log_(Level::kWarning,
           std::string(e.what()) + "; asking the master for it");
      files_[shard].reset();
    }
  }
  try {
    return load_fetched(shard, record);
  } catch (const Error& e) {
    if (e.code() == Code::kTryAgain) throw;  // the record may be all right
    throw BadRecord(e, shard, record);
  }
}

data::DataSet RecordStore::load_fetched(std::uint32_t shard,
                                        std::uint32_t record) {
  const ShardInfo& info = shards_[shard];
  data::DataSet set;
  try {
    set = data::unpack_record(fetch_(shard, record), info.encoded,
                              "the master's copy", data::Form::kStored);
    set.check();
    if (set.examples() != info.records[record])
      throw Error{Code::kData, "has " + std::to_string(set.examples()) +
                                   " examples, not " +
                                   std::to_string(info.records[record])};
  } catch (Error& e) {
    e.add_context("'" + info.path + "', record " + std::to_string(record));
    throw;
  }
  prepare_record(info, record, set, check_);
  keep_rows(set);
  return set;
}

void RecordStore::keep(const Key& key,
                       std::shared_ptr<const data::DataSet> set) {
  const std::size_t bytes = bytes_of(*set);
  kept_.push_front(Kept{key, std::move(set), bytes});
  index_[key] = kept_.begin();
  bytes_ += bytes;
  while (bytes_ > cache_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().bytes;
    index_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

}  // namespace dl::cluster
