// Pooling over all steps of a sequence, or all positions of an image, and the
// choice of steps.

#ifndef DL_LIBCORE_DEVICE_API_POOL_STEPS_H_
#define DL_LIBCORE_DEVICE_API_POOL_STEPS_H_

namespace dl::device {

// y [n, c] = x [n, s, c] pooled over s.  A step whose mask [n, s] (empty: ones)
// is 0 does not count; where none does, y is 0.  The gradient is given that y
// and x; the first of equal maxima gets it.
enum class StepPooling { kMax, kAverage, kSum, kPNorm };
struct PoolSteps {
  StepPooling kind = StepPooling::kMax;
  double p = 2;  // of kPNorm, (sum of |x|^p)^(1/p), at least 1
};

// Choice of steps of a sequence: its last, all from the last to the first, or
// for each that is padding the one before it that counts.
enum class StepChoice { kLast, kReversed, kHeld };

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_POOL_STEPS_H_
