// Which worker averages what of the vectors of sync's slots.
//
// The vector is cut from its end, where the gradient of the last layer lies,
// which a backward pass finds first, and the pieces are dealt in turn.

#ifndef DL_LIBCORE_CLUSTER_TREE_PIECES_H_
#define DL_LIBCORE_CLUSTER_TREE_PIECES_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libcore/cluster/protocol/message_sync.h"

namespace dl::cluster {

struct Piece {
  std::size_t first = 0, count = 0;
  std::size_t owner = 0;  // one of 0 ... parties - 1
};

// In the order in which a slot gives them.  As many for each party, of sizes
// that differ by one at most; none of no elements.
inline std::vector<Piece> pieces_of(std::size_t elements, std::size_t parties) {
  const std::size_t round = parties * kLargestPiece;
  const std::size_t count = std::min(
      elements,
      parties * std::max<std::size_t>(1, (elements + round - 1) / round));
  std::vector<Piece> pieces;
  for (std::size_t i = count; i > 0; --i) {
    const std::size_t first = elements * (i - 1) / count;
    pieces.push_back(
        {first, elements * i / count - first, pieces.size() % parties});
  }
  return pieces;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_TREE_PIECES_H_
