// Threshold coding of updates (Strom, Interspeech 2015), without loss of mass.
//
// A worker adds its updates to a residual; the encoder takes out of it a
// message of quanta +-threshold and leaves the rest.  So, to the last bit on
// dyadic values,
//
//   sum of decoded messages + residual + clipped = sum of updates.
//
// A vector has parts (its tensors), each with a threshold of its own.  Message:
// a segment for each part that has quanta; their positions as gaps in
// Golomb-Rice code, one sign bit each; where more than three fifths of the
// elements would be sent, a dense code of five three-valued symbols a byte.
// Both say the same of the same quanta.  The layout is in dl-protocol(7).

#ifndef DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_H_
#define DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "libcore/exchange/codec/threshold_reader.h"
#include "libcore/exchange/residual/residual.h"
#include "libcore/tensor/threshold_select.h"

namespace dl::exchange {

// A residual in memory of the host, and its coding.
class ThresholdEncoder final : public Residual {
 public:
  explicit ThresholdEncoder(std::vector<std::size_t> parts);

  std::span<float> residual() {
    return {reinterpret_cast<float*>(lines_.data()), elements_};
  }

  // residual += update (an empty update adds nothing).  Then takes one quantum
  // out of each element of part p with |r| >= thresholds[p], and appends the
  // message to `out`.  Returns the number of quanta; with 0 a message is
  // appended, too.  One pass over memory; no allocation once `out` and the
  // encoder are warm.
  // Thresholds are > 0 and finite (kBug).  An infinite element stays infinite,
  // so updates must be finite.
  std::int64_t encode(std::span<const float> update,
                      std::span<const float> thresholds,
                      std::vector<std::byte>& out);

  // encode() while an updater writes the update: begin(), take() of pieces that
  // together are the whole update, finish().  Message and residual are those of
  // encode().  The update is read while it is in a cache, by as many threads as
  // write it.
  void begin(std::span<const float> thresholds);
  // The piece is the elements of the update from `at` on, all of one part
  // (kBug).  Any number of threads may call this at a time.
  void take(std::size_t at, std::span<const float> piece);
  std::int64_t finish(std::vector<std::byte>& out);
  // Instead of finish(): restores the residual as it was before begin(), except
  // for rounding.  update: the whole update, read where take() was called.
  void undo(std::span<const float> update);

  double given() const override { return given_; }
  void clip(double multiple, std::span<const float> thresholds) override;
  void shrink(std::size_t at, std::size_t elements, float factor) override;
  void clear() override;
  Mass cut() const override { return cut_; }
  void give_back(std::span<const std::byte> message) override;
  Mass mass() override;
  double norm() override;
  Overlap overlap(std::span<const std::byte> message) override;
  void magnitudes(std::size_t step, std::vector<float>& found) override;

 private:
  struct alignas(64) Line {
    float values[16] = {};
  };

  // Elements that take() found, in the order of its calls.
  struct Taken {
    std::size_t at, elements, part;
    std::size_t first_hits, hits;  // range of taken_hits_
    double given;                  // sum of the piece's elements
  };

  std::span<const tensor::HitWord> hits_of(const Taken& piece) const {
    return std::span(taken_hits_).subspan(piece.first_hits, piece.hits);
  }

  std::vector<Line> lines_;  // the residual
  double given_ = 0;
  Mass cut_;
  std::vector<tensor::HitWord> hits_;  // hits in the part at hand
  std::vector<std::byte> code_;        // code of the part at hand

  std::vector<float> thresholds_;  // in use from begin() to finish()
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::vector<Taken> taken_;                 // guarded by mutex_
  std::vector<tensor::HitWord> taken_hits_;  // guarded by mutex_
};

// The parts of a vector of tensors: one for each tensor; a tensor with fewer
// than kMinPart elements joins the one before it, the first ones join the one
// behind. Without per_tensor there is one part for all.  Empty tensors have no
// part.
constexpr std::size_t kMinPart = 256;
std::vector<std::size_t> parts_of(std::span<const std::size_t> tensor_sizes,
                                  bool per_tensor);

// ThresholdEncoder::encode() of one part whose residual lies elsewhere.
std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out);

// Summary of a message.
struct ThresholdInfo {
  std::uint64_t elements = 0;
  std::uint64_t quanta = 0;
  std::size_t segments = 0;  // number of parts that have quanta
  float largest = 0;         // largest threshold of these parts
  // Mean threshold by elements of all parts, 0 for parts without quanta.
  double mean = 0;
  Mass mass = {};  // sums over the update's elements
};
// Checks the whole message; throws Error as decode_threshold() does.
ThresholdInfo inspect_threshold(std::span<const std::byte> message);

// target += scale * (the update in `message`).  Checks everything before it
// changes anything.  Some 8 ns a quantum, twice that where the target lies in
// memory and quanta are far apart.
// Throws Error: kProtocol, the message is damaged, is for another number of
// elements, or has a quantum that is not finite and positive.
void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target);
// Throws if a message with so many elements and this largest threshold does not
// fit a target of so many elements.
void require_fit(std::uint64_t elements, std::size_t target, float largest);
// The second half of decode_threshold(), for a message that inspect_threshold()
// has passed: for as many elements as the target has (kBug), and with a finite
// scale * largest.
void add_quanta(std::span<const std::byte> message, float scale,
                std::span<float> target);

// Calls visit(index, value) for each quantum, ascending, after a check of the
// whole message; throws Error as decode_threshold() does.
template <typename Visit>
void for_each_quantum(std::span<const std::byte> message, const Visit& visit) {
  inspect_threshold(message);
  ThresholdReader reader(message);
  while (reader.next())
    for (const Quantum& quantum : reader.quanta())
      visit(quantum.index,
            quantum.negative ? -reader.threshold() : reader.threshold());
}

// residual += update, of equal sizes; returns the sum of the update.
double accumulate(std::span<float> residual, std::span<const float> update);

// r clamped to +-limit; returns what was cut off.  limit >= 0.
Mass clip_residual(std::span<float> residual, float limit);

// r times factor, 0..1; returns what was taken off.
Mass shrink_residual(std::span<float> residual, float factor);

Mass mass_of(std::span<const float> values);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_THRESHOLD_H_
