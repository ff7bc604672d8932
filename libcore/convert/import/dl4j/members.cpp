// The members of a model's zip, in the sandbox.

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/dl4j/model.h"
#include "libcore/convert/import/dl4j/nd4j_array.h"
#include "libcore/convert/import/dl4j/normalizer.h"
#include "libcore/io/safetensors.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::size_t kMaxText = std::size_t{32} << 20;

std::vector<float> read_vector(const std::string& member) {
  Bytes bytes(std::as_bytes(std::span(member)));
  // A model without parameters has an empty member.
  if (bytes.left() == 0) return {};
  std::vector<float> values = read_nd4j_array(bytes).values;
  if (bytes.left() > 0)
    throw Error{Code::kData, "it has " + std::to_string(bytes.left()) +
                                 " bytes behind its end"};
  return values;
}

}  // namespace

void write_members(const Zip& zip, std::size_t most, const Write& write) {
  std::map<std::string, std::string> texts;
  std::vector<io::TensorEntry> entries;
  std::vector<std::vector<float>> vectors;
  std::string left_out;
  for (const std::string& name : zip.names()) {
    try {
      if (name == "configuration.json") {
        texts[name] = zip.member(name, kMaxText);
      } else if (name == "normalizer.bin") {
        const std::string member = zip.member(name, kMaxText);
        texts["normalizer"] =
            dump_json(read_normalizer(std::as_bytes(std::span(member))));
      } else if (name == "coefficients.bin" || name == "updaterState.bin") {
        vectors.push_back(read_vector(zip.member(name, most)));
        entries.push_back(
            {.name = name,
             .dtype = "F32",
             .shape = {static_cast<std::int64_t>(vectors.back().size())}});
      } else if (name != "noParams.marker" && !name.ends_with('/')) {
        left_out += displayed(name) + "\n";
      }
    } catch (Error& e) {
      if (std::string(e.what()).find(name) == std::string::npos)
        e.add_context("its member " + in_quotes(name));
      throw;
    }
  }
  if (!left_out.empty()) texts["left_out"] = left_out;
  write(io::safetensors_header(texts, entries));
  for (const auto& vector : vectors) write(std::as_bytes(std::span(vector)));
}

}  // namespace dl::convert::dl4j
