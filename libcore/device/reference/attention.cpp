// Attention as its formula, one query after the other.

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {
using tensor::DType;
using tensor::View;

class ReferenceAttention final : public Attention {
 public:
  ReferenceAttention(const AttentionSpec& spec, std::int64_t max_batch)
      : spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    p_.resize(static_cast<std::size_t>(spec.keys));
    dp_.resize(p_.size());
  }

  void forward(View y, View q, View k, View v, View mask,
               bool training) override {
    const std::int64_t batch =
        check_attention(DType::kF64, spec_, max_batch_, y, q, k, v, mask);
    if (training) trained_ = batch;
    for_each_query(batch, [&](auto b, auto h, auto i) {
      weigh(b, h, i, q, k, mask);
      double* to = row(y, {}, spec_.queries, b, h, i);
      std::fill_n(to, spec_.head_size, 0.0);
      for (std::int64_t j = 0; j < spec_.keys; ++j) {
        if (p_[at(j)] == 0) continue;
        const double* from = row(v, spec_.v, spec_.keys, b, h, j);
        for (std::int64_t c = 0; c < spec_.head_size; ++c)
          to[c] += p_[at(j)] * from[c];
      }
    });
  }

  void backward(View dq, View dk, View dv, View dy, View q, View k, View v,
                View mask) override {
    const std::int64_t batch =
        check_attention(DType::kF64, spec_, max_batch_, dy, q, k, v, mask);
    check_attention(DType::kF64, spec_, max_batch_, dy, dq, dk, dv, mask);
    require(batch == trained_, "attention backward without its forward");
    clear(dq, spec_.q, spec_.queries);
    clear(dk, spec_.k, spec_.keys);
    clear(dv, spec_.v, spec_.keys);
    for_each_query(batch, [&](auto b, auto h, auto i) {
      weigh(b, h, i, q, k, mask);
      const double* slope = row(dy, {}, spec_.queries, b, h, i);
      double mean = 0;
      for (std::int64_t j = 0; j < spec_.keys; ++j) {
        dp_[at(j)] = dot(slope, row(v, spec_.v, spec_.keys, b, h, j));
        mean += p_[at(j)] * dp_[at(j)];
        add(row(dv, spec_.v, spec_.keys, b, h, j), p_[at(j)], slope);
      }
      for (std::int64_t j = 0; j < spec_.keys; ++j) {
        const double ds = p_[at(j)] * (dp_[at(j)] - mean) * spec_.factor();
        add(row(dq, spec_.q, spec_.queries, b, h, i), ds,
            row(k, spec_.k, spec_.keys, b, h, j));
        add(row(dk, spec_.k, spec_.keys, b, h, j), ds,
            row(q, spec_.q, spec_.queries, b, h, i));
      }
    });
  }

 private:
  static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

  template <typename F>
  void for_each_query(std::int64_t batch, F f) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < spec_.heads; ++h)
        for (std::int64_t i = 0; i < spec_.queries; ++i) f(b, h, i);
  }

  // Head h of step i of example b.
  double* row(const View& view, const AttentionPart& part, std::int64_t steps,
              std::int64_t b, std::int64_t h, std::int64_t i) const {
    return view.as<double>() + (b * steps + i) * spec_.width_of(part) +
           part.column + h * spec_.head_size;
  }
  double dot(const double* a, const double* b) const {
    double sum = 0;
    for (std::int64_t c = 0; c < spec_.head_size; ++c) sum += a[c] * b[c];
    return sum;
  }
  void add(double* to, double a, const double* from) const {
    for (std::int64_t c = 0; c < spec_.head_size; ++c) to[c] += a * from[c];
  }
  void clear(const View& view, const AttentionPart& part,
             std::int64_t steps) const {
    for (std::int64_t i = 0; i < view.shape[0] * steps; ++i)
      std::fill_n(row(view, part, steps, 0, 0, i), spec_.size(), 0.0);
  }

  // p_ of query i.
  void weigh(std::int64_t b, std::int64_t h, std::int64_t i, const View& q,
             const View& k, const View& mask) {
    const auto sees = [&](std::int64_t j) {
      return (!spec_.causal || j <= i) &&
             (mask.empty() || mask.as<double>()[b * spec_.keys + j] != 0);
    };
    std::fill(p_.begin(), p_.end(), 0.0);
    double top = -HUGE_VAL, sum = 0;
    for (std::int64_t j = 0; j < spec_.keys; ++j) {
      if (!sees(j)) continue;
      p_[at(j)] = spec_.factor() * dot(row(q, spec_.q, spec_.queries, b, h, i),
                                       row(k, spec_.k, spec_.keys, b, h, j));
      top = std::max(top, p_[at(j)]);
    }
    for (std::int64_t j = 0; j < spec_.keys; ++j)
      if (sees(j)) sum += p_[at(j)] = std::exp(p_[at(j)] - top);
    for (std::int64_t j = 0; j < spec_.keys; ++j)
      if (sees(j)) p_[at(j)] /= sum;
  }

  AttentionSpec spec_;
  std::int64_t max_batch_;
  std::int64_t trained_ = 0;    // the batch of the last forward() for training
  std::vector<double> p_, dp_;  // of a query
};

}  // namespace

std::unique_ptr<Attention> ReferenceDevice::attention(const AttentionSpec& spec,
                                                      std::int64_t max_batch) {
  return std::make_unique<ReferenceAttention>(spec, max_batch);
}

}  // namespace dl::device
