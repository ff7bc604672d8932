// Encoding of event files.

#include "libcore/plot/event_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/crc.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/nn/layout.h"

namespace dl::plot {
namespace {

std::string little(std::uint64_t value, int bytes) {
  std::array<char, 8> text{};
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(value >> (8 * i) & 255U);
  return {text.data(), static_cast<std::size_t>(bytes)};
}
std::string double_bytes(double value) {
  return little(std::bit_cast<std::uint64_t>(value), 8);
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
         double_bytes(value);
}
std::string fixed32(int field, float value) {
  return varint(static_cast<std::uint64_t>(field) << 3U | 5U) +
         little(std::bit_cast<std::uint32_t>(value), 4);
}
std::string number_field(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3U) + varint(value);
}
std::string bytes_field(int field, std::string_view bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3U | 2U) +
         varint(bytes.size()) + std::string(bytes);
}

#ifdef __x86_64__
[[gnu::target("sse4.2")]] std::uint32_t crc_by_instruction(
    std::string_view bytes) {
  std::uint64_t crc = 0xffffffff;
  for (; bytes.size() >= sizeof crc; bytes.remove_prefix(sizeof crc)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), sizeof eight);
    crc = __builtin_ia32_crc32di(crc, eight);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (const char c : bytes)
    rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(c));
  return ~rest;
}
#endif

std::string record(const std::string& event) {
  const std::string length = little(event.size(), 8);
  return length + little(masked_crc(length), 4) + event +
         little(masked_crc(event), 4);
}

// Fields of a HistogramProto; limits: upper ends of the buckets.
std::string histogram_value(double low, double high, double sum, double squares,
                            const std::vector<double>& limits,
                            const std::vector<double>& counts) {
  std::string packed_limits, packed_counts;
  double all = 0;
  for (const double limit : limits) packed_limits += double_bytes(limit);
  for (const double count : counts) {
    packed_counts += double_bytes(count);
    all += count;
  }
  return fixed64(1, low) + fixed64(2, high) + fixed64(3, all) +
         fixed64(4, sum) + fixed64(5, squares) + bytes_field(6, packed_limits) +
         bytes_field(7, packed_counts);
}

// Names of nodes in a graph of TensorFlow: each is there once.
class NodeNames {
 public:
  std::string of(const std::string& name) {
    std::string clean;
    for (const char c : name)
      clean += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                       c == '-' || c == '.' || c == '/'
                   ? c
                   : '_';
    if (clean.empty() ||
        std::isalnum(static_cast<unsigned char>(clean[0])) == 0)
      clean.insert(0, "n");
    std::string unique = clean;
    for (int n = 2; !used_.insert(unique).second; ++n)
      unique = clean + "_" + std::to_string(n);
    return unique;
  }

 private:
  std::set<std::string> used_;
};

// The attribute from which edges take their shapes; -1: of the mini-batch.
std::string shape_attribute(const tensor::Shape& shape) {
  std::string dimensions =
      bytes_field(2, number_field(1, static_cast<std::uint64_t>(-1)));
  for (const std::int64_t extent : shape.extents())
    dimensions +=
        bytes_field(2, number_field(1, static_cast<std::uint64_t>(extent)));
  const std::string list = bytes_field(1, bytes_field(7, dimensions));
  return bytes_field(5,
                     bytes_field(1, "_output_shapes") + bytes_field(2, list));
}

}  // namespace

std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = 0;
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2"))
    crc = crc_by_instruction(bytes);
  else
#endif
  {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
    sum.process_bytes(bytes.data(), bytes.size());
    crc = static_cast<std::uint32_t>(sum.checksum());
  }
  return std::rotr(crc, 15) + 0xa282ead8U;
}

std::string EventRecords::take() { return std::exchange(text_, {}); }

void EventRecords::version() {
  text_ += record(fixed64(1, begin_) + bytes_field(3, "brain.Event:2"));
}

void EventRecords::summary(double step, double seconds,
                           const std::string& value) {
  text_ +=
      record(fixed64(1, begin_ + seconds) +
             number_field(2, static_cast<std::uint64_t>(std::max(0.0, step))) +
             bytes_field(5, bytes_field(1, value)));
}

void EventRecords::scalar(const std::string& tag, double step, double seconds,
                          double value) {
  if (!std::isfinite(value) || !std::isfinite(step)) return;
  summary(
      step, seconds,
      bytes_field(1, displayed(tag)) + fixed32(2, static_cast<float>(value)));
}

// A spread has equal parts, so each is a bucket.
void EventRecords::histogram(const std::string& tag, double step,
                             double seconds, const Spread& of) {
  if (of.counts.empty() || !std::isfinite(of.low) || !std::isfinite(of.high))
    return;
  double all = 0;
  for (const double count : of.counts) all += count;
  const double width =
      (of.high - of.low) / static_cast<double>(of.counts.size());
  std::vector<double> limits;
  limits.reserve(of.counts.size());
  for (std::size_t i = 0; i < of.counts.size(); ++i)
    limits.push_back(of.low + width * static_cast<double>(i + 1));
  summary(step, seconds,
          bytes_field(1, displayed(tag)) +
              bytes_field(
                  5, histogram_value(of.low, of.high, of.mean * all,
                                     of.norm * of.norm, limits, of.counts)));
}

void EventRecords::histogram(const std::string& tag, double step,
                             double seconds, const Bins& of) {
  if (of.empty() || !std::isfinite(of.low) || !std::isfinite(of.high)) return;
  std::vector<double> limits, counts;
  for (const auto& [bin, count] : of.counts) {
    const auto [from, to] = edges_of(bin);
    // Neighbors that nothing fell into end where this one begins.
    if (!limits.empty() && limits.back() < from) {
      limits.push_back(from);
      counts.push_back(0);
    }
    limits.push_back(to);
    counts.push_back(count);
  }
  const double all = of.count();
  summary(step, seconds,
          bytes_field(1, displayed(tag)) +
              bytes_field(
                  5, histogram_value(of.low, of.high, of.mean * all,
                                     of.rms * of.rms * all, limits, counts)));
}

void EventRecords::image(const std::string& tag, double step, double seconds,
                         const FilterPicture& picture) {
  const std::string_view png(reinterpret_cast<const char*>(picture.png.data()),
                             picture.png.size());
  summary(
      step, seconds,
      bytes_field(1, displayed(tag)) +
          bytes_field(
              4,
              number_field(1, static_cast<std::uint64_t>(picture.height)) +
                  number_field(2, static_cast<std::uint64_t>(picture.width)) +
                  number_field(3,
                               static_cast<std::uint64_t>(picture.channels)) +
                  bytes_field(4, png)));
}

void EventRecords::pr_curve(const std::string& tag, double step, double seconds,
                            std::span<const std::array<double, 4>> counts) {
  constexpr std::uint64_t kFloat = 1, kTensors = 2;
  std::array<std::string, 6> rows;  // ... precision, recall
  for (const auto& [yes, wrong, no, missed] : counts) {
    const double said = yes + wrong, there = yes + missed;
    const std::array<double, 6> values = {yes,
                                          wrong,
                                          no,
                                          missed,
                                          said > 0 ? yes / said : 1,
                                          there > 0 ? yes / there : 0};
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] += little(
          std::bit_cast<std::uint32_t>(static_cast<float>(values[i])), 4);
  }
  std::string content;
  for (const std::string& row : rows) content += row;
  const std::string shape = bytes_field(2, number_field(1, rows.size())) +
                            bytes_field(2, number_field(1, counts.size()));
  const std::string tensor =
      number_field(1, kFloat) + bytes_field(2, shape) + bytes_field(4, content);
  const std::string plugin = bytes_field(1, "pr_curves") +
                             bytes_field(2, number_field(2, counts.size()));
  summary(step, seconds,
          bytes_field(1, displayed(tag)) + bytes_field(8, tensor) +
              bytes_field(9, bytes_field(1, plugin) +
                                 bytes_field(2, displayed(tag)) +
                                 number_field(4, kTensors)));
}

void EventRecords::graph(const nn::NetworkConfig& network) {
  constexpr std::uint64_t kProducer = 22;
  const nn::Layout layout = nn::layout_of(network);
  NodeNames names;
  std::vector<std::string> name_of;  // by value
  std::string nodes;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const std::string& given = network.inputs[i].name;
    name_of.push_back(names.of(given.empty() ? "input" : given));
    nodes += bytes_field(1, bytes_field(1, name_of.back()) +
                                bytes_field(2, "Placeholder") +
                                shape_attribute(layout.inputs[i].shape));
  }
  for (const nn::LayerConfig& layer : network.layers)
    name_of.push_back(names.of(layer.name));
  const auto summaries = nn::summarise(network, layout);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    std::string node = bytes_field(1, name_of[network.value_of(i)]) +
                       bytes_field(2, summaries[i].type);
    for (const nn::Value from : network.layers[i].from)
      node += bytes_field(3, name_of.at(from));
    nodes += bytes_field(1, node + shape_attribute(summaries[i].output));
  }
  const std::string graph = nodes + bytes_field(4, number_field(1, kProducer));
  text_ += record(fixed64(1, begin_) + bytes_field(4, graph));
}

void EventRecords::hparams(const char* tag, const std::string& content) {
  summary(0, 0,
          bytes_field(1, std::string("_hparams_/") + tag) +
              bytes_field(8, number_field(1, 1) + bytes_field(2, {})) +
              bytes_field(9, bytes_field(1, bytes_field(1, "hparams") +
                                                bytes_field(2, content))));
}

// Settings that a table of runs has room for: not those of each layer.
void EventRecords::hparams_start(
    const std::vector<std::pair<std::string, std::string>>& settings) {
  constexpr std::size_t kMost = 200;
  std::string all;
  std::size_t count = 0;
  for (const auto& [key, value] : settings) {
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
  hparams("session_start_info", bytes_field(3, all + fixed64(5, begin_)));
}

void EventRecords::hparams_end(bool over, double seconds) {
  constexpr int kSuccess = 1, kRunning = 3;
  hparams("session_end_info",
          bytes_field(4, number_field(1, over ? kSuccess : kRunning) +
                             fixed64(2, begin_ + seconds)));
}

}  // namespace dl::plot
