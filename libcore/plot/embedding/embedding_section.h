// Examples on the page of a model: activations, and places by what the network
// makes of them.

#ifndef DL_LIBCORE_PLOT_EMBEDDING_EMBEDDING_SECTION_H_
#define DL_LIBCORE_PLOT_EMBEDDING_EMBEDDING_SECTION_H_

#include <string>
#include <vector>

#include "libcore/plot/embedding/pca.h"
#include "libcore/plot/embedding/seen_examples.h"
#include "libcore/plot/page.h"

namespace dl::plot {

struct Embedding {
  Components pca;
  std::vector<Place> tsne;
};
Embedding embed(const SeenExamples& seen);

// Sections "Activations" and "Examples".
void add_examples(Page& page, const SeenExamples& seen,
                  const Embedding& embedding);
// A row an example: example,class,pca_x,pca_y,tsne_x,tsne_y.
std::string embedding_data(const SeenExamples& seen,
                           const Embedding& embedding);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EMBEDDING_EMBEDDING_SECTION_H_
