// Attention by matrix products of one head of one example at a time: queries
// are taken in tiles whose scores, for all keys, stay in the cache.  Backward
// makes the scores again, from the maximum and the sum of each row that forward
// kept, which takes less time than memory for them would.
//
// Keys past the last that a tile may see are left out of its products.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// Rows of scores of one tile, and what their keys may be.
struct Scores {
  float* s;  // rows of `keys`, `row` apart
  std::int64_t row, rows, keys;
  float scale;
  const float* mask;         // [keys], or null
  std::int64_t first_key;    // the first that is not masked
  std::int64_t first_query;  // of the tile, if causal
  bool causal;
  float* kept;  // [rows, 2]: the largest, scaled, and 1 / the sum

  std::int64_t seen(std::int64_t r) const {
    return causal ? std::min(keys, first_query + r + 1) : keys;
  }
};

DL_INLINE float largest(const float* s, const float* mask, std::int64_t n) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  float part[kPartialSums], top = kLeast;
  std::fill_n(part, kPartialSums, kLeast);
  const std::int64_t whole = n - n % kPartialSums;
  if (mask) {
    for (std::int64_t j = 0; j < whole; j += kPartialSums)
      for (std::int64_t l = 0; l < kPartialSums; ++l) {
        const float value = mask[j + l] != 0 ? s[j + l] : kLeast;
        part[l] = value > part[l] ? value : part[l];
      }
  } else {
    for (std::int64_t j = 0; j < whole; j += kPartialSums)
      for (std::int64_t l = 0; l < kPartialSums; ++l)
        part[l] = s[j + l] > part[l] ? s[j + l] : part[l];
  }
  for (std::int64_t j = whole; j < n; ++j)
    if (!mask || mask[j] != 0) top = std::max(top, s[j]);
  for (const float value : part) top = std::max(top, value);
  return top;
}

DL_INLINE float sum_of(const float* s, std::int64_t n) {
  float part[kPartialSums] = {};
  const std::int64_t whole = n - n % kPartialSums;
  for (std::int64_t j = 0; j < whole; j += kPartialSums)
    for (std::int64_t l = 0; l < kPartialSums; ++l) part[l] += s[j + l];
  double sum = 0;
  for (const float value : part) sum += value;
  for (std::int64_t j = whole; j < n; ++j) sum += s[j];
  return static_cast<float>(sum);
}

// Scores become factor * exp(scale s - top), 0 where a key is not seen.
DL_INLINE void weigh_row(float* s, const Scores& t, std::int64_t seen,
                         float top, float factor) {
  const float scale = t.scale;
  DL_INDEPENDENT
  for (std::int64_t j = 0; j < seen; ++j)
    s[j] = exp_down(s[j] * scale - top) * factor;
  if (t.mask) {
    const float* mask = t.mask;
    DL_INDEPENDENT
    for (std::int64_t j = 0; j < seen; ++j) s[j] = mask[j] != 0 ? s[j] : 0.0f;
  }
  std::fill(s + seen, s + t.keys, 0.0f);
}

// Scores become weights but for 1 / their sum.
DL_VECTOR void weigh(const Scores& t) {
  for (std::int64_t r = 0; r < t.rows; ++r) {
    float* s = t.s + r * t.row;
    float* kept = t.kept + 2 * r;
    const std::int64_t seen = t.seen(r);
    if (seen <= t.first_key) {  // none
      std::fill_n(s, t.keys, 0.0f);
      kept[0] = kept[1] = 0;
      continue;
    }
    kept[0] = t.scale * largest(s, t.mask, seen);
    weigh_row(s, t, seen, kept[0], 1.0f);
    kept[1] = 1.0f / sum_of(s, seen);
  }
}

// The weights once more.
DL_VECTOR void weigh_again(const Scores& t) {
  for (std::int64_t r = 0; r < t.rows; ++r) {
    float* s = t.s + r * t.row;
    const float* kept = t.kept + 2 * r;
    if (t.seen(r) <= t.first_key)
      std::fill_n(s, t.keys, 0.0f);
    else
      weigh_row(s, t, t.seen(r), kept[0], kept[1]);
  }
}

// ds, which holds the gradient of the weights p, becomes that of the products
// of queries and keys.
DL_VECTOR void score_gradient(float* ds, const Scores& t) {
  for (std::int64_t r = 0; r < t.rows; ++r) {
    const float* p = t.s + r * t.row;
    float* d = ds + r * t.row;
    float part[kPartialSums] = {};
    const std::int64_t whole = t.keys - t.keys % kPartialSums;
    for (std::int64_t j = 0; j < whole; j += kPartialSums)
      for (std::int64_t l = 0; l < kPartialSums; ++l)
        part[l] += p[j + l] * d[j + l];
    double sum = 0;
    for (const float value : part) sum += value;
    for (std::int64_t j = whole; j < t.keys; ++j) sum += p[j] * d[j];
    const auto mean = static_cast<float>(sum);
    const float scale = t.scale;
    DL_INDEPENDENT
    for (std::int64_t j = 0; j < t.keys; ++j)
      d[j] = p[j] * (d[j] - mean) * scale;
  }
}

DL_VECTOR void divide_rows(float* y, std::int64_t row, const float* kept,
                           std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* to = y + r * row;
    const float factor = kept[2 * r + 1];
    DL_INDEPENDENT
    for (std::int64_t c = 0; c < width; ++c) to[c] *= factor;
  }
}

}  // namespace kernels

namespace {

using kernels::Scores;
using tensor::DType;
using tensor::Shape;
using tensor::View;

class CpuAttention final : public Attention {
 public:
  CpuAttention(CpuDevice& device, GemmScratch& scratch,
               const AttentionSpec& spec, std::int64_t max_batch)
      : scratch_(scratch), spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    row_ = (spec.keys + kAligned - 1) / kAligned * kAligned;
    tile_ = std::clamp(kTileFloats / row_ / kTileRows * kTileRows, kTileRows,
                       kMostRows);
    tile_ = std::min(tile_, spec.queries);
    scores_ = device.allocate(Shape{2, tile_, row_});
    kept_ = device.allocate(Shape{max_batch, spec.heads, spec.queries, 2});
  }

  void forward(View y, View q, View k, View v, View mask,
               bool training) override {
    const std::int64_t batch =
        check_attention(DType::kF32, spec_, max_batch_, y, q, k, v, mask);
    if (training) trained_ = batch;
    for_each_tile(batch, mask, [&](const Tile& t, Scores& scores) {
      const std::int64_t d = spec_.head_size;
      make_scores(t, scores, q, k);
      kernels::weigh(scores);
      const Matrix to = rows(y, {}, spec_.queries, t, t.first);
      gemm(scratch_, floats(to), to.row, t.count, d, t.keys,
           {scores.s, row_, 1}, rows(v, spec_.v, spec_.keys, t, 0), {});
      kernels::divide_rows(floats(to), to.row, scores.kept, t.count, d);
    });
  }

  void backward(View dq, View dk, View dv, View dy, View q, View k, View v,
                View mask) override {
    const std::int64_t batch =
        check_attention(DType::kF32, spec_, max_batch_, dy, q, k, v, mask);
    check_attention(DType::kF32, spec_, max_batch_, dy, dq, dk, dv, mask);
    require(batch == trained_, "attention backward without its forward");
    clear(dk, spec_.k);
    clear(dv, spec_.v);
    float* ds = scores_->view().as<float>() + tile_ * row_;
    for_each_tile(batch, mask, [&](const Tile& t, Scores& scores) {
      const std::int64_t d = spec_.head_size;
      make_scores(t, scores, q, k);
      kernels::weigh_again(scores);
      const Matrix slope = rows(dy, {}, spec_.queries, t, t.first);
      add_transposed(dv, spec_.v, t, scores.s, slope);
      gemm(scratch_, ds, row_, t.count, t.keys, d, slope,
           rows(v, spec_.v, spec_.keys, t, 0).transposed(), {});
      kernels::score_gradient(ds, scores);
      const Matrix to = rows(dq, spec_.q, spec_.queries, t, t.first);
      gemm(scratch_, floats(to), to.row, t.count, d, t.keys, {ds, row_, 1},
           rows(k, spec_.k, spec_.keys, t, 0), {});
      add_transposed(dk, spec_.k, t, ds,
                     rows(q, spec_.q, spec_.queries, t, t.first));
    });
  }

 private:
  static constexpr std::int64_t kAligned = 16;
  static constexpr std::int64_t kTileFloats = 32 << 10;  // of scores
  static constexpr std::int64_t kTileRows = 12, kMostRows = 240;

  // Queries first .. first + count of a head, which see up to `keys` keys.
  struct Tile {
    std::int64_t example, head, first, count, keys;
  };

  static float* floats(const Matrix& m) { return const_cast<float*>(m.data); }

  // The head's part of steps `first` on.
  Matrix rows(const View& view, const AttentionPart& part, std::int64_t steps,
              const Tile& t, std::int64_t first) const {
    const std::int64_t width = spec_.width_of(part);
    return {view.as<float>() + (t.example * steps + first) * width +
                part.column + t.head * spec_.head_size,
            width, 1};
  }

  template <typename F>
  void for_each_tile(std::int64_t batch, const View& mask, F f) {
    for (std::int64_t b = 0; b < batch; ++b) {
      Scores s{};
      s.s = scores_->view().as<float>();
      s.row = row_;
      s.scale = static_cast<float>(spec_.factor());
      s.causal = spec_.causal;
      std::int64_t end = spec_.keys;
      if (!mask.empty()) {
        s.mask = mask.as<float>() + b * spec_.keys;
        while (end > 0 && s.mask[end - 1] == 0) --end;
        while (s.first_key < end && s.mask[s.first_key] == 0) ++s.first_key;
      }
      for (std::int64_t h = 0; h < spec_.heads; ++h)
        for (std::int64_t i = 0; i < spec_.queries; i += tile_) {
          Tile t{b, h, i, std::min(tile_, spec_.queries - i), end};
          if (spec_.causal) t.keys = std::min(end, i + t.count);
          s.rows = t.count;
          s.keys = t.keys;
          s.first_query = i;
          s.kept = kept_->view().as<float>() +
                   2 * ((b * spec_.heads + h) * spec_.queries + i);
          f(t, s);
        }
    }
  }

  void make_scores(const Tile& t, const Scores& scores, const View& q,
                   const View& k) {
    gemm(scratch_, scores.s, row_, t.count, t.keys, spec_.head_size,
         rows(q, spec_.q, spec_.queries, t, t.first),
         rows(k, spec_.k, spec_.keys, t, 0).transposed(), {});
  }

  // The head's part of a gradient of keys or values += s' of.
  void add_transposed(const View& gradient, const AttentionPart& part,
                      const Tile& t, const float* s, const Matrix& of) {
    const Matrix to = rows(gradient, part, spec_.keys, t, 0);
    gemm(scratch_, floats(to), to.row, t.keys, spec_.head_size, t.count,
         Matrix{s, row_, 1}.transposed(), of, {.add = true});
  }

  void clear(const View& gradient, const AttentionPart& part) const {
    const std::int64_t width = spec_.width_of(part);
    for (std::int64_t i = 0; i < gradient.shape[0] * spec_.keys; ++i)
      std::fill_n(gradient.as<float>() + i * width + part.column, spec_.size(),
                  0.0f);
  }

  GemmScratch& scratch_;
  AttentionSpec spec_;
  std::int64_t max_batch_;
  std::int64_t row_, tile_;   // floats of a row of scores, rows of a tile
  std::int64_t trained_ = 0;  // the batch of the last forward() for training
  std::unique_ptr<tensor::Buffer> scores_, kept_;
};

}  // namespace

std::unique_ptr<Attention> CpuDevice::attention(const AttentionSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<CpuAttention>(*this, *gemm_, spec, max_batch);
}

}  // namespace dl::device
