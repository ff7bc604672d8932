// Predictions as JSON Lines, one line an example:
//
//   {"index":0,"class":"cat","probability":0.9}                      a class
//   {"index":0,"class":"cat","probability":0.9,"top":[{"class":...}]}
//   {"index":0,"outputs":{"depth":1.5,"speed":0.25}}                 values
//   {"index":0,"outputs":[1.5,0.25]}                        without names
//   {"index":7,"id":"a.png",...}           what the example says that it is
//   {"index":0,"steps":[{"class":"B","probability":0.9},null]}  a sequence:
//       what the others say, of each step; null where it is padding
//   {"index":0,"digit":{"class":"7","probability":0.9},"size":{"outputs":[2]}}
//       of several outputs, by their names
//
// With a threshold, a softmax of two classes and a single output for two name
// the second class where it reaches that, and sigmoids say yes or no beside
// their values:
// {"index":0,"outputs":{"a":0.4,"b":0.1},"yes":{"a":true,"b":false}}.
//
// A network that ends in softmax names a class; so does a single output of a
// sigmoid, where the data names two classes.  Classes without names are called
// by their number ("7").  Other nodes (part_of.h) have values without names,
// flattened in row-major order.  Numbers are the shortest that read back as the
// same float.

#ifndef DL_LIBCORE_NN_PREDICT_PREDICTION_LINES_H_
#define DL_LIBCORE_NN_PREDICT_PREDICTION_LINES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/nn/model/model.h"

namespace dl::nn {

// Tensors of examples besides features, or null; see data/format/dataset.h.
struct LineTensors {
  const tensor::Tensor* id = nullptr;     // kU8 [n, width]
  const tensor::Tensor* index = nullptr;  // kI64 [n]
};

class PredictionLines {
 public:
  // top: how many classes a line lists, or all where an output has fewer; 1
  // lists none but the likeliest.
  // threshold: what a probability must reach to mean yes; none: the likeliest
  // class is named, and sigmoids decide nothing.
  // Throws Error: kUsage, top is out of range, or this model names no classes
  // and top is not 1; threshold is not in 0..1, or for no output; kConfig, one
  // of several outputs is called as another field.
  PredictionLines(const Model& model, std::int64_t top,
                  std::optional<double> threshold = {});

  // A line for each example of what each output says, numbered from first where
  // there is no index.
  // Throws Error: kData, "the model's output for example 17 is not finite".
  std::string lines(std::span<const Prediction> outputs, std::int64_t first,
                    const LineTensors& of = {}) const;

 private:
  // Prediction of one output.
  struct Output {
    std::string key;  // of several: its name, as a JSON string
    std::int64_t units = 0;
    std::int64_t top = 1;
    bool names_class = false;
    bool is_sigmoid = false;
    std::optional<float> threshold;  // as outputs are: 0.7 reaches 0.7
    bool flat = false;               // numbers, whatever their shape
    std::vector<std::string> names;  // as JSON strings; empty: none

    bool decides() const {
      return names_class ? names.size() == 2 : is_sigmoid;
    }
    void append_row(std::string& line, const float* row) const;
    void append_class(std::string& line, const float* row) const;
    void append_outputs(std::string& line, const float* row) const;
    template <typename Append>
    void append_units(std::string& line, Append append_unit) const;
    void append_example(std::string& line, const Prediction& said,
                        std::int64_t i) const;
  };
  static Output output_of(const Model& model, std::size_t i);

  std::vector<Output> outputs_;
};

// Throws Error: kData unless all of outputs [n, ...] are finite; names the
// example, counted from first.
void check_finite(const tensor::Tensor& outputs, std::int64_t first);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICT_PREDICTION_LINES_H_
