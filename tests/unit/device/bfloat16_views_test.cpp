// Primitives of the cuda device on views of bfloat16, which may begin anywhere.
#ifdef DL_EMULATED

#include <bit>

#include "tests/unit/device/lab.h"

namespace dl::device::bfloat16_views_test {

using namespace dl::device::test;
using dl::device::Pool2dSpec;
using dl::device::Pooling;

namespace {

const char* gpu() {
  return std::string_view(tested()) == "cpu" ? "emulated" : tested();
}

// An array from the `first` element of its memory on, which goes there and back
// as the integers that pairs of its numbers are.
class Halves {
 public:
  Halves(Device& device, const Shape& shape, std::int64_t first)
      : device_(device),
        first_(first),
        words_(Shape{(first + shape.elements() + 1) / 2}),
        buffer_(device.allocate(words_, DType::kI32)),
        shape_(shape) {}

  View view() const {
    View all = buffer_->view();
    all.dtype = DType::kBF16;
    return all.at(first_, shape_);
  }
  void put(const Values& values) {
    Tensor t(DType::kI32, words_);
    for (std::size_t i = 0; i < values.size(); ++i)
      half(t, i) = static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(values[i])) >> 16);
    device_.upload(buffer_->view(), t);
  }
  Values get() const {
    Tensor t(DType::kI32, words_);
    device_.download(t, buffer_->view());
    Values values(static_cast<std::size_t>(shape_.elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::bit_cast<float>(std::uint32_t{half(t, i)} << 16);
    return values;
  }

 private:
  std::uint16_t& half(Tensor& t, std::size_t i) const {
    return reinterpret_cast<std::uint16_t*>(
        t.bytes().data())[static_cast<std::size_t>(first_) + i];
  }

  Device& device_;
  std::int64_t first_;
  Shape words_;
  std::unique_ptr<dl::tensor::Buffer> buffer_;
  Shape shape_;
};

const std::vector<Pool2dSpec> kPools = {
    {.height = 8, .width = 6, .channels = 8},
    {.height = 7, .width = 5, .channels = 3},
    {.height = 9,
     .width = 8,
     .channels = 4,
     .kernel = {3, 3},
     .stride = {2, 1},
     .pad_begin = {1, 1}},
};

}  // namespace

TEST_CASE("pooling of bfloat16 agrees with the reference") {
  for (Pool2dSpec s : kPools)
    for (const Pooling kind :
         {Pooling::kMax, Pooling::kAverage, Pooling::kPNorm})
      for (const std::int64_t first : {0, 1}) {
        s.kind = kind;
        CAPTURE(s.height, s.channels, static_cast<int>(kind), first);
        const Shape of_x{3, s.height, s.width, s.channels},
            of_y{3, s.out_height(), s.out_width(), s.channels};
        Values x = random_values(of_x.elements(), 1),
               dy = random_values(of_y.elements(), 2);
        std::ranges::transform(x, x.begin(), rounded);
        std::ranges::transform(dy, dy.begin(), rounded);

        Lab exact("reference");
        const View y = exact.blank(of_y), dx = exact.blank(of_x);
        const auto reference = exact.device().pool2d(s, 3);
        reference->forward(y, exact.put(of_x, x), true);
        reference->backward(dx, exact.put(of_y, dy));

        Lab lab(gpu());
        Halves from(lab.device(), of_x, first), up(lab.device(), of_y, first),
            to(lab.device(), of_y, first), down(lab.device(), of_x, first);
        from.put(x);
        up.put(dy);
        to.put(Values(dy.size(), kNan));
        down.put(Values(x.size(), kNan));
        const auto pool = lab.device().pool2d(s, 3);
        pool->forward(to.view(), from.view(), true);
        pool->backward(down.view(), up.view());
        check_close(to.get(), exact.get(y), 0x1p-8);
        check_close(down.get(), exact.get(dx), 0x1p-8);

        // Either kind of view beside the other.
        const View wide = lab.blank(of_y), slopes = lab.blank(of_x);
        pool->forward(wide, from.view(), true);
        pool->backward(slopes, up.view());
        check_close(lab.get(wide), exact.get(y), 2e-6);
        check_close(lab.get(slopes), exact.get(dx), 2e-6);
      }
}

#endif  // DL_EMULATED

}  // namespace dl::device::bfloat16_views_test
