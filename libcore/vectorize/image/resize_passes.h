// The two passes of resizing, compiled for each vector width.

#ifndef DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_PASSES_H_
#define DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_PASSES_H_

#include "libcore/vectorize/image/resize.h"

namespace dl::vectorize {

struct ResizePasses {
  // out has its size; in and out have the same height, or width.  row: room for
  // 4 bytes a pixel of two rows of `in`, and 12 more for each, which are read
  // for weights of 0.  (No vector: the linker would have one function of it for
  // all widths.)
  void (*rows)(const Picture& in, const Weights& weights, std::uint8_t* row,
               Picture& out);
  void (*columns)(const Picture& in, const Weights& weights, Picture& out);
};

extern const ResizePasses kPortablePasses;
#ifdef __x86_64__
extern const ResizePasses kAvx2Passes;
#endif

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_IMAGE_RESIZE_PASSES_H_
