// Convolution in full float32, by own kernels: cuDNN has few engines for images
// whose channels come last without tensor cores, which copy them about, and do
// not know paddings that differ at the two ends.
//
// All three are products of matrices one of which is never written down
// (implicit_gemm.h): rows are positions, what is summed over are the taps and
// channels of a window; for the gradient of the weights, these are columns, and
// it is summed over positions.  backward_data() with a stride is one product
// for each place that an input can have between windows, of the taps that meet
// it there.  Where much of the windows lies outside, rows go position by
// position, through all examples, and a tile leaves out the taps that none of
// its rows meets.
//
// Tiles, by 256 threads each:
//
//   128x128  8x8 a thread: most products for what is loaded, 2 blocks a
//            multiprocessor.  Where there are so many of them that they keep
//            the GPU busy, and they do not hang over far.
//   64x64    8x4, two slices of the depth: layers of 33 to 64 filters, and
//            where the larger are too few.
//   128x32   8x4, two slices: up to 32 filters of large images.
//   32x32    4x4, four slices: where all others are too few, as with small
//            batches, and for the weights of small layers.
//
// Loads of an array are of four floats where its channels of a group are a
// multiple of 4 and it is aligned, else of one, with which there is no 128x128.
// For weights, positions are cut into ranges that fill the GPU, whose sums are
// added by a second kernel.  Groups of up to 8 channels and filters, depthwise
// ones too, would leave most of a tile empty: a thread computes an element.
// Images of up to three channels have a kernel of their own (few_channels.h).
//
// The order of sums is determined by the sizes alone.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_EXACT_CONV_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_EXACT_CONV_H_

#include <cstdint>
#include <memory>

#include "libcore/device/cuda/cuda_device.h"

namespace dl::device::cuda {

// Throw Error: kBug, for what does not fit; kUnavailable, where a batch, or the
// weights, are more than 2^31 - 1024 numbers.
std::unique_ptr<Conv2d> exact_conv(CudaDevice& device, const Conv2dSpec& spec,
                                   std::int64_t max_batch);
std::unique_ptr<Conv3d> exact_conv(CudaDevice& device, const Conv3dSpec& spec,
                                   std::int64_t max_batch);

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_EXACT_CONV_H_
