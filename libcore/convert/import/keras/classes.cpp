// The classes that are imported, and why others are not.

#include "libcore/convert/import/keras/classes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

std::map<std::string_view, Make> all_classes() {
  std::map<std::string_view, Make> all;
  for (const auto& family :
       {core_classes(), activation_classes(), convolution_classes(),
        pool_classes(), shape_classes(), slice_classes(), norm_classes(),
        noise_classes(), recurrent_classes(), merge_classes(),
        arithmetic_classes(), attention_classes(), wrapper_classes()})
    for (const Class& one : family) all.emplace(one.name, one.make);
  return all;
}

constexpr std::string_view kOfImages[] = {
    "AugMix",   "AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization",
    "CutMix",   "Equalization", "MixUp",
    "Pipeline", "RandAugment",  "Solarization"};
constexpr std::string_view kChangesImages =
    "it changes images before training; leave it out of the model that is "
    "saved";

// Reasons for refusing a class, with what would be needed.
const std::map<std::string_view, std::string_view>& refusals() {
  static const std::map<std::string_view, std::string_view> all{
      {"Lambda",
       "it is Python code, which is never run; a layer that Keras itself has "
       "would be needed"},
      {"TFOpLambda",
       "it is a function of TensorFlow; a layer of Keras would be needed"},
      {"SlicingOpLambda",
       "it is a slice of TensorFlow's; a layer of Keras would be needed"},
      {"GroupedQueryAttention",
       "an attention whose queries share keys would be needed"},
      {"Attention", "an attention without weights of its own would be needed"},
      {"AdditiveAttention", "an additive attention would be needed"},
      {"ConvLSTM1D", "a recurrent convolution would be needed"},
      {"ConvLSTM2D", "a recurrent convolution would be needed"},
      {"ConvLSTM3D", "a recurrent convolution would be needed"},
      {"Conv3DTranspose",
       "a transposed convolution of volumes would be needed"},
      {"LocallyConnected1D",
       "a convolution with weights for each place would be needed"},
      {"LocallyConnected2D",
       "a convolution with weights for each place would be needed"},
      {"SpectralNormalization",
       "a layer that normalizes the weights of another would be needed"},
      {"CuDNNLSTM",
       "its weights have another order; load it with Keras, and save it as an "
       "LSTM"},
      {"CuDNNGRU",
       "its weights have another order; load it with Keras, and save it as a "
       "GRU"},
      {"LSTMCell", "it is the cell of an RNN, which is imported with it"},
      {"GRUCell", "it is the cell of an RNN, which is imported with it"},
      {"SimpleRNNCell", "it is the cell of an RNN, which is imported with it"},
      {"DenseFeatures", "dl-preprocess would have to do it"},
      {"StackedRNNCells", "one layer for each cell would be needed"},
      {"Resizing", "a layer that resizes images to any size would be needed"},
      {"Discretization", "dl-preprocess would have to do it"},
      {"Hashing", "dl-preprocess would have to do it"},
      {"HashedCrossing", "dl-preprocess would have to do it"},
      {"CategoryEncoding", "dl-preprocess would have to do it"},
      {"StringLookup", "dl-preprocess would have to do it"},
      {"IntegerLookup", "dl-preprocess would have to do it"},
      {"TextVectorization", "dl-preprocess would have to do it"},
      {"FeatureSpace", "dl-preprocess would have to do it"},
      {"MelSpectrogram", "dl-preprocess would have to do it"},
      {"STFTSpectrogram", "dl-preprocess would have to do it"},
      {"TorchModuleWrapper", "it is code of PyTorch, which is never run"},
      {"FlaxLayer", "it is code of JAX, which is never run"},
      {"JaxLayer", "it is code of JAX, which is never run"},
      {"TFSMLayer", "it is a graph of TensorFlow, which is never run"},
      {"Deconvolution2D",
       "Keras 1 gives it the shape of its output; a Conv2DTranspose would be "
       "needed"},
      {"ParametricSoftplus", "a softplus that learns would be needed"},
      {"SReLU", "a ReLU that learns where it bends would be needed"},
      {"ReversibleEmbedding",
       "an embedding that is also a dense layer would be needed"},
      {"MaxNumBoundingBoxes", "it is of images' boxes, not of a network"}};
  return all;
}

}  // namespace

std::string plain(std::string name) {
  std::erase(name, '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name;
}

Make find_class(std::string_view name) {
  static const std::map<std::string_view, Make> all = all_classes();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

std::string why_not(std::string_view class_name) {
  const auto found = refusals().find(class_name);
  if (found != refusals().end()) return std::string(found->second);
  if (class_name.starts_with("Random") ||
      std::ranges::find(kOfImages, class_name) != std::end(kOfImages))
    return std::string(kChangesImages);
  return {};
}

std::string classes_page() {
  // As they are refused: several for one reason together.
  std::map<std::string_view, std::string> names;
  for (const auto& [name, why] : refusals()) {
    std::string& all = names[why];
    all += (all.empty() ? "*" : ", *") + std::string(name) + "*";
  }
  std::string& images = names[kChangesImages];
  for (const std::string_view name : kOfImages)
    images += "*" + std::string(name) + "*, ";
  images += "and those that begin with *Random*";
  std::string page = "Imported are\n";
  for (const auto& [name, make] : all_classes())
    page += std::string(name) + ",\n";
  page.replace(page.size() - 2, 2, ".\n\nRefused are\n");
  std::map<std::string, std::string_view> sorted;
  for (const auto& [why, all] : names) sorted.emplace(all, why);
  for (const auto& [all, why] : sorted)
    page += "\n" + all + "\n\t" + std::string(why) + "\n";
  return page;
}

}  // namespace dl::convert::keras
