// The division of the vectors of sync's slots among the workers that average.
//
// The vector is cut from its end, where the gradient of the last layer lies,
// which a backward pass finds first, and the pieces are dealt in turn.

#ifndef DL_LIBCORE_CLUSTER_TREE_PIECES_H_
#define DL_LIBCORE_CLUSTER_TREE_PIECES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libcore/cluster/protocol/message_sync.h"

namespace dl::cluster {

struct Piece {
  std::size_t first = 0, count = 0;
  std::size_t owner = 0;  // index of the party, 0 ... parties - 1
};

// Elements of a piece, but for the last, which may have fewer: one piece for
// each slot of the round, as a small network's step waits for messages rather
// than for bytes; more where that makes a piece too long to be sent while the
// next is computed, and fewer where it makes one shorter than its message
// costs.
constexpr std::size_t piece_elements(std::size_t elements, std::int64_t slots) {
  constexpr std::size_t kSmallestPiece = 8192;
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(slots, 1));
  const std::size_t share = (elements + n - 1) / n;
  return std::clamp(share, kSmallestPiece, kLargestPiece);
}

// The pieces of a vector, in the order in which a slot gives them; no piece is
// empty.  slots: number of slots of the round.  parties: number of parties that
// average them, which the worker of a slot need not know.
inline std::vector<Piece> pieces_of(std::size_t elements, std::int64_t slots,
                                    std::size_t parties = 1) {
  const std::size_t most = piece_elements(elements, slots);
  std::vector<Piece> pieces;
  for (std::size_t end = elements; end > 0;) {
    const std::size_t count = std::min(end, most);
    end -= count;
    pieces.push_back({end, count, pieces.size() % parties});
  }
  return pieces;
}

// Bytes of a piece of a gradient and of the statistics behind it. found: the
// gradient from its element `from` on, which is not behind the piece.
inline std::vector<std::byte> bytes_of(const Piece& piece, std::size_t from,
                                       std::span<const float> found,
                                       std::span<const float> statistics) {
  const std::size_t gradients = from + found.size(),
                    end = piece.first + piece.count,
                    middle = std::clamp(gradients, piece.first, end);
  std::vector<std::byte> bytes;
  bytes.reserve(piece.count * sizeof(float));
  const auto append = [&](std::span<const float> all, std::size_t begin,
                          std::size_t count) {
    const auto part = std::as_bytes(all.subspan(begin, count));
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  if (piece.first < middle)
    append(found, piece.first - from, middle - piece.first);
  if (middle < end) append(statistics, middle - gradients, end - middle);
  return bytes;
}

// The piece that begins at `first` and has `count` elements; null if there is
// none.
inline const Piece* piece_at(const std::vector<Piece>& pieces,
                             std::int64_t first, std::size_t count) {
  const auto found = std::ranges::find_if(pieces, [&](const Piece& piece) {
    return std::cmp_equal(piece.first, first) && piece.count == count;
  });
  return found == pieces.end() ? nullptr : &*found;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_PIECES_H_
