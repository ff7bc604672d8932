// Checks of the primitives that move numbers about.

#include "libcore/base/error.h"
#include "libcore/device/check.h"

namespace dl::device {

using tensor::DType;
using tensor::View;

namespace {

// Elements offset + sum i_k stride[k] lie in the view.
void check_reach(const Strided& s, const std::int64_t* stride,
                 std::int64_t offset, const View& view) {
  std::int64_t low = offset, high = offset;
  for (int k = 0; k < s.rank; ++k) {
    const std::int64_t reach = (s.extent[k] - 1) * stride[k];
    (reach < 0 ? low : high) += reach;
  }
  require(low >= 0 && high < view.elements(), "strides out of a view");
}

}  // namespace

void check_strided(const Strided& s, const View& y, const View& x, bool add) {
  require(0 <= s.rank && s.rank <= Strided::kMaxRank,
          "strides over too many extents");
  bool none = false;
  for (int k = 0; k < s.rank; ++k) {
    require(s.extent[k] >= 0, "a negative extent");
    none = none || s.extent[k] == 0;
    require(add || s.extent[k] <= 1 || s.y_stride[k] != 0,
            "one element for several, and no sum");
  }
  if (none) return;
  check_reach(s, s.y_stride, s.y_offset, y);
  check_reach(s, s.x_stride, s.x_offset, x);
}

void check_extreme(DType real, const View& y, const View& which,
                   std::span<const View> inputs) {
  require(!inputs.empty(), "the extreme of nothing");
  check_reals(real, {y});
  check_integers(which);
  check_equal_elements(y, which);
  for (const View& x : inputs) {
    check_reals(real, {x});
    check_equal_elements(y, x);
  }
}

void check_take(DType real, const View& dx, const View& dy, const View& which) {
  check_reals(real, {dx, dy});
  check_integers(which);
  check_equal_elements(dx, dy);
  check_equal_elements(dx, which);
}

Rows check_row_values(DType real, const View& x, const View& s) {
  check_reals(real, {x, s});
  const Rows rows = rows_of(x);
  require(s.elements() == rows.count || rows.length == 0,
          "not one value a row");
  return rows;
}

Rows check_gather(DType real, const View& y, const View& table,
                  const View& index) {
  check_reals(real, {y, table});
  check_integers(index);
  require(table.shape.rank() == 2, "a table is a matrix");
  const Rows rows{index.elements(), table.shape[1]};
  require(y.elements() == rows.count * rows.length,
          "not one row of the table an index");
  return rows;
}

void check_choice(tensor::DType real, const View& index, const View& mask,
                  StepChoice choice) {
  check_reals(real, {mask});
  check_integers(index);
  require(mask.shape.rank() == 2, "a mask must be [batch, steps]");
  require(mask.elements() <= 0x7fffffff, "more rows than integers have");
  require(index.elements() ==
              (choice == StepChoice::kLast ? mask.shape[0] : mask.elements()),
          "an index of another size");
}

}  // namespace dl::device
