#include "libcore/vectorize/preprocess.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "libcore/base/error.h"
#include "libcore/data/set_statistics.h"
#include "libcore/data/shard.h"
#include "libcore/data/stream.h"
#include "libcore/io/digest.h"
#include "libcore/io/source.h"

namespace dl::vectorize {
namespace {

std::int64_t ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_regular(const std::string& spec, struct stat& status) {
  return io::names_file(spec) && ::stat(spec.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

// Provenance and schema are in the first metadata record; say them once.
data::Metadata closing_metadata(const Reader& reader,
                                const data::SetStatistics& statistics) {
  data::Metadata metadata = reader.metadata();
  statistics.put_into(metadata);
  return metadata;
}

}  // namespace

std::int64_t preprocess(Reader& reader, std::unique_ptr<io::Sink> sink,
                        const std::optional<data::Provenance>& provenance,
                        const std::function<void(std::int64_t)>& progress) {
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
  if (writer.examples() == 0)
    throw Error{Code::kData,
                "the input has no examples; " + name + " was not written"};
  writer.write_metadata(closing_metadata(reader, statistics));
  writer.close();
  return writer.examples();
}

std::string digest_of(const std::vector<std::string>& inputs) {
  std::string text;
  for (const std::string& input : inputs) {
    struct stat status {};
    if (!is_regular(input, status)) return "";
    text += input + '\0' + std::to_string(status.st_size) + '\0' +
            std::to_string(ns(status.st_mtim)) + '\0';
  }
  return text.empty() ? ""
                      : io::hex(io::digest(std::as_bytes(std::span(text))));
}

bool is_current(const std::string& output, const data::Provenance& provenance,
                const std::vector<std::string>& inputs) {
  struct stat made {};
  if (provenance.inputs.empty() || !is_regular(output, made)) return false;
  for (const std::string& input : inputs) {
    struct stat status {};
    if (!is_regular(input, status) ||
        std::max(ns(status.st_mtim), ns(status.st_ctim)) >= ns(made.st_mtim))
      return false;
  }
  try {
    data::Shard shard(output);
    const auto& steps = shard.metadata().provenance;
    return steps.size() == 1 && steps[0] == provenance;
  } catch (const Error&) {
    return false;  // damaged, so make it again
  }
}

void mark_current(const std::string& output, std::int64_t began_ns) {
  timespec time{began_ns / 1'000'000'000, began_ns % 1'000'000'000};
  timespec times[2] = {time, time};
  // A failure costs no more than a needless run.
  (void)utimensat(AT_FDCWD, output.c_str(), times, 0);
}

std::int64_t now_ns() {
  timespec now{};
  // File times come from the coarse clock: the fine one could be ahead of a
  // file that was written after it.
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return ns(now);
}

}  // namespace dl::vectorize
