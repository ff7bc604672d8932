// Predictions as JSON Lines, one line an example:
//
//   {"index":0,"class":"cat","probability":0.9}                      a class
//   {"index":0,"class":"cat","probability":0.9,"top":[{"class":...}]}
//   {"index":0,"outputs":{"depth":1.5,"speed":0.25}}                 values
//   {"index":0,"outputs":[1.5,0.25]}                        without names
//   {"index":7,"id":"a.png",...}           what the example says that it is
//   {"index":0,"steps":[{"class":"B","probability":0.9},null]}  a sequence:
//       what the others say, of each step; null where it is padding
//
// A network that ends in softmax names a class; so does a single output of a
// sigmoid, where the data names two classes.  Classes without names are called
// by their number ("7").  Numbers are the shortest that read back as the same
// float.

#ifndef DL_LIBCORE_NN_PREDICTION_LINES_H_
#define DL_LIBCORE_NN_PREDICTION_LINES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/nn/model.h"

namespace dl::nn {

// What the examples have besides features, or null; see data/dataset.h.
struct LineTensors {
  const tensor::Tensor* mask = nullptr;   // [n, steps], 0 where it is padding
  const tensor::Tensor* id = nullptr;     // kU8 [n, width]
  const tensor::Tensor* index = nullptr;  // kI64 [n]
};

class PredictionLines {
 public:
  // top: how many classes a line lists; 1 lists none but the likeliest.
  // Throws Error: kUsage, top is out of range, or this model names no classes
  // and top is not 1.
  PredictionLines(const Model& model, std::int64_t top);

  // A line for each example of outputs [n, units] or [n, steps, units] (kF32),
  // numbered from first where there is no index.
  // Throws Error: kData, "the model's output for example 17 is not finite".
  std::string lines(const tensor::Tensor& outputs, std::int64_t first,
                    const LineTensors& of = {}) const;

 private:
  void append_row(std::string& line, const float* row) const;
  void append_class(std::string& line, const float* row) const;
  void append_outputs(std::string& line, const float* row) const;

  std::int64_t units_, top_;
  bool names_class_ = false;
  std::vector<std::string> names_;  // as JSON strings; empty: none
};

// Throws Error: kData unless all of outputs [n, ...] are finite; names the
// example, counted from first.
void check_finite(const tensor::Tensor& outputs, std::int64_t first);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_PREDICTION_LINES_H_
