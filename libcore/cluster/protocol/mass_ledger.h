// A ledger of all that was learnt in sharing, which balances:
//
//   given + returned = sent + clipped + residual
//
// in sums over all elements, but for rounding.  Whatever is lost or counted
// twice on the way has its column.

#ifndef DL_LIBCORE_CLUSTER_PROTOCOL_MASS_LEDGER_H_
#define DL_LIBCORE_CLUSTER_PROTOCOL_MASS_LEDGER_H_

#include "libcore/base/json.h"
#include "libcore/exchange/codec/threshold.h"

namespace dl::cluster {

// Ledger of a worker's process since its start, or of several.
struct MassLedger {
  double given = 0;         // updates added to the residual
  exchange::Mass sent;      // coded and sent; sent again counts once
  exchange::Mass returned;  // refused, and added to the residual again
  exchange::Mass dropped;   // part of `sent` with an unknown answer
  exchange::Mass clipped;   // cut off the residual
  exchange::Mass residual;  // left in the residual, not yet sent

  void add(const MassLedger& other);
  Json to_json() const;
  // Throws Error: kProtocol.
  static MassLedger from_json(const JsonView& json);
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_PROTOCOL_MASS_LEDGER_H_
