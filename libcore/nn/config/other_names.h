// What other programs call the things that a configuration names.

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

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_CONFIG_OTHER_NAMES_H_
