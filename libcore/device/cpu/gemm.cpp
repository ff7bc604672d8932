// Blocks of [kDepth, kColumns] of b stay in the second-level cache, panels of a
// in the first.

#include "libcore/device/cpu/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "libcore/base/error.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/linalg/products.h"

namespace dl::device {
namespace {

constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kColumns = 512;  // a multiple of two vectors
constexpr std::int64_t kRows = 240;     // a multiple of a tile's
constexpr std::int64_t kSlack = 32;     // transpose() writes whole vectors

std::int64_t lanes() { return best_kernels().lanes; }

// Columns that a panel of b takes from the `left` ones: two vectors, or one.
std::int64_t panel_width(std::int64_t left) {
  return left > lanes() ? 2 * lanes() : lanes();
}

std::int64_t padded(std::int64_t n) { return round_up(n, lanes()); }

// Panels of kWidth columns of a matrix whose rows are contiguous, to[k][kWidth]
// each; what is left over is a panel of its own, last_width >= that wide.  Some
// rows at a time, so that both sides are streams that the processor foresees.
template <std::int64_t kWidth>
void split_rows(float* to, const float* from, std::int64_t from_row,
                std::int64_t depth, std::int64_t columns,
                std::int64_t last_width) {
  constexpr std::int64_t kAtOnce = 8;
  const std::int64_t whole = columns / kWidth * kWidth;
  for (std::int64_t k = 0; k < depth; k += kAtOnce) {
    const std::int64_t end = std::min(k + kAtOnce, depth);
    for (std::int64_t j = 0; j < whole; j += kWidth)
      for (std::int64_t r = k; r < end; ++r) {
        const float* row = from + r * from_row + j;
        __builtin_prefetch(row + kAtOnce * from_row);  // another page, mostly
        std::memcpy(to + j * depth + r * kWidth, row, kWidth * sizeof(float));
      }
  }
  if (whole == columns) return;
  float* last = to + whole * depth;
  for (std::int64_t k = 0; k < depth; ++k) {
    float* row = last + k * last_width;
    std::fill_n(std::copy_n(from + k * from_row + whole, columns - whole, row),
                last_width - (columns - whole), 0.0f);
  }
}

void split_rows(std::int64_t width, float* to, const float* from,
                std::int64_t from_row, std::int64_t depth, std::int64_t columns,
                std::int64_t last_width) {
  const auto split = [&](auto known) {
    split_rows<known>(to, from, from_row, depth, columns, last_width);
  };
  switch (width) {
    case 32:
      return split(std::integral_constant<std::int64_t, 32>());
    case 16:
      return split(std::integral_constant<std::int64_t, 16>());
    case 12:
      return split(std::integral_constant<std::int64_t, 12>());
    case 8:
      return split(std::integral_constant<std::int64_t, 8>());
    case 6:
      return split(std::integral_constant<std::int64_t, 6>());
    default:
      require(width == 4, "a tile of unknown width");
      return split(std::integral_constant<std::int64_t, 4>());
  }
}

// Panels of two vectors of columns, the last one of one where that will do,
// made up with zeros.
void pack_b(float* to, Matrix b, std::int64_t depth, std::int64_t columns) {
  const std::int64_t width = 2 * lanes();
  if (b.column == 1)
    return split_rows(width, to, b.data, b.row, depth, columns,
                      panel_width(columns % width));
  for (std::int64_t c = 0; c < columns; c += lanes()) {
    const std::int64_t j = c / width * width;
    const std::int64_t panel = panel_width(columns - j);
    const std::int64_t count = std::min(lanes(), columns - c);
    float* at = to + j * depth + c - j;
    if (count < lanes())
      for (std::int64_t k = 0; k < depth; ++k)
        std::fill_n(at + k * panel, lanes(), 0.0f);
    best_kernels().transpose(at, panel, b.data + c * b.column, b.column,
                             static_cast<int>(count), depth);
  }
}

// Rows that a panel of a takes from the `left` ones: as many as a tile has, but
// the last two panels half each, for sums of few rows wait for each other.
std::int64_t panel_height(std::int64_t left) {
  const std::int64_t most = best_kernels().max_rows;
  return left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
}

void pack_a(float* to, Matrix a, std::int64_t rows, std::int64_t depth) {
  const std::int64_t most = best_kernels().max_rows;
  std::int64_t i = 0;
  if (a.column != 1) {
    i = std::max<std::int64_t>(rows / most - 1, 0) * most;
    split_rows(most, to, a.data, a.column, depth, i, most);
  }
  while (i < rows) {
    const std::int64_t count = panel_height(rows - i);
    float* panel = to + i * depth;
    if (a.column != 1)
      split_rows(most, panel, a.data + i, a.column, depth, count, count);
    else
      best_kernels().transpose(panel, count, a.data + i * a.row, a.row,
                               static_cast<int>(count), depth);
    i += count;
  }
}

// Packed columns of b: floats, or bfloat16 in pairs.
struct Panels {
  const float* floats = nullptr;
  const std::uint32_t* pairs = nullptr;

  // The panel of column j, which is the first of one.
  Panels at(std::int64_t j, std::int64_t depth) const {
    return pairs ? Panels{nullptr, pairs + j / 2 * depth}
                 : Panels{floats + j * depth, nullptr};
  }
};

// A block of c: packed a [rows, depth] times packed b [depth, columns].
struct Block {
  const float* a;
  Panels b;
  float* c;
  std::int64_t c_row, rows, columns, depth;
  GemmEnd end;
};

// The columns of a tile that c has no room for are computed beside it.
void narrow_tile(int rows, int vectors, GemmTile tile, std::int64_t columns,
                 float* beside) {
  float* const c = tile.c;
  const std::int64_t c_row = tile.c_row;
  const auto bytes = static_cast<std::size_t>(columns) * sizeof(float);
  float* bias = beside + best_kernels().max_rows * 2 * lanes();
  tile.c = beside;
  tile.c_row = vectors * lanes();
  if (tile.add)
    for (int r = 0; r < rows; ++r)
      std::memcpy(beside + r * tile.c_row, c + r * c_row, bytes);
  if (tile.bias != nullptr) {
    std::memcpy(bias, tile.bias, bytes);
    tile.bias = bias;
  }
  best_kernels().gemm_tile(rows, vectors, tile);
  for (int r = 0; r < rows; ++r)
    std::memcpy(c + r * c_row, beside + r * tile.c_row, bytes);
}

// How many vectors of columns a tile takes of the `left` ones.
int vectors_of(int rows, std::int64_t left) {
  const int most = most_vectors(rows);
  return left >= most * lanes() ? most
                                : static_cast<int>(panel_width(left) / lanes());
}

void multiply(const Block& block, float* beside) {
  for (std::int64_t i = 0; i < block.rows;) {
    const std::int64_t height = panel_height(block.rows - i);
    const int rows = static_cast<int>(height);
    for (std::int64_t j = 0; j < block.columns;) {
      const int vectors = vectors_of(rows, block.columns - j);
      const std::int64_t width = vectors * lanes();
      const Panels b = block.b.at(j, block.depth);
      const GemmTile tile{.a = block.a + i * block.depth,
                          .b = b.floats,
                          .pairs = b.pairs,
                          .depth = block.depth,
                          .c = block.c + i * block.c_row + j,
                          .c_row = block.c_row,
                          .add = block.end.add,
                          .bias = block.end.bias ? block.end.bias + j : nullptr,
                          .relu = block.end.relu};
      if (j + width <= block.columns)
        best_kernels().gemm_tile(rows, vectors, tile);
      else
        narrow_tile(rows, vectors, tile, block.columns - j, beside);
      j += width;
    }
    i += height;
  }
}

// packed_b(k, j, depth, columns): the packed block of b that starts there.
template <typename PackedB>
void blocks(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
            std::int64_t n, std::int64_t k, Matrix a, GemmEnd end,
            PackedB packed_b) {
  for (std::int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    const bool last = k0 + depth >= k;
    const GemmEnd part{.add = end.add || k0 > 0,
                       .bias = k0 > 0 ? nullptr : end.bias,
                       .relu = end.relu && last};
    for (std::int64_t j = 0; j < n; j += kColumns) {
      const std::int64_t columns = std::min(kColumns, n - j);
      const Panels b = packed_b(k0, j, depth, columns);
      for (std::int64_t i = 0; i < m; i += kRows) {
        const std::int64_t rows = std::min(kRows, m - i);
        if (j == 0 || m > kRows)  // else it is there
          pack_a(scratch.a(),
                 {a.data + i * a.row + k0 * a.column, a.row, a.column}, rows,
                 depth);
        GemmEnd here = part;
        if (here.bias != nullptr) here.bias += j;
        multiply({scratch.a(), b, c + i * c_row + j, c_row, rows, columns,
                  depth, here},
                 scratch.tile());
      }
    }
  }
}

// On a processor without kernels of our own.
bool by_blas() { return best_kernels().blas; }

linalg::Factor factor(Matrix a) {
  return a.column == 1 ? linalg::Factor{a.data, a.row}
                       : linalg::Factor{a.data, a.column, true};
}

void multiply_by_blas(float* c, std::int64_t c_row, std::int64_t m,
                      std::int64_t n, std::int64_t k, Matrix a, Matrix b,
                      GemmEnd end) {
  if (end.bias != nullptr)
    for (std::int64_t i = 0; i < m; ++i)
      std::copy_n(end.bias, n, c + i * c_row);
  linalg::multiply(c, c_row, m, n, k, factor(a), factor(b),
                   end.add || end.bias != nullptr);
  if (!end.relu) return;
  for (std::int64_t i = 0; i < m; ++i)
    for (float* x = c + i * c_row; x < c + i * c_row + n; ++x)
      if (*x < 0) *x = 0;
}

// A packed matrix as BLAS reads it: rows, padded.
Matrix in_rows(const Packed& b) { return {b.data, padded(b.n), 1}; }

void lay_out_rows(float* to, Matrix b, std::int64_t k, std::int64_t n) {
  const std::int64_t row = padded(n);
  if (b.column == 1) {
    for (std::int64_t i = 0; i < k; ++i)
      std::fill_n(std::copy_n(b.data + i * b.row, n, to + i * row), row - n,
                  0.0f);
    return;
  }
  for (std::int64_t j = 0; j < n; j += lanes())
    best_kernels().transpose(to + j, row, b.data + j * b.column, b.column,
                             static_cast<int>(std::min(lanes(), n - j)), k);
}

// As kernels/bfloat16.h does: OpenBLAS reads floats.
void round_to_bfloat16(std::span<float> values) {
  for (float& v : values) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    const std::uint32_t nearest = bits + 0x7fffu + ((bits >> 16) & 1u);
    v = std::bit_cast<float>((v == v ? nearest : bits | 0x400000u) &
                             0xffff0000u);
  }
}

// Words of a row of pairs.
std::int64_t paired(std::int64_t n) { return round_up(n, 2 * lanes()) / 2; }

// From a panel of floats at a time.
void pack_pairs(std::uint32_t* to, Matrix b, std::int64_t depth,
                std::int64_t columns, float* room) {
  pack_b(room, b, depth, columns);
  for (std::int64_t j = 0; j < columns; j += 2 * lanes())
    best_kernels().to_pairs(
        to + j / 2 * depth, room + j * depth,
        static_cast<int>(panel_width(columns - j) / lanes()), depth);
}

constexpr std::int64_t kRoomA = kRows * kDepth + kSlack;
constexpr std::int64_t kRoomB = kColumns * kDepth + kSlack;
constexpr std::int64_t kRoomTile = 1024;  // a tile and its bias

}  // namespace

std::int64_t Packed::floats(std::int64_t k, std::int64_t n) {
  return k * padded(n) + kSlack;
}

float* Packed::at(std::int64_t row, std::int64_t column) const {
  if (by_blas()) return data + row * padded(n) + column;
  const std::int64_t in_panel = column % (2 * lanes()),
                     panel = column - in_panel;
  const std::int64_t above = row / kDepth * kDepth;
  const std::int64_t depth = std::min(kDepth, k - above);
  return data + above * padded(n) + panel * depth +
         (row - above) * panel_width(n - panel) + in_panel;
}

// Parts end where panels do.
Columns columns_of(std::int64_t n, int i, int parts) {
  const std::int64_t panel = 2 * lanes(), panels = (n + panel - 1) / panel;
  const std::int64_t first = panels * i / parts * panel;
  const std::int64_t end = std::min(panels * (i + 1) / parts * panel, n);
  return {first, end - first};
}

void PackedMatrix::pack(Matrix b, std::int64_t k, std::int64_t n,
                        Precision precision) {
  const bool rounds = precision == Precision::kBfloat16;
  const bool pairs = rounds && !by_blas();
  const tensor::DType dtype = pairs ? tensor::DType::kI32 : tensor::DType::kF32;
  const std::int64_t room = pairs ? k * paired(n) : Packed::floats(k, n);
  if (memory_.dtype() != dtype || memory_.shape().elements() < room)
    memory_.resize(dtype, {room});
  packed_ = {.k = k, .n = n};
  tensor::Tensor floats;  // of a block, before it becomes pairs
  if (pairs) {
    floats.resize(tensor::DType::kF32, {kRoomB});
    packed_.pairs =
        reinterpret_cast<std::uint32_t*>(memory_.as<std::int32_t>().data());
  } else {
    packed_.data = memory_.as<float>().data();
  }
  if (by_blas()) {
    lay_out_rows(packed_.data, b, k, n);
    if (rounds)
      round_to_bfloat16(
          {packed_.data, static_cast<std::size_t>(k * padded(n))});
    return;
  }
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    for (std::int64_t j = 0; j < n; j += kColumns) {
      const std::int64_t columns = std::min(kColumns, n - j);
      const Matrix block{b.data + k0 * b.row + j * b.column, b.row, b.column};
      if (pairs)
        pack_pairs(packed_.pairs + k0 * paired(n) + j / 2 * depth, block, depth,
                   columns, floats.as<float>().data());
      else
        pack_b(packed_.data + k0 * padded(n) + j * depth, block, depth,
               columns);
    }
  }
}

GemmScratch::GemmScratch() {
  memory_.resize(tensor::DType::kF32, {kRoomA + kRoomB + kRoomTile});
}
float* GemmScratch::a() { return memory_.as<float>().data(); }
float* GemmScratch::b() { return a() + kRoomA; }
float* GemmScratch::tile() { return b() + kRoomB; }

void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          std::int64_t n, std::int64_t k, Matrix a, Matrix b, GemmEnd end) {
  if (by_blas()) return multiply_by_blas(c, c_row, m, n, k, a, b, end);
  blocks(scratch, c, c_row, m, n, k, a, end,
         [&](std::int64_t k0, std::int64_t j, std::int64_t depth,
             std::int64_t columns) {
           pack_b(scratch.b(),
                  {b.data + k0 * b.row + j * b.column, b.row, b.column}, depth,
                  columns);
           return Panels{scratch.b()};
         });
}

void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          Matrix a, const Packed& b, GemmEnd end) {
  gemm(scratch, c, c_row, m, a, b, {0, b.n}, end);
}

void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          Matrix a, const Packed& b, Columns some, GemmEnd end) {
  if (end.bias != nullptr) end.bias += some.first;
  if (by_blas()) {
    Matrix part = in_rows(b);
    part.data += some.first;
    return multiply_by_blas(c + some.first, c_row, m, some.count, b.k, a, part,
                            end);
  }
  blocks(
      scratch, c + some.first, c_row, m, some.count, b.k, a, end,
      [&](std::int64_t k0, std::int64_t j, std::int64_t depth, std::int64_t) {
        const Panels rows = b.pairs
                                ? Panels{nullptr, b.pairs + k0 * paired(b.n)}
                                : Panels{b.data + k0 * padded(b.n)};
        return rows.at(some.first + j, depth);
      });
}

void gemm(GemmScratch& scratch, std::span<const Product> products,
          std::int64_t m, std::int64_t k, Matrix a) {
  std::int64_t columns = 0;
  for (const Product& p : products) columns += padded(p.n);
  if (columns > kColumns || by_blas()) {
    for (const Product& p : products)
      gemm(scratch, p.c, p.n, m, p.n, k, a, p.b, {});
    return;
  }
  for (std::int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    float* b = scratch.b();
    for (const Product& p : products) {
      pack_b(b, {p.b.data + k0 * p.b.row, p.b.row, p.b.column}, depth, p.n);
      b += depth * padded(p.n);
    }
    for (std::int64_t i = 0; i < m; i += kRows) {
      const std::int64_t rows = std::min(kRows, m - i);
      pack_a(scratch.a(), {a.data + i * a.row + k0 * a.column, a.row, a.column},
             rows, depth);
      b = scratch.b();
      for (const Product& p : products) {
        multiply({scratch.a(),
                  {b},
                  p.c + i * p.n,
                  p.n,
                  rows,
                  p.n,
                  depth,
                  {.add = k0 > 0}},
                 scratch.tile());
        b += depth * padded(p.n);
      }
    }
  }
}

}  // namespace dl::device
