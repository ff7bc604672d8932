// The names that other programs have for the things of a configuration.

#ifndef DL_LIBCORE_NN_CONFIG_OTHER_NAMES_H_
#define DL_LIBCORE_NN_CONFIG_OTHER_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace dl::nn {

// The one of `known` that is meant by a word of Deeplearning4j, Keras or
// PyTorch, in whatever case, with underscores or without: "mean_squared_error"
// for "MSE"; "" if there is none.
std::string called_here(std::string_view word,
                        const std::vector<std::string>& known);

// Whether the word is a share that is kept, where "rate" is what is dropped.
bool is_share_kept(std::string_view word);

// The key of a layer that does what another program has a type of layers for:
// "weight_noise" for "DropConnect"; "" if there is none.
std::string_view key_in_place_of(std::string_view type);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_OTHER_NAMES_H_
