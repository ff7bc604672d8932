// Writing of event files.

#include "libcore/plot/tensorboard.h"

#include <bit>
#include <boost/crc.hpp>
#include <cmath>
#include <cstdio>

#include "libcore/base/display.h"

namespace dl::plot {
namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i) & 255U);
  return text;
}

// The wire format of protocol buffers.
std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7U)
    text += static_cast<char>((value & 127U) | 128U);
  return text + static_cast<char>(value);
}
std::string fixed64(int field, double value) {
  return varint(static_cast<std::uint64_t>(field) << 3U | 1U) +
         little(std::bit_cast<std::uint64_t>(value), 8);
}
std::string fixed32(int field, float value) {
  return varint(static_cast<std::uint64_t>(field) << 3U | 5U) +
         little(std::bit_cast<std::uint32_t>(value), 4);
}
std::string number_field(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3U) + varint(value);
}
std::string bytes_field(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3U | 2U) +
         varint(bytes.size()) + bytes;
}

std::string record(const std::string& event) {
  const std::string length = little(event.size(), 8);
  return length + little(masked_crc(length), 4) + event +
         little(masked_crc(event), 4);
}

class EventFile {
 public:
  explicit EventFile(double begin) : begin_(begin) {
    text_ = record(fixed64(1, begin) + bytes_field(3, "brain.Event:2"));
  }
  void scalar(const std::string& tag, double step, double seconds,
              double value) {
    if (!std::isfinite(value)) return;
    const std::string one =
        bytes_field(1, displayed(tag)) + fixed32(2, static_cast<float>(value));
    text_ += record(fixed64(1, begin_ + seconds) +
                    number_field(2, static_cast<std::uint64_t>(step)) +
                    bytes_field(5, bytes_field(1, one)));
  }
  // A spread has equal parts, so each is a bucket.
  void histogram(const std::string& tag, double step, double seconds,
                 const Spread& of) {
    if (of.counts.empty() || !std::isfinite(of.low) || !std::isfinite(of.high))
      return;
    double all = 0;
    for (const double count : of.counts) all += count;
    const double width =
        (of.high - of.low) / static_cast<double>(of.counts.size());
    std::string limits, counts;
    for (std::size_t i = 0; i < of.counts.size(); ++i) {
      const double limit = of.low + width * static_cast<double>(i + 1);
      limits += little(std::bit_cast<std::uint64_t>(limit), 8);
      counts += little(std::bit_cast<std::uint64_t>(of.counts[i]), 8);
    }
    const std::string histogram =
        fixed64(1, of.low) + fixed64(2, of.high) + fixed64(3, all) +
        fixed64(4, of.mean * all) + fixed64(5, of.norm * of.norm) +
        bytes_field(6, limits) + bytes_field(7, counts);
    text_ +=
        record(fixed64(1, begin_ + seconds) +
               number_field(2, static_cast<std::uint64_t>(step)) +
               bytes_field(5, bytes_field(1, bytes_field(1, displayed(tag)) +
                                                 bytes_field(5, histogram))));
  }
  // For the plug-in "hparams": content is its HParamsPluginData.
  void hyperparameters(const char* tag, const std::string& content) {
    const std::string value =
        bytes_field(1, std::string("_hparams_/") + tag) +
        bytes_field(8, number_field(1, 1) + bytes_field(2, {})) +
        bytes_field(9, bytes_field(1, bytes_field(1, "hparams") +
                                          bytes_field(2, content)));
    text_ += record(fixed64(1, begin_) + bytes_field(5, bytes_field(1, value)));
  }
  const std::string& text() const { return text_; }

 private:
  double begin_;
  std::string text_;
};

// Settings that a table of runs has room for: not those of each layer.
std::string settings_of(const Run& run) {
  constexpr std::size_t kMost = 200;
  std::string all;
  std::size_t count = 0;
  for (const auto& [key, value] : run.settings()) {
    if (key.starts_with("network.layers") || key.starts_with("normalizer") ||
        ++count > kMost)
      continue;
    const Json parsed = Json::parse(value, nullptr, false);
    const std::string one =
        parsed.is_number()    ? fixed64(2, parsed.get<double>())
        : parsed.is_boolean() ? number_field(4, parsed.get<bool>() ? 1 : 0)
                              : bytes_field(3, displayed(value));
    all += bytes_field(1, bytes_field(1, displayed(key)) + bytes_field(2, one));
  }
  return all;
}

void add_hyperparameters(EventFile& file, const Run& run) {
  constexpr int kSuccess = 1, kRunning = 3;
  const History& history = run.history();
  if (run.configuration().is_null()) return;
  file.hyperparameters(
      "session_start_info",
      bytes_field(3, settings_of(run) + fixed64(5, history.begin)));
  const bool over = !history.report.is_null();
  file.hyperparameters(
      "session_end_info",
      bytes_field(4, number_field(1, over ? kSuccess : kRunning) +
                         fixed64(2, history.begin + history.seconds)));
}

}  // namespace

std::uint32_t masked_crc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) +
         0xa282ead8U;
}

std::string event_file_name(const Run& run) {
  char name[64];
  std::snprintf(name, sizeof name, "events.out.tfevents.%010.0f.dl-plot",
                std::floor(run.history().begin));
  return name;
}

std::string event_file(const Run& run) {
  const History& history = run.history();
  EventFile file(history.begin);
  add_hyperparameters(file, run);
  double batches = 0;
  for (const Commit& one : history.commits) {
    batches += static_cast<double>(one.count);
    file.scalar("batch/loss", batches, one.seconds, one.loss);
    file.scalar("batch/staleness", batches, one.seconds, one.staleness);
  }
  for (const Epoch& one : history.epochs)
    file.scalar("epoch/loss", static_cast<double>(one.epoch), one.seconds,
                one.loss);
  for (const HeldOut& one : history.held_out)
    for (const auto& [key, value] : one.metrics)
      file.scalar("held_out/" + key, static_cast<double>(one.epoch),
                  one.seconds, value);
  // Steps grow in a tag: several of an epoch are told apart by their time.
  for (const Exchange& one : history.exchanges)
    for (const auto& [key, value] : one.values)
      file.scalar("exchange/" + key + "/" + history.workers[one.worker],
                  std::floor(one.seconds), one.seconds, value);
  double round = 0;
  for (const Round& one : history.rounds) {
    for (const auto& [key, value] : one.values)
      file.scalar("round/" + key, round, one.seconds, value);
    ++round;
  }
  for (const Summary& one : history.summaries)
    for (const auto& [name, layer] : one.layers) {
      file.scalar("norm/" + name, one.batches, one.seconds,
                  layer.parameters.norm);
      file.scalar("change/" + name, one.batches, one.seconds,
                  layer.change.norm);
      file.scalar("learning_rate/" + name, one.batches, one.seconds,
                  layer.learning_rate);
      file.histogram("parameters/" + name, one.batches, one.seconds,
                     layer.parameters);
      file.histogram("change/" + name, one.batches, one.seconds, layer.change);
    }
  return file.text();
}

}  // namespace dl::plot
