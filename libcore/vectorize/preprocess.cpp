#include "libcore/vectorize/preprocess.h"

#include <sys/stat.h>

#include <ctime>

#include "libcore/base/error.h"
#include "libcore/data/set_statistics.h"
#include "libcore/data/shard.h"
#include "libcore/data/stream.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"

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

}  // namespace

std::int64_t preprocess(Reader& reader, std::unique_ptr<io::Sink> sink,
                        const std::optional<data::Provenance>& provenance,
                        const std::function<void(std::int64_t)>& progress,
                        std::int64_t expected) {
  std::string name = sink->name();
  data::StreamWriter writer(std::move(sink));
  data::Metadata first = reader.metadata();
  first.classes.clear();  // they may grow, and must not contradict
  if (provenance) first.provenance.push_back(*provenance);
  writer.write_metadata(first);
  data::SetStatistics statistics;
  for (data::DataSet set; reader.read(set);) {
    statistics.add(set);
    writer.write(set);
    progress(writer.examples());
  }
  if (expected > 0 && reader.examples() != expected)
    throw Error{Code::kData, reader.examples() > expected
                                 ? "the input has more than the " +
                                       std::to_string(expected) +
                                       " examples of --examples"
                                 : "the input ends after example " +
                                       std::to_string(reader.examples()) +
                                       " of " + std::to_string(expected) +
                                       " (--examples); it was cut short"};
  if (writer.examples() == 0)
    throw Error{Code::kData,
                "the input has no examples; " + name + " was not written"};
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
