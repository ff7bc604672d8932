// Helpers of the tests of convolutions of images, alone and with max pooling.

#ifndef DL_TESTS_UNIT_DEVICE_CONVOLUTIONS_H_
#define DL_TESTS_UNIT_DEVICE_CONVOLUTIONS_H_

#include <cstdint>
#include <vector>

#include "tests/unit/device/lab.h"

namespace dl::device::test {

struct ConvolutionCase {
  const char* name;
  device::Conv2dSpec spec;
  std::int64_t max_batch;
};

inline Shape x_shape(const device::Conv2dSpec& s, std::int64_t n) {
  return {n, s.height, s.width, s.channels};
}
inline Shape w_shape(const device::Conv2dSpec& s) {
  return {s.filters, s.kernel[0], s.kernel[1], s.channels / s.groups};
}

// Inputs: of a lab, the same on every device.  dy: of the outputs' shape.
struct Convolved {
  Convolved(Lab& lab, const device::Conv2dSpec& s, std::int64_t n,
            const Shape& outputs)
      : x(lab.random(x_shape(s, n), 1)),
        w(lab.random(w_shape(s), 2)),
        b(lab.random(Shape{s.filters}, 3)),
        dy(lab.random(outputs, 4)) {}
  View x, w, b, dy;
};

// All that a convolution computes, with and without bias.
inline std::vector<Values> results(Lab& lab, device::Conv2d& conv,
                                   const Convolved& a) {
  const View y = lab.blank(a.dy.shape), plain = lab.blank(a.dy.shape),
             dx = lab.blank(a.x.shape), dw = lab.blank(a.w.shape),
             db = lab.blank(a.b.shape), alone = lab.blank(a.w.shape);
  conv.forward(plain, a.x, a.w, {});
  conv.forward(y, a.x, a.w, a.b);
  conv.backward_data(dx, a.dy, a.w);
  conv.backward_weights(dw, db, a.x, a.dy);
  conv.backward_weights(alone, {}, a.x, a.dy);
  std::vector<Values> all;
  for (const View& view : {y, plain, dx, dw, db, alone})
    all.push_back(lab.get(view));
  return all;
}

// Compares cpu with reference.  make(device, spec, max_batch): the convolution;
// arrays(lab, spec, batch): what it is tried with.
template <typename Make, typename Arrays>
void check_convolutions(const std::vector<ConvolutionCase>& cases, Make make,
                        Arrays arrays) {
  for (const ConvolutionCase& c : cases) {
    Lab cpu(tested()), reference("reference");
    const auto fast = make(cpu.device(), c.spec, c.max_batch);
    const auto exact = make(reference.device(), c.spec, c.max_batch);
    // The largest batch, one example, and the largest again.
    for (const std::int64_t n : {c.max_batch, std::int64_t{1}, c.max_batch}) {
      CAPTURE(c.name, n);
      const auto actual = results(cpu, *fast, arrays(cpu, c.spec, n));
      const auto expected =
          results(reference, *exact, arrays(reference, c.spec, n));
      for (std::size_t i = 0; i < actual.size(); ++i) {
        CAPTURE(i);
        check_close(actual[i], expected[i], 4e-6);
      }
    }
  }
}

}  // namespace dl::device::test

#endif  // DL_TESTS_UNIT_DEVICE_CONVOLUTIONS_H_
