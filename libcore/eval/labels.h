// The labels of an example, whichever way the tensor stores them:
//
//   [n]           a class (an index), or the value of the only output
//   [n, outputs]  a value for each output: one-hot, several 0/1 labels, or the
//                 targets of a regression
//
// Where examples are sequences, n counts all their steps, and labels are
// [examples, steps] or [examples, steps, outputs]; pixels of images the same.

#ifndef DL_LIBCORE_EVAL_LABELS_H_
#define DL_LIBCORE_EVAL_LABELS_H_

#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace dl::eval {

// [examples, steps] of [examples, steps, outputs].
tensor::Shape places_of(const tensor::Shape& predictions);

class Labels {
 public:
  // The tensor outlives this.  shape: of the outputs, [examples, outputs] or
  // [examples, steps, outputs].  first: what the first example is called in
  // messages.  Throws Error: kData, the shape is none of the above.
  Labels(const tensor::Tensor& labels, const tensor::Shape& shape,
         std::int64_t first);

  // The class of example i, 0..classes-1; a single output has two classes.  For
  // a row: the place of its largest value. Throws Error: kData, there is no
  // such class, or the row is all zeros or has what is no share of a class.
  std::int64_t class_of(std::int64_t i) const;

  // Whether output j should be 1 for example i.
  // Throws Error: kData, the label is no class, or neither 0 nor 1.
  bool positive(std::int64_t i, std::int64_t j) const;

  // The target of output j.
  // Throws Error: kData, it is no finite float, or there is a class in its
  // place.
  double target(std::int64_t i, std::int64_t j) const;

 private:
  [[noreturn]] void fail(std::int64_t i, const char* why) const;

  const tensor::Tensor& labels_;
  std::int64_t outputs_, steps_, first_;
  bool rows_;  // [n, outputs]
};

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_LABELS_H_
