// The dense forms, and the header of all.

#include "libcore/exchange/codec/delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "libcore/exchange/codec/half.h"
#include "libcore/exchange/codec/heads.h"
#include "libcore/exchange/codec/sparse_delta.h"

namespace dl::exchange {
namespace {

constexpr std::uint8_t kVersion = 1;
using Kind = DeltaFormat::Kind;
constexpr std::size_t kBlock = 1024;

// The largest magnitude of x + y (y may be empty), as bits: these are ordered
// as the magnitudes are, with what is not finite above all.
std::uint32_t largest_bits(std::span<const float> x, std::span<const float> y) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float v = y.empty() ? x[i] : x[i] + y[i];
    most = std::max(most, std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
  }
  return most;
}

// Calls visit(from, count) for stretches of at most kBlock of n elements.
template <typename Visit>
void in_blocks(std::size_t n, const Visit& visit) {
  for (std::size_t at = 0; at < n; at += kBlock)
    visit(at, std::min(kBlock, n - at));
}

// Whether x + y is finite, and without y how many are not zero.
struct Extent {
  bool finite;
  std::uint64_t nonzero;
};
Extent extent_of(std::span<const float> x, std::span<const float> y) {
  std::uint32_t most = 0;
  std::uint64_t nonzero = 0;
  in_blocks(x.size(), [&](std::size_t at, std::size_t n) {
    const auto part = x.subspan(at, n);
    most = std::max(most, largest_bits(part, y.empty() ? y : y.subspan(at, n)));
    if (!y.empty()) return;
    std::uint32_t count = 0;  // as wide as an element, for the vectors
    for (const float v : part) count += v != 0;
    nonzero += count;
  });
  return {most < 0x7f800000U, nonzero};
}

void append_f16(std::span<float> x, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  out.resize(start + 2 * x.size());
  std::array<std::uint16_t, kBlock> halves;
  std::array<float, kBlock> rounded;
  in_blocks(x.size(), [&](std::size_t at, std::size_t n) {
    const auto part = x.subspan(at, n);
    const auto half = std::span(halves).first(n);
    to_half(part, half);
    std::memcpy(out.data() + start + 2 * at, half.data(), 2 * n);
    from_half(half, std::span(rounded).first(n));
    for (std::size_t i = 0; i < n; ++i) part[i] -= rounded[i];
  });
}

void append_int8(std::span<float> x, std::vector<std::byte>& out) {
  static_assert(kInt8Block == kBlock);
  const std::size_t blocks = (x.size() + kBlock - 1) / kBlock;
  const std::size_t start = out.size(), codes = start + 4 * blocks;
  out.resize(codes + x.size());
  std::array<std::int8_t, kBlock> steps;
  in_blocks(x.size(), [&](std::size_t at, std::size_t n) {
    const auto part = x.subspan(at, n);
    const float scale = std::bit_cast<float>(largest_bits(part, {})) / 127.0F;
    std::memcpy(out.data() + start + 4 * (at / kBlock), &scale, 4);
    const float inverse = scale > 0 && std::isfinite(1 / scale) ? 1 / scale : 0;
    for (std::size_t i = 0; i < n; ++i) {
      // Rounds to nearest by adding half and cutting off, which is one
      // conversion; the division may round a little over 127.
      const float q = std::clamp(part[i] * inverse, -127.0F, 127.0F);
      steps[i] = static_cast<std::int8_t>(q + std::copysign(0.5F, q));
      part[i] -= scale * static_cast<float>(steps[i]);
    }
    std::memcpy(out.data() + codes + at, steps.data(), n);
  });
}

// Calls visit(from, values) for stretches of what the body says.
template <typename Visit>
void walk_f32(std::span<const std::byte> body, std::size_t n,
              const Visit& visit) {
  std::array<float, kBlock> values;
  in_blocks(n, [&](std::size_t at, std::size_t count) {
    std::memcpy(values.data(), body.data() + 4 * at, 4 * count);
    visit(at, std::span<const float>(values).first(count));
  });
}

template <typename Visit>
void walk_f16(std::span<const std::byte> body, std::size_t n,
              const Visit& visit) {
  std::array<std::uint16_t, kBlock> halves;
  std::array<float, kBlock> values;
  in_blocks(n, [&](std::size_t at, std::size_t count) {
    std::memcpy(halves.data(), body.data() + 2 * at, 2 * count);
    const auto part = std::span(values).first(count);
    from_half(std::span<const std::uint16_t>(halves).first(count), part);
    visit(at, std::span<const float>(part));
  });
}

template <typename Visit>
void walk_int8(std::span<const std::byte> body, std::size_t n,
               const Visit& visit) {
  const std::size_t codes = 4 * ((n + kBlock - 1) / kBlock);
  std::array<std::int8_t, kBlock> steps;
  std::array<float, kBlock> values;
  in_blocks(n, [&](std::size_t at, std::size_t count) {
    float scale;
    std::memcpy(&scale, body.data() + 4 * (at / kBlock), 4);
    if (!(scale >= 0)) damaged("a scale that is no number >= 0");
    std::memcpy(steps.data(), body.data() + codes + at, count);
    int least = 0;
    for (std::size_t i = 0; i < count; ++i) {
      least = std::min<int>(least, steps[i]);
      values[i] = scale * static_cast<float>(steps[i]);
    }
    if (least < -127) damaged("a step of -128");
    visit(at, std::span<const float>(values).first(count));
  });
}

// Bytes of a dense form after its header.
std::size_t body_bytes(Kind kind, std::size_t n) {
  switch (kind) {
    case Kind::kF32:
      return 4 * n;
    case Kind::kF16:
      return 2 * n;
    case Kind::kInt8:
      return 4 * ((n + kBlock - 1) / kBlock) + n;
    case Kind::kSparse:
      break;
  }
  return 0;
}

template <typename Visit>
void walk_dense(Kind kind, std::span<const std::byte> body, std::size_t n,
                const Visit& visit) {
  if (body.size() != body_bytes(kind, n)) damaged("wrong length");
  if (kind == Kind::kF32) walk_f32(body, n, visit);
  if (kind == Kind::kF16) walk_f16(body, n, visit);
  if (kind == Kind::kInt8) walk_int8(body, n, visit);
}

// Kind that is written: f32 without its zeros where that is shorter.
Kind form_of(Kind kind, std::uint64_t nonzero, std::size_t n) {
  // Half, as the decoder takes longer for it than for dense values.
  const bool shorter =
      kind == Kind::kF32 &&
      2 * nonzero_delta_bytes(nonzero, n) < body_bytes(kind, n);
  return shorter ? Kind::kSparse : kind;
}

// The part of a message after its head, for so many elements.
struct Body {
  Kind kind;
  std::span<const std::byte> bytes;
};
Body body_of(std::span<const std::byte> message, std::size_t wanted) {
  HeadReader head(message);
  const auto version = head.get<std::uint8_t>();
  if (version != kVersion) damaged("code version " + std::to_string(version));
  const auto kind = static_cast<Kind>(head.get<std::uint8_t>());
  if (kind > Kind::kSparse || head.get<std::uint16_t>() != 0)
    damaged("unknown code");
  const auto elements = head.get<std::uint64_t>();
  if (elements != wanted)
    damaged("it is for " + std::to_string(elements) + " elements, not " +
            std::to_string(wanted));
  return {kind, head.rest()};
}

[[noreturn]] void not_finite() {
  throw Error{Code::kProtocol, "a difference is not finite"};
}

void append_head(Kind form, std::size_t elements, std::vector<std::byte>& out) {
  append(out, kVersion);
  append(out, static_cast<std::uint8_t>(form));
  append(out, std::uint16_t{0});
  append(out, std::uint64_t{elements});
}

}  // namespace

void encode_delta(std::span<const float> delta, const DeltaFormat& format,
                  std::span<float> residual, std::vector<std::byte>& out) {
  require(residual.size() == (format.lossy() ? delta.size() : 0),
          "a residual of every element");
  const Extent extent = extent_of(delta, residual);
  if (!extent.finite) not_finite();
  const Kind form = form_of(format.kind, extent.nonzero, delta.size());
  append_head(form, delta.size(), out);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] += delta[i];
  switch (form) {
    case Kind::kF32: {
      const auto bytes = std::as_bytes(delta);
      out.insert(out.end(), bytes.begin(), bytes.end());
      break;
    }
    case Kind::kF16:
      return append_f16(residual, out);
    case Kind::kInt8:
      return append_int8(residual, out);
    case Kind::kSparse:
      return format.lossy() ? append_sparse_delta(residual, format, out)
                            : append_nonzero_delta(delta, out);
  }
}

void encode_difference(std::span<const float> after,
                       std::span<const float> before,
                       std::vector<std::byte>& out) {
  const std::size_t n = after.size();
  std::array<float, kBlock> block;
  const auto part = [&](std::size_t at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      block[i] = after[at + i] - before[at + i];
    return std::span<const float>(block).first(count);
  };
  Extent all{true, 0};
  in_blocks(n, [&](std::size_t at, std::size_t count) {
    const Extent here = extent_of(part(at, count), {});
    all.finite = all.finite && here.finite;
    all.nonzero += here.nonzero;
  });
  if (!all.finite) not_finite();
  const Kind form = form_of(Kind::kF32, all.nonzero, n);
  append_head(form, n, out);
  if (form == Kind::kF32) {
    out.reserve(out.size() + sizeof(float) * n);
    return in_blocks(n, [&](std::size_t at, std::size_t count) {
      const auto bytes = std::as_bytes(part(at, count));
      out.insert(out.end(), bytes.begin(), bytes.end());
    });
  }
  std::vector<float> difference(n);
  in_blocks(n, [&](std::size_t at, std::size_t count) {
    std::ranges::copy(part(at, count),
                      difference.begin() + static_cast<std::ptrdiff_t>(at));
  });
  append_nonzero_delta(difference, out);
}

bool is_plain_delta(std::span<const std::byte> message) {
  return message.size() >= kDeltaHeaderBytes &&
         static_cast<std::uint8_t>(message[0]) == kVersion &&
         static_cast<Kind>(message[1]) == Kind::kF32;
}

std::span<const std::byte> plain_floats(std::span<const std::byte> message) {
  require(is_plain_delta(message), "a message of plain floats");
  return message.subspan(kDeltaHeaderBytes);
}

void check_plain_delta(std::span<const std::byte> message,
                       std::size_t elements) {
  const auto [kind, body] = body_of(message, elements);
  require(kind == Kind::kF32, "a message of plain floats");
  walk_dense(kind, body, elements,
             [&](std::size_t, std::span<const float> values) {
               if (largest_bits(values, {}) >= 0x7f800000U)
                 damaged("a value that is not finite");
             });
}

void read_delta(std::span<const std::byte> message, std::span<float> target) {
  const auto [kind, body] = body_of(message, target.size());
  if (kind == Kind::kSparse) {
    std::ranges::fill(target, 0.0F);
    return apply_sparse_delta(body, 1, target);
  }
  walk_dense(kind, body, target.size(),
             [&](std::size_t at, std::span<const float> values) {
               if (largest_bits(values, {}) >= 0x7f800000U)
                 damaged("a value that is not finite");
               std::ranges::copy(values, target.subspan(at).begin());
             });
}

void decode_delta(std::span<const std::byte> message, float scale,
                  std::span<float> target) {
  const auto [kind, body] = body_of(message, target.size());
  if (kind == Kind::kSparse) return apply_sparse_delta(body, scale, target);
  walk_dense(kind, body, target.size(),
             [&](std::size_t, std::span<const float> values) {
               std::uint32_t most = largest_bits(values, {});
               if (!std::isfinite(scale * std::bit_cast<float>(most)))
                 damaged("a value that is not finite");
             });
  walk_dense(kind, body, target.size(),
             [&](std::size_t at, std::span<const float> values) {
               for (std::size_t i = 0; i < values.size(); ++i)
                 target[at + i] += scale * values[i];
             });
}

}  // namespace dl::exchange
