#include "libcore/data/format/encoded.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kJpeg:
      return "jpeg";
    case Encoding::kRagged:
      return "ragged";
    case Encoding::kSeries:
      return "series";
    case Encoding::kWindow:
      return "window";
    case Encoding::kNone:
      break;
  }
  return "";
}

Encoding encoding_named(const std::string& name) {
  for (const Encoding encoding : {Encoding::kJpeg, Encoding::kRagged,
                                  Encoding::kSeries, Encoding::kWindow})
    if (name == name_of(encoding)) return encoding;
  bad_data("encoding " + in_quotes(name) +
           " is none that this program reads (jpeg, ragged, series, window)");
}

std::int64_t Encoded::examples() const {
  if (encoding != Encoding::kSeries)
    return static_cast<std::int64_t>(offsets.size()) - 1;
  return runs.empty() ? 0 : runs.back().before + runs.back().count;
}

const WindowRun& Encoded::run_of(std::int64_t i) const {
  require(i >= 0 && i < examples(), "a window outside its series");
  return *(std::ranges::upper_bound(runs, i, {}, &WindowRun::before) - 1);
}

std::span<const std::byte> Encoded::example(std::int64_t i) const {
  if (encoding == Encoding::kSeries) {
    const WindowRun& run = run_of(i);
    const auto row =
        static_cast<std::size_t>(run.first + (i - run.before) * run.step);
    return std::span(bytes).subspan(
        row * value_bytes(), static_cast<std::size_t>(steps) * value_bytes());
  }
  const auto at = static_cast<std::size_t>(i);
  const auto begin = static_cast<std::size_t>(offsets.at(at)),
             end = static_cast<std::size_t>(offsets.at(at + 1));
  return std::span(bytes).subspan(begin * value_bytes(),
                                  (end - begin) * value_bytes());
}

void Encoded::append(std::span<const std::byte> example) {
  require(!example.empty() && example.size() % value_bytes() == 0,
          "an encoded example of whole values");
  if (encoding == Encoding::kSeries) return append_window(example);
  bytes.insert(bytes.end(), example.begin(), example.end());
  offsets.push_back(values());
}

void Encoded::add_run(std::int64_t first, std::int64_t step,
                      std::int64_t count) {
  runs.push_back({first, step, count, examples()});
}

// Equal values are all that counts: a step that is smaller than that of the
// series gives the same windows.
void Encoded::append_window(std::span<const std::byte> window) {
  require(std::cmp_equal(window.size(),
                         static_cast<std::size_t>(steps) * value_bytes()),
          "a window of another length");
  const std::size_t each = value_bytes();
  const auto fits = [&](std::int64_t step) {
    const std::size_t common =
        window.size() - static_cast<std::size_t>(step) * each;
    return std::memcmp(bytes.data() + bytes.size() - common, window.data(),
                       common) == 0;
  };
  std::int64_t step = steps;
  bool goes_on = false;  // as the windows before it
  if (!runs.empty()) {
    const WindowRun& run = runs.back();
    goes_on = run.count > 1 && run.step <= steps && fits(run.step);
    step = goes_on ? run.step : 1;
    while (step < steps && !fits(step)) ++step;
    goes_on = goes_on || run.count == 1;
  }
  const auto added = window.last(static_cast<std::size_t>(step) * each);
  const std::int64_t rows = values();
  bytes.insert(bytes.end(), added.begin(), added.end());
  if (!goes_on) return add_run(rows + step - steps, 1, 1);
  runs.back().step = step;
  ++runs.back().count;
}

Encoded Encoded::slice(std::int64_t begin, std::int64_t end) const {
  Encoded part{encoding, dtype, value, {}};
  part.steps = steps;
  for (std::int64_t i = begin; i < end; ++i) part.append(example(i));
  return part;
}

}  // namespace dl::data
