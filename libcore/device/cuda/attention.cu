// Attention by matrix products of many heads at a time, as many as have so few
// scores that a GPU's cache holds them.  Backward makes the scores again, which
// takes less time than memory for them would.

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {
using tensor::Shape;
using tensor::View;

namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

// A block a row: scores become weights, and the gradient of weights, where it
// is there, that of scores.
struct Weigh {
  std::int64_t queries, heads, keys;  // of the tile
  std::int64_t first_query;
  bool causal;
  Reals mask;                // [examples, keys] of the tile, or empty
  float *scores, *gradient;  // [examples, heads, queries, keys]

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t query = first_query + b.index % queries;
    const std::int64_t seen = causal && query + 1 < keys ? query + 1 : keys;
    const Reals open =
        mask.empty() ? mask : mask + b.index / (queries * heads) * keys;
    float* const s = scores + b.index * keys;
    float* const d = gradient == nullptr ? nullptr : gradient + b.index * keys;
    const auto sees = [&](std::int64_t j) {
      return j < seen && (open.empty() || open[j] != 0);
    };
    const float top = reduce_over(
        b, seen, kLeast,
        [&](std::int64_t j) { return sees(j) ? s[j] : kLeast; }, Largest{});
    const Two sums = reduce_over(
        b, seen, Two{},
        [&](std::int64_t j) {
          if (!sees(j)) return Two{};
          const double weight = std::exp(s[j] - top);
          return Two{weight, d == nullptr ? 0 : weight * d[j]};
        },
        Sum{});
    const auto factor = static_cast<float>(1 / sums.a);
    const auto mean = static_cast<float>(sums.b / sums.a);
    for (std::int64_t j = b.thread; j < keys; j += b.threads) {
      const bool counts = sees(j);
      const float p = counts ? std::exp(s[j] - top) * factor : 0;
      s[j] = p;
      if (d != nullptr) d[j] = counts ? p * (d[j] - mean) : 0;
    }
  }
};

// Matrices, one a head of an example.
struct Heads {
  Reals data;
  std::int64_t row, of_example, of_head;  // elements from one to the next
};

// Work done at a time.
struct Tile {
  std::int64_t example, examples, head, heads, query, queries;
};

class CudaAttention final : public Attention {
 public:
  CudaAttention(CudaDevice& device, const AttentionSpec& spec,
                std::int64_t max_batch)
      : stream_(device.stream()),
        products_(device.products()),
        spec_(spec),
        max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const std::int64_t most = kScoresAThread * stream_.most_threads();
    const std::int64_t of_head = spec.queries * spec.keys;
    examples_ =
        std::clamp<std::int64_t>(most / (of_head * spec.heads), 1, max_batch);
    heads_ = std::clamp<std::int64_t>(most / of_head, 1, spec.heads);
    queries_ = std::clamp<std::int64_t>(most / spec.keys, 1, spec.queries);
    const Shape shape{examples_, heads_, queries_, spec.keys};
    scores_ = device.allocate(shape);
    gradient_ = device.allocate(shape);
  }

  void forward(View y, View q, View k, View v, View mask,
               bool training) override {
    const std::int64_t batch =
        check_attention(kReals, spec_, max_batch_, y, q, k, v, mask);
    if (training) trained_ = batch;
    for_each_tile(batch, [&](const Tile& t) {
      const Heads scores = tile_of(scores_->view(), t);
      multiply_scores(t, scores, queries_of(q, spec_.q, t),
                      keys_of(k, spec_.k, t), factor());
      weigh(t, mask, nullptr);
      multiply(t, {.m = t.queries, .n = spec_.head_size, .k = spec_.keys},
               queries_of(y, {}, t), scores, keys_of(v, spec_.v, t));
    });
  }

  void backward(View dq, View dk, View dv, View dy, View q, View k, View v,
                View mask) override {
    const std::int64_t batch =
        check_attention(kReals, spec_, max_batch_, dy, q, k, v, mask);
    check_attention(kReals, spec_, max_batch_, dy, dq, dk, dv, mask);
    require(batch == trained_, "attention backward without its forward");
    for_each_tile(batch, [&](const Tile& t) {
      const Heads scores = tile_of(scores_->view(), t),
                  gradient = tile_of(gradient_->view(), t),
                  queries = queries_of(q, spec_.q, t),
                  keys = keys_of(k, spec_.k, t), slope = queries_of(dy, {}, t);
      multiply_scores(t, scores, queries, keys, factor());
      multiply_scores(t, gradient, slope, keys_of(v, spec_.v, t), 1);
      weigh(t, mask, gradient_->view().as<float>());
      const std::int64_t size = spec_.head_size;
      const float more = t.query == 0 ? 0 : 1;
      multiply(t,
               {.m = spec_.keys,
                .n = size,
                .k = t.queries,
                .transpose_a = true,
                .beta = more},
               keys_of(dv, spec_.v, t), scores, slope);
      multiply(t,
               {.m = t.queries, .n = size, .k = spec_.keys, .alpha = factor()},
               queries_of(dq, spec_.q, t), gradient, keys);
      multiply(t,
               {.m = spec_.keys,
                .n = size,
                .k = t.queries,
                .transpose_a = true,
                .alpha = factor(),
                .beta = more},
               keys_of(dk, spec_.k, t), gradient, queries);
    });
  }

 private:
  // 32 MiB where blocks have 1024.
  static constexpr std::int64_t kScoresAThread = 8 << 10;

  float factor() const { return static_cast<float>(spec_.factor()); }

  // Tiles of the same heads follow each other in the order of their queries.
  template <typename F>
  void for_each_tile(std::int64_t batch, F f) const {
    Tile t{};
    for (t.example = 0; t.example < batch; t.example += examples_)
      for (t.head = 0; t.head < spec_.heads; t.head += heads_)
        for (t.query = 0; t.query < spec_.queries; t.query += queries_) {
          t.examples = std::min(examples_, batch - t.example);
          t.heads = std::min(heads_, spec_.heads - t.head);
          t.queries = std::min(queries_, spec_.queries - t.query);
          f(t);
        }
  }

  Heads part_of(const View& view, const AttentionPart& part, std::int64_t steps,
                const Tile& t, std::int64_t first) const {
    const std::int64_t width = spec_.width_of(part);
    return {Reals(view) + (t.example * steps + first) * width + part.column +
                t.head * spec_.head_size,
            width, steps * width, spec_.head_size};
  }
  Heads queries_of(const View& view, const AttentionPart& part,
                   const Tile& t) const {
    return part_of(view, part, spec_.queries, t, t.query);
  }
  Heads keys_of(const View& view, const AttentionPart& part,
                const Tile& t) const {
    return part_of(view, part, spec_.keys, t, 0);
  }
  Heads tile_of(const View& view, const Tile& t) const {
    const std::int64_t of_head = t.queries * spec_.keys;
    return {Reals(view), spec_.keys, t.heads * of_head, of_head};
  }

  // C = p.alpha op(A) op(B) + p.beta C for each head of the tile.
  void multiply(const Tile& t, Product p, const Heads& c, const Heads& a,
                const Heads& b) {
    p.row_a = a.row;
    p.row_b = b.row;
    p.row_c = c.row;
    const bool by_example = t.examples < t.heads;
    const auto step = [&](const Heads& of) {
      return by_example ? of.of_head : of.of_example;
    };
    p.count = by_example ? t.heads : t.examples;
    p.step_a = step(a);
    p.step_b = step(b);
    p.step_c = step(c);
    for (std::int64_t i = 0; i < (by_example ? t.examples : t.heads); ++i) {
      const auto at = [&](const Heads& of) {
        return of.data + i * (by_example ? of.of_example : of.of_head);
      };
      products_(p, at(c), at(a), at(b));
    }
  }
  // [queries, keys] = factor A B'
  void multiply_scores(const Tile& t, const Heads& c, const Heads& a,
                       const Heads& b, float factor) {
    multiply(t,
             {.m = t.queries,
              .n = spec_.keys,
              .k = spec_.head_size,
              .transpose_b = true,
              .alpha = factor},
             c, a, b);
  }

  void weigh(const Tile& t, const View& mask, float* gradient) {
    blocks(stream_, t.examples * t.heads * t.queries, threads_for(spec_.keys),
           sizeof(Two),
           Weigh{t.queries, t.heads, spec_.keys, t.query, spec_.causal,
                 mask.empty() ? Reals() : Reals(mask) + t.example * spec_.keys,
                 scores_->view().as<float>(), gradient});
  }

  Stream& stream_;
  MatrixProduct& products_;
  AttentionSpec spec_;
  std::int64_t max_batch_;
  std::int64_t examples_, heads_, queries_;  // of a tile, at most
  std::int64_t trained_ = 0;  // the batch of the last forward() for training
  std::unique_ptr<tensor::Buffer> scores_, gradient_;
};

}  // namespace

std::unique_ptr<Attention> CudaDevice::attention(const AttentionSpec& spec,
                                                 std::int64_t max_batch) {
  return std::make_unique<CudaAttention>(*this, spec, max_batch);
}

}  // namespace dl::device::cuda
