// Settings of layers that nothing reads: which of them say nothing of what a
// layer computes.  Any other is refused where it may say something, so that a
// setting of a newer Keras is not passed over.

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using Names = std::vector<std::string_view>;

// By the class of layers, "" of all.
const std::map<std::string_view, Names>& harmless() {
  static const Names kRecurrent{"unroll",
                                "implementation",
                                "consume_less",
                                "input_dim",
                                "input_length",
                                "forget_bias_init",
                                "inner_init",
                                "dropout_W",
                                "dropout_U",
                                "U_regularizer",
                                "state_size",
                                "use_cudnn",
                                "reset_dropout",
                                "unit_forget_bias",
                                "reset_after",
                                "cell",
                                "recurrent_dropout",
                                "dropout",
                                "zero_output_for_mask"};
  static const Names kMerge{
      "mode",      "mode_type",        "concat_axis",       "dot_axes",
      "arguments", "output_mask_type", "output_shape_type", "layers"};
  static const Names kNoise{"rate",       "p",           "stddev",
                            "sigma",      "noise_shape", "drop_path_rate",
                            "data_format"};
  static const std::map<std::string_view, Names> all{
      {"",
       {"name",
        "trainable",
        "dtype",
        "batch_input_shape",
        "batch_shape",
        "input_shape",
        "input_dtype",
        "build_config",
        "seed",
        "autocast",
        "sparse",
        "ragged",
        "weights",
        "init",
        "beta_init",
        "gamma_init",
        "W_regularizer",
        "b_regularizer",
        "W_constraint",
        "b_constraint",
        "activity_regularizer",
        "gamma_regularizer",
        "beta_regularizer",
        "registered_name",
        "_direct"}},
      {"BatchNormalization",
       {"renorm", "renorm_clipping", "renorm_momentum", "fused",
        "virtual_batch_size", "adjustment", "synchronized", "momentum"}},
      {"Dense", {"input_dim", "lora_alpha"}},
      {"EinsumDense", {"lora_alpha", "equation", "output_shape"}},
      {"MaxoutDense", {"input_dim"}},
      {"Highway", {"input_dim", "transform_bias"}},
      {"Embedding", {"input_length", "dropout", "lora_alpha"}},
      {"Convolution1D", {"input_dim", "input_length"}},
      {"AtrousConvolution1D", {"input_dim", "input_length"}},
      {"Convolution3D", {}},
      {"CenterCrop", {"bounding_box_format"}},
      {"MultiHeadAttention",
       {"query_shape", "key_shape", "value_shape", "flash_attention"}},
      {"LSTM", kRecurrent},
      {"GRU", kRecurrent},
      {"SimpleRNN", kRecurrent},
      {"RNN", kRecurrent},
      {"Bidirectional", {"input_dim", "input_length", "layer"}},
      {"LayerScale", {"init_values", "projection_dim"}},
      {"Normalization", {"variance", "input_mean", "input_variance"}},
      {"Add", kMerge},
      {"Multiply", kMerge},
      {"Average", kMerge},
      {"Maximum", kMerge},
      {"Concatenate", kMerge},
      {"Dot", kMerge},
      {"Dropout", kNoise},
      {"SpatialDropout1D", kNoise},
      {"SpatialDropout2D", kNoise},
      {"SpatialDropout3D", kNoise},
      {"AlphaDropout", kNoise},
      {"GaussianDropout", kNoise},
      {"GaussianNoise", kNoise},
      {"StochasticDepth", kNoise},
      {"ActivityRegularization", {"l1", "l2"}}};
  return all;
}

bool is_harmless(std::string_view class_name, std::string_view key) {
  // For training alone.
  for (const std::string_view end :
       {"_initializer", "_regularizer", "_constraint"})
    if (key.ends_with(end)) return true;
  for (const std::string_view name : {std::string_view(), class_name})
    if (const auto found = harmless().find(name);
        found != harmless().end() &&
        std::ranges::find(found->second, key) != found->second.end())
      return true;
  return false;
}

// Whether this is the value of a setting that is newer than the layer.
bool says_nothing(const Json& value) {
  return value.is_null() || value == Json(false) || value == Json("") ||
         (value.is_number() && value == Json(0)) ||
         (value.is_structured() && value.empty());
}

}  // namespace

void Site::check_all_read() const {
  for (const auto& [key, value] : layer_->config.items())
    if (!says_nothing(value) && read_->count(key) == 0 &&
        !is_harmless(layer_->class_name, key))
      refuse("its " + in_quotes(key) + " is " + displayed(dump_json(value)) +
             ", a setting that is not known; a layer without it would be "
             "needed");
}

}  // namespace dl::convert::keras
