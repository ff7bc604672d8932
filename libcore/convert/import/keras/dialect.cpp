// Differences between versions and back ends of Keras.

#include "libcore/convert/import/keras/dialect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace dl::convert::keras {
namespace {

constexpr int kNewest = 1'000'000;

// Whether some layer says that.
bool says(const Json& json, const char* key, const char* value) {
  if (json.is_object() && json.value(key, Json()) == Json(value)) return true;
  return json.is_structured() &&
         std::ranges::any_of(
             json, [&](const Json& one) { return says(one, key, value); });
}

}  // namespace

Dialect::Dialect(const Json& model, const std::string& version,
                 const std::string& backend, std::set<std::string>& notes) {
  major_ = model.contains("registered_name") ? 3 : 2;
  minor_ = patch_ = kNewest;  // than any change of its kind
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int* part : {&major_, &minor_, &patch_}) {
    const auto [rest, error] = std::from_chars(at, end, *part);
    if (error != std::errc{}) break;
    at = rest == end ? rest : rest + 1;
  }
  tf_keras_ = version.find("-tf") != std::string::npos || !before(2, 4, 0);
  says_first_ = says(model, "dim_ordering", "th") ||
                (!keras_1() && says(model, "data_format", "channels_first"));
  says_last_ = says(model, "dim_ordering", "tf") ||
               (!keras_1() && says(model, "data_format", "channels_last"));
  theano_ = backend == "theano";
  // Files of Keras 1 do not say what computed them.
  if (!backend.empty() || !keras_1()) return;
  theano_ = says_first_;
  if (says_first_ || says_last_)
    notes.insert(std::string("its file does not say what computed it: ") +
                 (theano_ ? "Theano is assumed, since channels come first"
                          : "TensorFlow is assumed, since channels come last") +
                 "; --backend says otherwise");
}

bool Dialect::before(int major, int minor, int patch) const {
  return std::tie(major_, minor_, patch_) < std::tie(major, minor, patch);
}

std::optional<bool> Dialect::channels_first() const {
  if (says_first_ && says_last_ && keras_1()) return std::nullopt;
  if (says_first_ || says_last_) return says_first_ && !says_last_;
  return before(1, 1, 0);  // the default then
}

bool Dialect::means_count_zeros() const {
  return theano_ && !before(2, 0, 1) && before(2, 1, 6);
}

bool Dialect::bilinear_by_corners() const { return !tf_keras_; }

std::optional<double> Dialect::variance(double kept, double epsilon) const {
  if (!before(1, 0, 8) || (!before(1, 0, 7) && !theano_)) return kept;
  if (!before(1, 0, 6) && before(1, 0, 7)) return std::nullopt;
  const double deviation = (before(1, 0, 6) ? kept : std::sqrt(kept)) + epsilon;
  return deviation * deviation - epsilon;
}

double Dialect::batch_norm_epsilon() const {
  return before(1, 0, 8) ? 1e-6 : before(1, 2, 0) ? 1e-5 : 1e-3;
}

const char* Dialect::recurrent_activation() const {
  return before(2, 3, 0) ? "hard_sigmoid" : "sigmoid";
}

}  // namespace dl::convert::keras
