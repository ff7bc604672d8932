// t-SNE (van der Maaten and Hinton 2008), by trees (van der Maaten 2014):
// places in the plane where neighbors stay neighbors.

#ifndef DL_LIBCORE_PLOT_EMBEDDING_TSNE_H_
#define DL_LIBCORE_PLOT_EMBEDDING_TSNE_H_

#include <vector>

#include "libcore/plot/embedding/pca.h"

namespace dl::plot {

// Begins with the principal components, as scikit-learn does, and draws
// nothing: places follow from the points alone.  points: finite; some thousand
// at most, as all distances are looked at.
std::vector<Place> tsne(const PointSet& points, const Components& begin);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EMBEDDING_TSNE_H_
