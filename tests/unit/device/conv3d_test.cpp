// Convolution and pooling of volumes: by hand, gradients by finite differences,
// the cpu device against the reference.  Properties that they share with images
// are tested there.

#include "tests/unit/device/lab.h"

namespace dl::device::conv3d_test {

using namespace dl::device::test;
using dl::device::Conv3dSpec;
using dl::device::Pool3dSpec;
using dl::device::Pooling;

namespace {

template <typename Spec>
Shape x_shape(const Spec& s, std::int64_t n) {
  return {n, s.depth, s.height, s.width, s.channels};
}
Shape y_shape(const Conv3dSpec& s, std::int64_t n) {
  return {n, s.out_depth(), s.out_height(), s.out_width(), s.filters};
}
Shape y_shape(const Pool3dSpec& s, std::int64_t n) {
  return {n, s.out_depth(), s.out_height(), s.out_width(), s.channels};
}
Shape w_shape(const Conv3dSpec& s) {
  return {s.filters, s.kernel[0], s.kernel[1], s.kernel[2],
          s.channels / s.groups};
}

const std::vector<Conv3dSpec> kConvs = {
    {.depth = 1, .height = 1, .width = 1, .channels = 1, .filters = 1},
    {.depth = 4,
     .height = 3,
     .width = 5,
     .channels = 3,
     .filters = 2,
     .kernel = {3, 2, 2}},
    {.depth = 5,
     .height = 6,
     .width = 4,
     .channels = 2,
     .filters = 4,
     .kernel = {3, 3, 2},
     .stride = {2, 1, 3},
     .dilation = {1, 2, 1},
     .pad_begin = {1, 2, 0},
     .pad_end = {0, 1, 1},
     .groups = 2},
    {.depth = 6,
     .height = 5,
     .width = 5,
     .channels = 20,
     .filters = 33,
     .kernel = {3, 3, 3},
     .pad_begin = {1, 1, 1},
     .pad_end = {1, 1, 1}},
    {.depth = 4,
     .height = 4,
     .width = 5,
     .channels = 12,
     .filters = 16,
     .kernel = {3, 3, 2},
     .stride = {1, 2, 2},
     .pad_begin = {1, 2, 0},
     .pad_end = {2, 1, 1}},
    {.depth = 4,
     .height = 5,
     .width = 5,
     .channels = 17,
     .filters = 17,
     .kernel = {2, 3, 3},
     .groups = 17},
};

const std::vector<Pool3dSpec> kPools = {
    {.depth = 2, .height = 2, .width = 2, .channels = 1},
    {.depth = 5,
     .height = 4,
     .width = 7,
     .channels = 3,
     .kernel = {2, 3, 2},
     .stride = {1, 2, 3},
     .pad_begin = {1, 0, 1},
     .pad_end = {0, 2, 1}},
    {.depth = 3,
     .height = 6,
     .width = 4,
     .channels = 18,
     .kernel = {3, 2, 2},
     .stride = {3, 1, 2}},
};

Values forward(const Conv3dSpec& s, const Values& x, const Values& w,
               const Values& b, std::int64_t n) {
  Lab lab("reference");
  const View y = lab.blank(y_shape(s, n));
  lab.device().conv3d(s, n)->forward(y, lab.put(x_shape(s, n), x),
                                     lab.put(w_shape(s), w),
                                     lab.put(Shape{s.filters}, b));
  return lab.get(y);
}

Values forward(const Pool3dSpec& s, const Values& x, std::int64_t n) {
  Lab lab("reference");
  const View y = lab.blank(y_shape(s, n));
  lab.device().pool3d(s, n)->forward(y, lab.put(x_shape(s, n), x), false);
  return lab.get(y);
}

}  // namespace

TEST_CASE("volumes, by hand") {
  // 2x1x2 voxels, a kernel over depth: a + 10 b + 0.5.
  const Conv3dSpec conv{.depth = 2,
                        .height = 1,
                        .width = 2,
                        .channels = 1,
                        .filters = 1,
                        .kernel = {2, 1, 1}};
  check_close(forward(conv, {1, 2, 3, 4}, {1, 10}, {0.5}, 1), {31.5, 42.5},
              1e-12);
  Pool3dSpec pool{.depth = 2, .height = 2, .width = 2, .channels = 1};
  const Values cube = {1, 8, 2, 7, 3, 6, 4, 5};
  check_close(forward(pool, cube, 1), {8}, 0);
  pool.kind = Pooling::kAverage;
  check_close(forward(pool, cube, 1), {4.5}, 1e-12);
}

TEST_CASE("reference gradients of volumes are those of their forward") {
  const std::int64_t n = 2;
  for (const Conv3dSpec& s : kConvs) {
    if (s.channels > 10) continue;
    CAPTURE(s.depth, s.channels);
    Lab lab("reference");
    const View x = lab.random(x_shape(s, n), 1), w = lab.random(w_shape(s), 2),
               b = lab.random(Shape{s.filters}, 3),
               dy = lab.random(y_shape(s, n), 4);
    const View dx = lab.blank(x.shape), dw = lab.blank(w.shape),
               db = lab.blank(b.shape);
    const auto conv = lab.device().conv3d(s, n);
    conv->backward_data(dx, dy, w);
    conv->backward_weights(dw, db, x, dy);
    const Values vx = lab.get(x), vw = lab.get(w), vb = lab.get(b),
                 slope = lab.get(dy);
    check_close(
        lab.get(dx),
        numeric_gradient([&](auto& v) { return forward(s, v, vw, vb, n); }, vx,
                         slope),
        1e-8);
    check_close(
        lab.get(dw),
        numeric_gradient([&](auto& v) { return forward(s, vx, v, vb, n); }, vw,
                         slope),
        1e-8);
    check_close(
        lab.get(db),
        numeric_gradient([&](auto& v) { return forward(s, vx, vw, v, n); }, vb,
                         slope),
        1e-8);
  }
  for (Pool3dSpec s : kPools)
    for (const Pooling kind :
         {Pooling::kMax, Pooling::kAverage, Pooling::kPNorm}) {
      s.kind = kind;
      s.count_padding = s.depth == 5;
      CAPTURE(s.depth, static_cast<int>(kind));
      Lab lab("reference");
      const View x = lab.random(x_shape(s, n), 1);
      const View dy = lab.random(y_shape(s, n), 2);
      const View y = lab.blank(dy.shape), dx = lab.blank(x.shape);
      const auto pool = lab.device().pool3d(s, n);
      pool->forward(y, x, true);
      pool->backward(dx, dy);
      check_close(lab.get(dx),
                  numeric_gradient([&](auto& v) { return forward(s, v, n); },
                                   lab.get(x), lab.get(dy)),
                  1e-8);
    }
}

TEST_CASE("cpu convolution of volumes agrees with the reference") {
  for (const Conv3dSpec& s : kConvs)
    for (const std::int64_t n : {3, 1}) {
      CAPTURE(s.depth, s.channels, n);
      check_like_reference(
          [&](Lab& lab) {
            const auto conv = lab.device().conv3d(s, 3);
            const View x = lab.random(x_shape(s, n), 1),
                       w = lab.random(w_shape(s), 2),
                       b = lab.random(Shape{s.filters}, 3),
                       dy = lab.random(y_shape(s, n), 4);
            const View y = lab.blank(dy.shape), dx = lab.blank(x.shape),
                       dw = lab.blank(w.shape), db = lab.blank(b.shape),
                       frozen = lab.blank(dy.shape);
            conv->forward(y, x, w, b);
            conv->backward_data(dx, dy, w);
            conv->backward_weights(dw, db, x, dy);
            if (conv->freeze(w, b, {}))
              conv->forward(frozen, x, {}, {});
            else
              conv->forward(frozen, x, w, b);
            Values all;
            for (const View& view : {y, dx, dw, db, frozen})
              for (const double value : lab.get(view)) all.push_back(value);
            return all;
          },
          4e-6);
    }
}

TEST_CASE("a convolution that strides takes batches of its own extents") {
  const Conv3dSpec s{.depth = 1,
                     .height = 16,
                     .width = 16,
                     .channels = 1,
                     .filters = 64,
                     .kernel = {1, 8, 8},
                     .stride = {1, 8, 8}};
  // As many that one for every pixel of every filter would be too many.
  constexpr std::int64_t kBatch = (std::int64_t{1} << 17) + 1;
  check_like_reference(
      [&](Lab& lab) {
        const View y = lab.blank(y_shape(s, 2));
        lab.device().conv3d(s, kBatch)->forward(y, lab.random(x_shape(s, 2), 1),
                                                lab.random(w_shape(s), 2), {});
        return lab.get(y);
      },
      4e-6);
}

TEST_CASE("pooling of volumes agrees with the reference") {
  for (Pool3dSpec s : kPools)
    for (const Pooling kind :
         {Pooling::kMax, Pooling::kAverage, Pooling::kPNorm})
      for (const bool count_padding : {false, true}) {
        s.kind = kind;
        s.count_padding = count_padding;
        CAPTURE(s.depth, static_cast<int>(kind), count_padding);
        check_like_reference([&](Lab& lab) {
          const auto pool = lab.device().pool3d(s, 3);
          const View x = lab.random(x_shape(s, 3), 1);
          const View dy = lab.random(y_shape(s, 3), 2);
          const View y = lab.blank(dy.shape), dx = lab.blank(x.shape);
          pool->forward(y, x, true);
          pool->backward(dx, dy);
          Values all = lab.get(y);
          for (const double value : lab.get(dx)) all.push_back(value);
          return all;
        });
      }
}

TEST_CASE("volumes that do not fit are refused") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Conv3dSpec s = kConvs[1];
    const auto conv = lab.device().conv3d(s, 2);
    const View x = lab.random(x_shape(s, 2), 1), w = lab.random(w_shape(s), 2),
               y = lab.blank(y_shape(s, 2));
    CHECK_NOTHROW(conv->forward(y, x, w, {}));
    CHECK_THROWS_AS(conv->forward(x, x, w, {}), Error);
    CHECK_THROWS_AS(conv->forward(y, x.reshaped(Shape{2, 4, 3, 15}), w, {}),
                    Error);
    Conv3dSpec deep = s;
    deep.kernel[0] = 5;
    CHECK_THROWS_AS(lab.device().conv3d(deep, 2), Error);
    Pool3dSpec wide = kPools[0];
    wide.kernel[0] = 3;
    CHECK_THROWS_AS(lab.device().pool3d(wide, 2), Error);
  }
}

}  // namespace dl::device::conv3d_test
