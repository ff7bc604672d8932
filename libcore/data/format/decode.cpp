#include "libcore/data/format/decode.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/windows.h"
#include "libcore/data/jpeg.h"

namespace dl::data {
namespace {

using Schema = std::map<std::string, Field>;

// "features_mask/left" of "features/left"; "" of labels.
std::string mask_of(const std::string& name) {
  constexpr std::string_view kFeatures = "features";
  return name.starts_with(kFeatures)
             ? "features_mask" + name.substr(kFeatures.size())
             : "";
}

tensor::Tensor take(DataSet& set, const std::string& name) {
  const auto found = set.tensors.find(name);
  if (found == set.tensors.end())
    bad_data("tensor " + in_quotes(name) + " is missing");
  tensor::Tensor taken = std::move(found->second);
  set.tensors.erase(found);
  return taken;
}

// Checks offsets, on which all else relies.
Encoded take_encoded(DataSet& set, const std::string& name,
                     const Field& field) {
  const tensor::Tensor values = take(set, name),
                       offsets = take(set, name + ".offsets");
  Encoded encoded = encoded_like(field);
  if (values.empty() || values.shape().rank() == 0 ||
      values.dtype() != field.dtype ||
      values.shape().without_first() != encoded.value)
    bad_data("its values are not as the schema says");
  if (offsets.empty() || offsets.dtype() != tensor::DType::kI64 ||
      offsets.shape().rank() != 1 || offsets.shape()[0] < 2)
    bad_data("its offsets are no numbers I64 [examples + 1]");
  const auto places = offsets.as<std::int64_t>();
  if (places.front() != 0 || places.back() != values.shape()[0] ||
      std::ranges::adjacent_find(places, std::greater_equal<>()) !=
          places.end())
    bad_data("its offsets do not rise from 0 to the " +
             std::to_string(values.shape()[0]) + " values that there are");
  encoded.offsets.assign(places.begin(), places.end());
  const auto bytes = values.bytes();
  encoded.bytes.assign(bytes.begin(), bytes.end());
  return encoded;
}

void decode_jpeg(const Encoded& encoded, tensor::Tensor& to) {
  const std::size_t each =
      to.bytes().size() / static_cast<std::size_t>(encoded.examples());
  for (std::int64_t i = 0; i < encoded.examples(); ++i) try {
      read_jpeg_pixels(
          encoded.example(i), to.shape().without_first(),
          to.bytes().subspan(static_cast<std::size_t>(i) * each, each));
    } catch (Error& e) {
      e.add_context("example " + std::to_string(i));
      throw;
    }
}

void pad(const Encoded& encoded, const Field& field, tensor::Tensor& to,
         tensor::Tensor* mask) {
  const std::int64_t steps = field.shape[0];
  const std::size_t each =
      static_cast<std::size_t>(steps) * encoded.value_bytes();
  for (std::int64_t i = 0; i < encoded.examples(); ++i) {
    const auto from = encoded.example(i);
    const auto at = static_cast<std::size_t>(i);
    if (from.size() > each)
      bad_data("example " + std::to_string(i) + ": " +
               std::to_string(from.size() / encoded.value_bytes()) +
               " steps, the schema says " + std::to_string(steps) + " at most");
    std::memcpy(to.bytes().data() + at * each, from.data(), from.size());
    if (mask == nullptr) continue;
    const auto flags =
        mask->as<std::uint8_t>().subspan(at * static_cast<std::size_t>(steps));
    std::fill_n(flags.begin(), from.size() / encoded.value_bytes(), 1);
  }
}

void add_decoded(DataSet& set, const std::string& name, const Field& field,
                 std::uint64_t limit) {
  const Encoded& encoded = set.encoded.at(name);
  const std::int64_t n = encoded.examples();
  const auto each = static_cast<std::uint64_t>(field.shape.elements()) *
                    tensor::size_of(field.dtype);
  if (static_cast<std::uint64_t>(n) > limit / each)
    bad_data("it has " + std::to_string(n) + " examples of " +
             std::to_string(each) + " bytes once decoded, more than the " +
             std::to_string(limit) + " bytes of a record");
  tensor::Tensor plain(field.dtype, field.shape.with_first(n));
  if (field.encoding == Encoding::kJpeg) {
    decode_jpeg(encoded, plain);
  } else {
    const std::string mask_name = mask_of(name);
    tensor::Tensor mask;
    if (!mask_name.empty())
      mask = tensor::Tensor(tensor::DType::kU8, {n, field.shape[0]});
    pad(encoded, field, plain, mask_name.empty() ? nullptr : &mask);
    if (!mask_name.empty() &&
        !set.tensors.emplace(mask_name, std::move(mask)).second)
      bad_data("it has a mask " + in_quotes(mask_name) +
               ", which follows from its lengths");
  }
  set.tensors.emplace(name, std::move(plain));
}

// Calls work(name, field) for each encoded tensor.
template <typename Work>
void each_encoded(const Schema& schema, const Work& work) {
  for (const auto& [name, field] : schema) {
    if (field.encoding == Encoding::kNone ||
        field.encoding == Encoding::kWindow)
      continue;
    try {
      work(name, field);
    } catch (Error& e) {
      e.add_context("tensor " + in_quotes(name));
      throw;
    }
  }
}

}  // namespace

bool has_encoded(const Schema& schema) {
  return std::ranges::any_of(schema, [](const auto& item) {
    return item.second.encoding != Encoding::kNone;
  });
}

Schema encoded_part(const Schema& schema) {
  Schema part = schema;
  std::erase_if(part, [](const auto& item) {
    return item.second.encoding == Encoding::kNone;
  });
  return part;
}

Schema plain_schema(const Schema& schema) {
  Schema plain = schema;
  plain.erase(kSeriesName);
  for (const auto& [name, field] : schema) {
    if (field.encoding == Encoding::kSeries) continue;
    plain[name].encoding = Encoding::kNone;
    plain[name].window = {};
    const std::string mask = mask_of(name);
    if (field.encoding == Encoding::kRagged && !mask.empty())
      plain[mask] = {tensor::DType::kU8, {field.shape[0]}};
  }
  return plain;
}

Encoded encoded_like(const Field& field) {
  Encoded encoded;
  encoded.encoding = field.encoding;
  encoded.dtype = field.dtype;
  if (field.encoding != Encoding::kJpeg)
    encoded.value = field.shape.without_first();
  if (field.encoding == Encoding::kSeries) encoded.steps = field.shape[0];
  return encoded;
}

void decode(DataSet& set, const Schema& schema, std::uint64_t limit) {
  each_encoded(schema, [&](const std::string& name, const Field& field) {
    set.encoded.emplace(name, field.encoding == Encoding::kSeries
                                  ? take_series(set, field)
                                  : take_encoded(set, name, field));
  });
  add_views(set, schema);
  add_decoded(set, schema, limit);
}

void add_decoded(DataSet& set, const Schema& schema, std::uint64_t limit) {
  each_encoded(schema, [&](const std::string& name, const Field& field) {
    if (field.encoding == Encoding::kSeries)
      cut_windows(set, limit);
    else
      add_decoded(set, name, field, limit);
  });
}

void strip_padding(DataSet& set, const Schema& schema) {
  const tensor::Tensor& mask = set.get("features_mask");
  const auto steps = static_cast<std::size_t>(mask.shape()[1]);
  const auto flags = mask.as<std::uint8_t>();
  for (const auto& [name, field] : schema) {
    if (field.encoding != Encoding::kRagged) continue;
    Encoded encoded = encoded_like(field);
    const auto bytes = set.get(name).bytes();
    const std::size_t each = steps * encoded.value_bytes();
    for (std::int64_t i = 0; i < set.examples(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto own = flags.subspan(at * steps, steps);
      const auto length =
          std::max<std::ptrdiff_t>(1, std::ranges::find(own, 0) - own.begin());
      encoded.append(bytes.subspan(
          at * each, static_cast<std::size_t>(length) * encoded.value_bytes()));
    }
    set.encoded.insert_or_assign(name, std::move(encoded));
  }
}

}  // namespace dl::data
