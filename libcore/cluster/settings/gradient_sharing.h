// Requirements of sharing and sync on a network's updaters; and sharing
// gradients instead of updates, where workers leave the updater's work to
// whoever applies what they send.

#ifndef DL_LIBCORE_CLUSTER_SETTINGS_GRADIENT_SHARING_H_
#define DL_LIBCORE_CLUSTER_SETTINGS_GRADIENT_SHARING_H_

#include "libcore/nn/config/config.h"

namespace dl::cluster {

// The updater of all layers.  Its momentum (0 for sgd) is applied before
// coding, its learning rate where an update is applied.
// Throws Error: kConfig, layers differ or have another updater than sgd or
// nesterovs, naming the layer.
nn::UpdaterConfig shared_updater(const nn::NetworkConfig& network);

// The same network, whose updates are the gradients after normalization, l1
// and l2.
nn::NetworkConfig without_updaters(nn::NetworkConfig network);

// Throws Error: kConfig, its updater does not take one step a mini-batch, as
// that of mode sync does.
void check_sync(const nn::NetworkConfig& network);

// The largest momentum of an updater that has parameters, beta1 for adam; 0 if
// none has any.
double largest_momentum(const nn::NetworkConfig& network);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_SETTINGS_GRADIENT_SHARING_H_
