#include "libcore/vectorize/preprocess.h"

#include <sys/stat.h>

#include <ctime>

#include "libcore/base/error.h"
#include "libcore/data/format/shard.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/statistics/set_statistics.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/engine.h"

namespace dl::vectorize {
namespace {

std::int64_t ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns(now);
}

// A file could still change twice within a tick of the clock of file times.
constexpr std::int64_t kGrain = 20'000'000;  // ns

// Provenance, recipe and schema are in the first metadata record; say them
// once.
data::Metadata closing_metadata(const Reader& reader,
                                const data::SetStatistics& statistics) {
  data::Metadata metadata = reader.metadata();
  metadata.recipe = nullptr;
  statistics.put_into(metadata);
  return metadata;
}

struct Packed {
  data::SetStatistics statistics;
  data::PackedRecord record;
};

// Gives all that `reader` has, packed, in its order.
void write_records(Reader& reader, const data::Metadata& metadata,
                   const std::string& name, int threads,
                   const std::function<void(const Packed&)>& take) {
  std::optional<data::DataSet> first(std::in_place);
  if (!reader.read(*first)) return;
  std::size_t bytes = 0;  // hardly any later record is larger
  for (const auto& [tensor, values] : first->tensors)
    bytes += values.bytes().size();
  std::vector<std::unique_ptr<data::RecordPacker>> packers;
  packers.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i)
    packers.push_back(std::make_unique<data::RecordPacker>(metadata, name));
  Engine<data::DataSet, Packed> engine(
      threads,
      [&](data::DataSet& set) {
        if (!first) return reader.read(set);
        set = std::move(*first);
        first.reset();
        return true;
      },
      [&](data::DataSet& set, int thread) {
        Packed packed;
        packed.statistics.add(set);
        packed.record = packers[static_cast<std::size_t>(thread)]->pack(set);
        return packed;
      },
      bytes);
  while (const auto packed = engine.next()) take(*packed);
}

}  // namespace

std::int64_t preprocess(Reader& reader, std::unique_ptr<io::Sink> sink,
                        const std::optional<data::Provenance>& provenance,
                        const std::function<void(std::int64_t)>& progress,
                        std::int64_t expected, int threads) {
  std::string name = sink->name();
  data::StreamWriter writer(std::move(sink));
  data::Metadata first = reader.metadata();
  first.classes.clear();  // they may grow, and must not contradict
  if (provenance) first.provenance.push_back(*provenance);
  writer.write_metadata(first);
  data::SetStatistics statistics;
  write_records(reader, first, name, threads, [&](const Packed& record) {
    statistics.merge(record.statistics);
    writer.write(record.record);
    progress(writer.examples());
  });
  if (expected > 0 && reader.examples() != expected)
    throw Error{Code::kData, reader.examples() > expected
                                 ? "the input has more than the " +
                                       std::to_string(expected) +
                                       " examples of --examples"
                                 : "the input ends after example " +
                                       std::to_string(reader.examples()) +
                                       " of " + std::to_string(expected) +
                                       " (--examples); it was cut short"};
  if (writer.examples() == 0) {
    const std::string left = sentence_of(reader.passed_over());
    bad_data("the input has no examples; " + name + " was not written" +
             (left.empty() ? "" : "; " + left));
  }
  writer.write_metadata(closing_metadata(reader, statistics));
  writer.close();
  return writer.examples();
}

std::string digest_of(const std::vector<std::string>& inputs) {
  const std::int64_t settled = now_ns() - kGrain;
  std::string text;
  for (const std::string& input : inputs) {
    struct stat status {};
    if (!io::is_regular(input, status) || ns(status.st_mtim) > settled)
      return "";
    text += input + '\0' + std::to_string(status.st_size) + '\0' +
            std::to_string(ns(status.st_mtim)) + '\0';
  }
  return text.empty() ? ""
                      : io::hex(io::digest(std::as_bytes(std::span(text))));
}

std::optional<std::int64_t> current_examples(const std::string& output,
                                             const data::Provenance& step) {
  struct stat made {};
  if (step.inputs.empty() || !io::is_regular(output, made)) return std::nullopt;
  try {
    const data::Shard shard(output);
    const auto& steps = shard.metadata().provenance;
    if (shard.streams() == 1 && steps.size() == 1 && steps[0] == step)
      return shard.examples();
  } catch (const Error&) {  // damaged, so make it again
  }
  return std::nullopt;
}

}  // namespace dl::vectorize
