// The text of dl-layers(5) on each type of layers: its words and its keys, from
// the type itself (layer_type.h).

#ifndef DL_LIBCORE_NN_CONFIG_LAYERS_PAGE_H_
#define DL_LIBCORE_NN_CONFIG_LAYERS_PAGE_H_

#include <string>

#include "libcore/nn/config/config_table.h"

namespace dl::nn {

// A key as the manual has it, in scdoc's format:
//   *filters*: integer 1..2147483647
//   	Required. Channels of the output.
std::string page_entry(const Key& key);

// The part of the page that is made from the types: the keys that all layers
// have, those of training, those that several types share, and a section for
// each type.
std::string layers_page();

// The part of dl-network(5) about augmentation: a line on each step, and the
// keys of all.
std::string augment_page();

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_LAYERS_PAGE_H_
