#include "libcore/data/format/encoded.h"

#include "libcore/base/display.h"
#include "libcore/base/error.h"

namespace dl::data {

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kJpeg:
      return "jpeg";
    case Encoding::kRagged:
      return "ragged";
    case Encoding::kNone:
      break;
  }
  return "";
}

Encoding encoding_named(const std::string& name) {
  for (const Encoding encoding : {Encoding::kJpeg, Encoding::kRagged})
    if (name == name_of(encoding)) return encoding;
  bad_data("encoding " + in_quotes(name) +
           " is none that this program reads (jpeg, ragged)");
}

std::span<const std::byte> Encoded::example(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  const auto begin = static_cast<std::size_t>(offsets.at(at)),
             end = static_cast<std::size_t>(offsets.at(at + 1));
  return std::span(bytes).subspan(begin * value_bytes(),
                                  (end - begin) * value_bytes());
}

void Encoded::append(std::span<const std::byte> example) {
  require(!example.empty() && example.size() % value_bytes() == 0,
          "an encoded example of whole values");
  bytes.insert(bytes.end(), example.begin(), example.end());
  offsets.push_back(static_cast<std::int64_t>(bytes.size() / value_bytes()));
}

Encoded Encoded::slice(std::int64_t begin, std::int64_t end) const {
  Encoded part{encoding, dtype, value, {}};
  for (std::int64_t i = begin; i < end; ++i) part.append(example(i));
  return part;
}

}  // namespace dl::data
