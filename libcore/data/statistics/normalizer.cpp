// Fitting, applying and inverting normalizers.

#include "libcore/data/statistics/normalizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/picture_normalizer.h"

namespace dl::data {
namespace {

const Field& features_field(const Metadata& metadata) {
  const auto it = metadata.schema.find("features");
  if (it == metadata.schema.end())
    bad_config("a normalizer needs a tensor 'features'");
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
      bad_config("normalizer 'scale' needs integers of one or two bytes, not " +
                 std::string(tensor::name_of(dtype)));
  }
}

// 1 / spread; 1 of a constant.
double inverse(double spread, const Statistics& s, std::size_t c,
               tensor::DType dtype) {
  const double magnitude = std::max(std::fabs(s.min[c]), std::fabs(s.max[c]));
  return is_constant(spread, magnitude, dtype) ? 1 : 1 / spread;
}

// Whether a column has zeros and ones alone: between them x^2 is x only there.
bool is_indicator(const Statistics& s, std::size_t c) {
  const double n = static_cast<double>(s.count);
  return s.min[c] == 0 && s.max[c] == 1 &&
         std::fabs(s.m2[c] - n * s.mean[c] * (1 - s.mean[c])) <= 1e-9 * n;
}

Normalizer min_max(const Statistics& s, tensor::DType dtype) {
  Normalizer n{"minmax", s.min, {}};
  for (std::size_t c = 0; c < s.min.size(); ++c)
    n.scale.push_back(inverse(s.max[c] - s.min[c], s, c, dtype));
  return n;
}

Normalizer automatic(const Metadata& metadata) {
  const auto features = metadata.schema.find("features");
  if (features == metadata.schema.end()) return {};
  const tensor::DType dtype = features->second.dtype;
  if (tensor::size_of(dtype) == 1) return scale_of(dtype);
  const auto& statistics = metadata.statistics;
  if (!tensor::is_real(dtype) || !statistics || statistics->count == 0)
    return {};
  Normalizer n = Normalizer::standard(*statistics, dtype);
  for (std::size_t c = 0; c < n.shift.size(); ++c) {
    if (!is_indicator(*statistics, c)) continue;
    n.shift[c] = 0;
    n.scale[c] = 1;
  }
  const auto all = [](const std::vector<double>& values, double wanted) {
    return std::ranges::all_of(values, [&](double x) { return x == wanted; });
  };
  return all(n.shift, 0) && all(n.scale, 1) ? Normalizer() : n;
}

// For pictures as the schema has them.
Normalizer fit_pictures(std::string_view kind, const Metadata& metadata) {
  const Field& field = features_field(metadata);
  const std::size_t rank = field.shape.rank();
  if (field.dtype != tensor::DType::kU8 || rank == 0 || field.shape.back() != 3)
    bad_config("normalizer '" + std::string(kind) +
               "' is for pictures of three channels, as bytes");
  const auto color = Json::json_pointer("/tensors/features/color");
  const Json& recipe = metadata.recipe;
  const bool bgr =
      recipe.is_object() && recipe.contains(color) && recipe.at(color) == "bgr";
  return picture_normalizer(kind, bgr);
}

// The rows of a matrix for so many columns.
std::vector<double> matrix_from(const JsonView& json, std::size_t columns) {
  if (json.size() == 0 || json.size() > columns)
    json.fail("a row for each output, at most as many as columns");
  if (std::cmp_greater(json.size() * columns, kMaxMatrix))
    json.fail(std::to_string(kMaxMatrix) + " numbers at most");
  std::vector<double> matrix;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::vector<double> row = json.at(i).numbers();
    if (row.size() != columns)
      json.at(i).fail("a number for each of " + std::to_string(columns) +
                      " columns");
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  return matrix;
}

}  // namespace

bool is_constant(double spread, double magnitude, tensor::DType dtype) {
  const double precision = dtype == tensor::DType::kF32 ? 0x1p-23 : 0x1p-50;
  return !(spread > precision * magnitude &&
           spread >= std::numeric_limits<float>::min());
}

Normalizer Normalizer::fit(std::string_view kind, const Metadata& metadata) {
  if (kind == "none") return {};
  if (kind == "auto") return automatic(metadata);
  if (is_of_pictures(kind)) return fit_pictures(kind, metadata);
  if (kind != "scale" && kind != "standardize" && kind != "minmax")
    throw Error{Code::kUsage,
                "unknown normalizer '" + displayed(kind) +
                    "', want auto, none, scale, standardize, minmax, pca:K, "
                    "whiten, imagenet or vgg"};
  const tensor::DType dtype = features_field(metadata).dtype;
  if (kind == "scale") return scale_of(dtype);
  if (!metadata.statistics || metadata.statistics->count == 0)
    bad_config(
        "normalizer '" + displayed(kind) +
        "' needs statistics of the features, which the data do not have");
  return kind == "minmax" ? min_max(*metadata.statistics, dtype)
                          : standard(*metadata.statistics, dtype);
}

Normalizer Normalizer::standard(const Statistics& s, tensor::DType dtype) {
  Normalizer n{"standardize", s.mean, {}};
  const std::vector<double> deviation = s.deviation();
  for (std::size_t c = 0; c < deviation.size(); ++c)
    n.scale.push_back(inverse(deviation[c], s, c, dtype));
  return n;
}

bool Normalizer::changes_nothing() const {
  return shift.size() == 1 && shift[0] == 0 && scale[0] == 1 && !mixes();
}

std::int64_t Normalizer::columns() const {
  return static_cast<std::int64_t>(shift.size());
}

std::int64_t Normalizer::outputs() const {
  return static_cast<std::int64_t>(matrix.size() / shift.size());
}

tensor::Shape Normalizer::stored(const tensor::Shape& input) const {
  if (!mixes()) return input;
  std::vector<std::int64_t> extents(input.extents().begin(),
                                    input.extents().end());
  extents.back() = columns();
  return tensor::Shape(std::span<const std::int64_t>(extents));
}

void Normalizer::undo(std::span<float> values) const {
  require(!mixes(), "a mixture of columns cannot be undone");
  if (changes_nothing()) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i % shift.size();
    values[i] = static_cast<float>(values[i] / scale[c] + shift[c]);
  }
}

Json Normalizer::to_json() const {
  Json json = {{"kind", kind}, {"shift", shift}, {"scale", scale}};
  const auto step = static_cast<std::ptrdiff_t>(shift.size());
  for (auto row = matrix.begin(); row != matrix.end(); row += step)
    json["matrix"].push_back(std::vector<double>(row, row + step));
  return json;
}

Normalizer Normalizer::from_json(const JsonView& json) {
  json.only({"kind", "shift", "scale", "matrix"});
  Normalizer n{json.at("kind").string(), json.at("shift").numbers(),
               json.at("scale").numbers()};
  constexpr std::string_view kKinds[] = {"none",   "scale", "standardize",
                                         "minmax", "pca",   "whiten"};
  if (std::ranges::find(kKinds, n.kind) == std::end(kKinds))
    json.at("kind").fail("none, scale, standardize, minmax, pca or whiten");
  if (n.shift.empty() || n.shift.size() != n.scale.size())
    json.fail("shift and scale of one length");
  const bool mixes = n.kind == "pca" || n.kind == "whiten";
  if (mixes != json.has("matrix"))
    json.fail("a matrix of pca and whiten, and of no other");
  if (mixes) n.matrix = matrix_from(json.at("matrix"), n.shift.size());
  return n;
}

Json to_json(const std::vector<Normalizer>& normalizers) {
  if (normalizers.size() == 1) return normalizers[0].to_json();
  Json all = Json::array();
  for (const Normalizer& one : normalizers) all.push_back(one.to_json());
  return all;
}

std::vector<Normalizer> normalizers_from_json(const JsonView& json) {
  if (!json.raw().is_array()) return {Normalizer::from_json(json)};
  std::vector<Normalizer> all;
  all.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i)
    all.push_back(Normalizer::from_json(json.at(i)));
  return all;
}

}  // namespace dl::data
