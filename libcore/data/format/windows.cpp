#include "libcore/data/format/windows.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {
namespace {

constexpr const char* kRuns = "series.windows";

tensor::Tensor take_of_series(DataSet& set, const std::string& name) {
  const auto found = set.tensors.find(name);
  if (found == set.tensors.end())
    bad_data("tensor " + in_quotes(name) + " is missing");
  tensor::Tensor taken = std::move(found->second);
  set.tensors.erase(found);
  return taken;
}

// Rows of a window that a view has.
std::int64_t rows_of(const WindowView& view) {
  return view.shape.elements() /
         static_cast<std::int64_t>(view.window.columns.size());
}

bool lies_within(const WindowRun& run, std::int64_t rows, std::int64_t steps) {
  if (run.first < 0 || run.step < 1 || run.count < 1 ||
      run.first > rows - steps)
    return false;
  return run.count - 1 <= (rows - steps - run.first) / run.step;
}

template <typename To, typename From>
To converted(From value) {
  if constexpr (std::is_integral_v<To>) {
    const auto real = static_cast<double>(value);
    if (!(real >= 0 && real <= std::numeric_limits<To>::max()) ||
        real != std::floor(real))
      bad_data("a class of the series is " + std::to_string(real) +
               ", which is no class number");
  }
  return static_cast<To>(value);
}

}  // namespace

void check_windows(const std::map<std::string, Field>& schema) {
  const auto series = schema.find(kSeriesName);
  bool any = false;
  for (const auto& [name, field] : schema) {
    if (field.encoding != Encoding::kWindow) continue;
    any = true;
    const std::string what = "tensor " + in_quotes(name);
    if (series == schema.end())
      bad_data(what + " is of windows, but there is no series");
    const std::int64_t steps = series->second.shape[0],
                       width = series->second.shape[1];
    const auto columns = static_cast<std::int64_t>(field.window.columns.size());
    for (const std::int64_t column : field.window.columns)
      if (column < 0 || column >= width)
        bad_data(what + " is of column " + std::to_string(column) +
                 " of a series of " + std::to_string(width));
    const std::int64_t elements = field.shape.elements();
    if (columns == 0 || elements % columns != 0 || field.window.first < 0 ||
        field.window.first > steps - elements / columns)
      bad_data(what + " is of other rows than the " + std::to_string(steps) +
               " that a window has");
    if (field.dtype != series->second.dtype &&
        field.dtype != tensor::DType::kI32)
      bad_data(what + " is of another type than the series");
  }
  if (any != (series != schema.end()))
    bad_data("there is a series, but no tensor is of its windows");
}

Encoded take_series(DataSet& set, const Field& field) {
  const tensor::Tensor values = take_of_series(set, kSeriesName),
                       runs = take_of_series(set, kRuns);
  Encoded series;
  series.encoding = Encoding::kSeries;
  series.dtype = field.dtype;
  series.value = field.shape.without_first();
  series.steps = field.shape[0];
  if (values.empty() || values.shape().rank() == 0 ||
      values.dtype() != field.dtype ||
      values.shape().without_first() != series.value)
    bad_data("its values are not as the schema says");
  if (runs.empty() || runs.dtype() != tensor::DType::kI64 ||
      runs.shape().rank() != 2 || runs.shape()[1] != 3)
    bad_data("its windows are no numbers I64 [runs, 3]");
  const auto numbers = runs.as<std::int64_t>();
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    const WindowRun run{numbers[i], numbers[i + 1], numbers[i + 2]};
    if (!lies_within(run, values.shape()[0], series.steps) ||
        run.count >
            std::numeric_limits<std::uint32_t>::max() - series.examples())
      bad_data("its windows do not lie within the " +
               std::to_string(values.shape()[0]) + " rows that there are");
    series.add_run(run.first, run.step, run.count);
  }
  const auto bytes = values.bytes();
  series.bytes.assign(bytes.begin(), bytes.end());
  return series;
}

tensor::Tensor windows_of(const Encoded& series) {
  tensor::Tensor runs(tensor::DType::kI64,
                      {static_cast<std::int64_t>(series.runs.size()), 3});
  auto* to = runs.as<std::int64_t>().data();
  for (const WindowRun& run : series.runs)
    for (const std::int64_t number : {run.first, run.step, run.count})
      *to++ = number;
  return runs;
}

void add_views(DataSet& set, const std::map<std::string, Field>& schema) {
  for (const auto& [name, field] : schema)
    if (field.encoding == Encoding::kWindow)
      set.views.insert_or_assign(
          name, WindowView{field.dtype, field.shape, field.window});
}

void cut_window(const Encoded& series, const WindowView& view, std::int64_t i,
                std::span<std::byte> out) {
  const auto window = series.example(i);
  const std::size_t width = series.value_bytes(),
                    each = tensor::size_of(series.dtype);
  const std::byte* row =
      window.data() + static_cast<std::size_t>(view.window.first) * width;
  std::byte* to = out.data();
  const std::int64_t rows = rows_of(view);
  if (view.dtype == series.dtype) {
    for (std::int64_t r = 0; r < rows; ++r, row += width)
      for (const std::int64_t column : view.window.columns) {
        std::memcpy(to, row + static_cast<std::size_t>(column) * each, each);
        to += each;
      }
    return;
  }
  tensor::visit_dtype(series.dtype, [&]<typename T>() {
    for (std::int64_t r = 0; r < rows; ++r, row += width)
      for (const std::int64_t column : view.window.columns) {
        T value{};
        std::memcpy(&value, row + static_cast<std::size_t>(column) * each,
                    each);
        const auto number = converted<std::int32_t>(value);
        std::memcpy(to, &number, sizeof number);
        to += sizeof number;
      }
  });
}

void cut_windows(DataSet& set, std::uint64_t limit) {
  for (const auto& [name, view] : set.views) {
    const Encoded& series = set.encoded.at(kSeriesName);
    const std::int64_t n = series.examples();
    const std::uint64_t each =
        static_cast<std::uint64_t>(view.shape.elements()) *
        tensor::size_of(view.dtype);
    if (static_cast<std::uint64_t>(n) > limit / each)
      bad_data("tensor " + in_quotes(name) + ": it has " + std::to_string(n) +
               " windows of " + std::to_string(each) +
               " bytes, more than the " + std::to_string(limit) +
               " bytes of a record");
    tensor::Tensor cut(view.dtype, view.shape.with_first(n));
    for (std::int64_t i = 0; i < n; ++i)
      cut_window(series, view, i,
                 cut.bytes().subspan(static_cast<std::size_t>(i) * each, each));
    set.tensors.insert_or_assign(name, std::move(cut));
  }
}

}  // namespace dl::data
