// Buffers in one piece of memory: the largest first, each at the lowest place
// that is free as long as it is in use.

#include <algorithm>
#include <limits>
#include <numeric>

#include "libcore/nn/plan/plan.h"

namespace dl::nn {
namespace {

constexpr std::int64_t kAlignment = 16;  // reals: 64 bytes of float32

// A buffer that has its place: [begin, end), in use from `first` to `last`.
struct PlacedBuffer {
  std::int64_t begin = 0, end = 0;
  int first = 0, last = 0;

  bool meets(const PlacedBuffer& other) const {
    return first <= other.last && other.first <= last;
  }
};

// Neighbors by their place, and what is common to them: a chain of layers has
// as many buffers as layers, all of which are in use in the middle of a step.
class Block {
 public:
  static constexpr std::size_t kMost = 512;

  std::int64_t begin() const { return buffers_.front().begin; }
  bool is_full() const { return buffers_.size() >= kMost; }
  void insert(const PlacedBuffer& buffer) {
    buffers_.insert(std::ranges::upper_bound(buffers_, buffer.begin, {},
                                             &PlacedBuffer::begin),
                    buffer);
    sum_up();
  }
  // The upper half of it leaves.
  Block split() {
    Block upper;
    const auto middle =
        buffers_.begin() + static_cast<std::ptrdiff_t>(buffers_.size() / 2);
    upper.buffers_.assign(middle, buffers_.end());
    buffers_.erase(middle, buffers_.end());
    sum_up();
    upper.sum_up();
    return upper;
  }

  // Moves the buffer up to where none of these is in its way; true: before one
  // of them, and there it stays.
  bool pass(PlacedBuffer& buffer) const {
    const std::int64_t size = buffer.end - buffer.begin;
    const auto move_to = [&](std::int64_t at) {
      buffer.begin = std::max(buffer.begin, at);
      buffer.end = buffer.begin + size;
    };
    if (buffer.first > most_last_ || buffer.last < least_first_) return false;
    const bool all = buffer.first <= least_last_ && buffer.last >= most_first_;
    if (all && buffer.end > begin() && size > widest_gap_) {
      move_to(end_);
      return false;
    }
    for (const PlacedBuffer& other : buffers_) {
      if (!other.meets(buffer)) continue;
      if (buffer.end <= other.begin) return true;
      move_to(other.end);
    }
    return false;
  }

 private:
  void sum_up() {
    least_first_ = least_last_ = std::numeric_limits<int>::max();
    most_first_ = most_last_ = std::numeric_limits<int>::min();
    widest_gap_ = 0;
    end_ = begin();
    for (const PlacedBuffer& buffer : buffers_) {
      least_first_ = std::min(least_first_, buffer.first);
      most_first_ = std::max(most_first_, buffer.first);
      least_last_ = std::min(least_last_, buffer.last);
      most_last_ = std::max(most_last_, buffer.last);
      widest_gap_ = std::max(widest_gap_, buffer.begin - end_);
      end_ = std::max(end_, buffer.end);
    }
  }

  std::vector<PlacedBuffer> buffers_;
  int least_first_ = 0, most_first_ = 0, least_last_ = 0, most_last_ = 0;
  std::int64_t widest_gap_ = 0, end_ = 0;
};

void insert(std::vector<Block>& blocks, const PlacedBuffer& buffer) {
  if (blocks.empty()) return blocks.emplace_back().insert(buffer);
  auto block = std::ranges::upper_bound(
      blocks, buffer.begin, {}, [](const Block& b) { return b.begin(); });
  if (block != blocks.begin()) --block;
  block->insert(buffer);
  if (!block->is_full()) return;
  Block upper = block->split();
  blocks.insert(block + 1, std::move(upper));
}

}  // namespace

Places place(std::span<const PlannedBuffer> buffers, std::int64_t examples,
             std::int64_t whole) {
  const std::int64_t alignment = kAlignment * whole;
  std::vector<std::int64_t> sizes;
  for (const PlannedBuffer& buffer : buffers) {
    const std::int64_t n =
        buffer.elements * examples * (buffer.whole ? whole : 1);
    sizes.push_back((n + alignment - 1) / alignment * alignment);
  }
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });

  Places places{std::vector<std::int64_t>(buffers.size()), 0};
  std::vector<Block> blocks;  // by offset
  for (const std::size_t i : order) {
    PlacedBuffer buffer{0, sizes[i], buffers[i].first, buffers[i].last};
    for (const Block& block : blocks)
      if (block.pass(buffer)) break;
    places.offsets[i] = buffer.begin;
    places.elements = std::max(places.elements, buffer.end);
    insert(blocks, buffer);
  }
  return places;
}

}  // namespace dl::nn
