// A Normalizer turns stored features into reals: (x - shift) * scale, by
// column (last dimension); some then make sums of all columns of a row
// (decorrelate.h).  It is made once, from the statistics of the training data,
// and travels with the model.  Another one does the same to
// targets for training, and predictions are brought back into the data's units.

#ifndef DL_LIBCORE_DATA_STATISTICS_NORMALIZER_H_
#define DL_LIBCORE_DATA_STATISTICS_NORMALIZER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

struct Normalizer {
  // none, scale, standardize, minmax; pca and whiten with a matrix
  std::string kind = "none";
  std::vector<double> shift = {0};  // [1] or [columns]
  std::vector<double> scale = {1};
  // [outputs, columns]: output i is the sum of row i times the columns, shifted
  // and scaled.  Empty: the columns are the outputs.
  std::vector<double> matrix = {};

  // kind: "none"; "scale", the dtype's range to 0..1 (uint8: x / 255);
  // "standardize", mean 0 and deviation 1; "minmax", each column's range to
  // 0..1.  A column that is constant, up to the rounding of its dtype, is only
  // shifted.  "auto": scale for integers of one byte; for reals with statistics
  // standardize, but columns of zeros and ones alone stay; none for the rest.
  // Throws Error: kUsage, no such kind; kConfig, the statistics it needs are
  // not in the metadata.
  static Normalizer fit(std::string_view kind, const Metadata& metadata);

  // "standardize" of values of this dtype, count > 0.
  static Normalizer standard(const Statistics& statistics, tensor::DType dtype);

  bool changes_nothing() const;
  bool mixes() const { return !matrix.empty(); }
  // Numbers of columns, of a normalizer that mixes them.
  std::int64_t columns() const;
  std::int64_t outputs() const;
  // An example as it is stored, for an input of that shape: what it has instead
  // of the last dimension, if it mixes.
  tensor::Shape stored(const tensor::Shape& input) const;
  // Inverse of (y - shift) * scale. values: rows of columns. Only for a
  // normalizer that does not mix.
  void undo(std::span<float> values) const;

  Json to_json() const;
  static Normalizer from_json(const JsonView& json);
  bool operator==(const Normalizer&) const = default;
};

// Numbers that a matrix may have: it is kept as text, and handed to workers.
constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 20;

// Whether values of this dtype that spread no more than `spread` around
// `magnitude` are one value and its rounding, or differ by less than the floats
// that networks compute with.
bool is_constant(double spread, double magnitude, tensor::DType dtype);

// One as an object, several as an array of them.
Json to_json(const std::vector<Normalizer>& normalizers);
std::vector<Normalizer> normalizers_from_json(const JsonView& json);

// Normalizers of a model, by input and output of its network; those that there
// are not change nothing.
struct Normalizers {
  // Normalizers of one input and one output.
  Normalizers(Normalizer of_features = {}, Normalizer of_targets = {})
      : inputs{std::move(of_features)}, outputs{std::move(of_targets)} {}
  std::vector<Normalizer> inputs, outputs;

  Normalizer input(std::size_t i) const {
    return i < inputs.size() ? inputs[i] : Normalizer{};
  }
  Normalizer output(std::size_t i) const {
    return i < outputs.size() ? outputs[i] : Normalizer{};
  }
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_STATISTICS_NORMALIZER_H_
