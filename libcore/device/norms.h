// Factors that bring vectors to the norms that they may have; for kernels,
// too.

#ifndef DL_LIBCORE_DEVICE_NORMS_H_
#define DL_LIBCORE_DEVICE_NORMS_H_

namespace dl::device {

// Device::bound_norms(): what is nearly nothing has no direction.
constexpr double bounding_factor(double norm, double least, double most,
                                 double rate) {
  constexpr double kSmallNorm = 1e-6;
  const double bound = norm > most ? most : norm < least ? least : norm;
  if (!(norm >= kSmallNorm) || bound == norm) return 1;
  return 1 + rate * (bound - norm) / norm;
}

// Device::norm_factor().
constexpr double clipping_factor(double norm, double most, bool always) {
  constexpr double kSmallNorm = 1e-5;
  return norm > most || (always && norm >= kSmallNorm) ? most / norm : 1;
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_NORMS_H_
