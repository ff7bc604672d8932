#include "libcore/data/normalizer.h"

#include "libcore/base/error.h"

namespace dl::data {
namespace {

constexpr double kLeastSpread = 1e-5;  // under it a column counts as constant

[[noreturn]] void refuse(const std::string& what) {
  throw Error{Code::kConfig, what};
}

const Field& features_field(const Metadata& metadata) {
  const auto it = metadata.schema.find("features");
  if (it == metadata.schema.end())
    refuse("a normalizer needs a tensor 'features'");
  return it->second;
}

Normalizer scale_of(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kU8:
      return {"scale", {0}, {1.0 / 255}};
    case tensor::DType::kI8:
      return {"scale", {-128}, {1.0 / 255}};
    case tensor::DType::kI16:
      return {"scale", {-32768}, {1.0 / 65535}};
    default:
      refuse("normalizer 'scale' needs integers of one or two bytes, not " +
             std::string(tensor::name_of(dtype)));
  }
}

double inverse(double spread) {
  return spread >= kLeastSpread ? 1 / spread : 1;
}

}  // namespace

Normalizer Normalizer::fit(std::string_view kind, const Metadata& metadata) {
  if (kind == "none") return {};
  if (kind != "auto" && kind != "scale" && kind != "standardize" &&
      kind != "minmax")
    refuse("unknown normalizer '" + std::string(kind) +
           "', want auto, none, scale, standardize or minmax");
  if (kind == "auto" && !metadata.schema.contains("features")) return {};
  const tensor::DType dtype = features_field(metadata).dtype;
  if (kind == "auto" && tensor::size_of(dtype) > 1) return {};
  if (kind == "auto" || kind == "scale") return scale_of(dtype);

  if (!metadata.statistics || metadata.statistics->count == 0)
    refuse("normalizer '" + std::string(kind) +
           "' needs statistics of the features, which the data do not have");
  const Statistics& s = *metadata.statistics;
  if (kind == "minmax") {
    Normalizer n{"minmax", s.min, {}};
    for (std::size_t c = 0; c < s.min.size(); ++c)
      n.scale.push_back(inverse(s.max[c] - s.min[c]));
    return n;
  }
  Normalizer n{"standardize", s.mean, {}};
  for (const double deviation : s.deviation())
    n.scale.push_back(inverse(deviation));
  return n;
}

Json Normalizer::to_json() const {
  return {{"kind", kind}, {"shift", shift}, {"scale", scale}};
}

Normalizer Normalizer::from_json(const JsonView& json) {
  json.only({"kind", "shift", "scale"});
  Normalizer n{json.at("kind").string(), json.at("shift").numbers(),
               json.at("scale").numbers()};
  if (n.shift.empty() || n.shift.size() != n.scale.size())
    json.fail("shift and scale of one length");
  return n;
}

}  // namespace dl::data
