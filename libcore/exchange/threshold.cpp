// The threshold code: header, gaps in Golomb-Rice code or packed trits.

#include "libcore/exchange/threshold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "libcore/base/error.h"
#include "libcore/exchange/bits.h"
#include "libcore/exchange/select.h"

namespace dl::exchange {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint8_t kVersion = 1;
enum Form : std::uint8_t { kSparse = 0, kDense = 1 };
constexpr unsigned kMaxRice = 31;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 48;
constexpr std::size_t kTrits = 5;  // in a byte

struct Header {
  std::uint8_t version = kVersion;
  std::uint8_t form = kSparse;
  std::uint8_t rice = 0;
  std::uint8_t reserved = 0;
  float threshold = 0;
  std::uint64_t elements = 0;
  std::uint64_t quanta = 0;
};
static_assert(sizeof(Header) == kThresholdHeaderBytes);

[[noreturn]] void damaged(const std::string& what) {
  throw Error{Code::kProtocol, "damaged update: " + what};
}

// The parameter with the shortest code for gaps that are geometrically
// distributed: a quotient in unary, `rice` bits of remainder.
unsigned best_rice(std::uint64_t quanta, std::uint64_t elements) {
  double log_zero =
      std::log1p(-static_cast<double>(quanta) / static_cast<double>(elements));
  unsigned best = 0;
  double shortest = INFINITY;
  for (unsigned k = 0; k <= kMaxRice; ++k) {
    double zeros = std::exp(std::ldexp(log_zero, static_cast<int>(k)));
    double bits = k + zeros / (1 - zeros);
    if (bits < shortest) {
      shortest = bits;
      best = k;
    }
  }
  return best;
}

std::size_t dense_bytes(std::uint64_t elements) {
  return elements / kTrits + (elements % kTrits != 0);
}

// Most bits that gaps between `quanta` can take, wherever they are.
std::uint64_t sparse_bits(std::uint64_t quanta, std::uint64_t elements,
                          unsigned rice) {
  return quanta * (rice + 2) + ((elements - quanta) >> rice);
}

void append_header(const Header& header, std::vector<std::byte>& out) {
  std::size_t at = out.size();
  out.resize(at + sizeof header);
  std::memcpy(out.data() + at, &header, sizeof header);
}

// Calls visit(index) for each bit, ascending.
template <typename Visit>
void for_each_bit(std::span<const std::uint64_t> masks, const Visit& visit) {
  for (std::size_t w = 0; w < masks.size(); ++w)
    for (std::uint64_t m = masks[w]; m != 0; m &= m - 1)
      visit(64 * w + static_cast<std::size_t>(std::countr_zero(m)));
}

// Takes a quantum out of r; true if it was a negative one.
bool take(float& r, float threshold) {
  // Without a branch: signs are as good as random.
  bool negative = std::signbit(r);
  r -= std::copysign(threshold, r);
  return negative;
}

void encode_sparse(std::span<float> residual,
                   std::span<const std::uint64_t> masks, const Header& header,
                   std::vector<std::byte>& out) {
  const unsigned k = header.rice;
  BitWriter bits(out);
  std::size_t next = 0;  // the first element not yet passed
  for_each_bit(masks, [&](std::size_t i) {
    std::uint64_t gap = i - next;
    next = i + 1;
    bits.zeros(gap >> k);
    bits.put(1, 1);
    bits.put(gap & ((std::uint64_t{1} << k) - 1), k);
    bits.put(take(residual[i], header.threshold), 1);
  });
  bits.flush();
}

constexpr std::array<unsigned, kTrits> kPowers = {1, 3, 9, 27, 81};

void encode_dense(std::span<float> residual,
                  std::span<const std::uint64_t> masks, const Header& header,
                  std::vector<std::byte>& out) {
  std::size_t start = out.size();
  out.resize(start + dense_bytes(header.elements));
  for_each_bit(masks, [&](std::size_t i) {
    unsigned trit = 1U + take(residual[i], header.threshold);
    std::byte& byte = out[start + i / kTrits];
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) +
                                  trit * kPowers[i % kTrits]);
  });
}

Header read_header(std::span<const std::byte> message) {
  Header header;
  if (message.size() < sizeof header) damaged("cut short");
  std::memcpy(&header, message.data(), sizeof header);
  if (header.version != kVersion)
    damaged("code version " + std::to_string(header.version));
  if (header.form > kDense || header.rice > kMaxRice || header.reserved != 0 ||
      (header.form == kDense && header.rice != 0))
    damaged("unknown code");
  if (!(header.threshold > 0 && std::isfinite(header.threshold)))
    damaged("its threshold is no positive number");
  if (header.elements > kMaxElements) damaged("too many elements");
  if (header.quanta > header.elements) damaged("more quanta than elements");
  return header;
}

// Calls visit(index, negative) for each quantum, ascending.  Throws at the
// first thing that is wrong, or at the end if something is left over.
template <typename Visit>
void walk_sparse(const Header& header, std::span<const std::byte> code,
                 const Visit& visit) {
  const unsigned k = header.rice;
  BitReader bits(code);
  std::uint64_t next = 0;
  for (std::uint64_t q = 0; q < header.quanta; ++q) {
    std::uint64_t high = bits.unary();
    if (high > header.elements >> k) damaged("an index is out of range");
    std::uint64_t index = next + (high << k) + bits.get(k);
    bool negative = bits.get(1) != 0;
    if (bits.overrun()) damaged("cut short");
    if (index >= header.elements) damaged("an index is out of range");
    visit(index, negative);
    next = index + 1;
  }
  if (!bits.at_padding()) damaged("bytes after its end");
}

template <typename Visit>
void walk_dense(const Header& header, std::span<const std::byte> code,
                const Visit& visit) {
  if (code.size() != dense_bytes(header.elements)) damaged("wrong length");
  std::uint64_t quanta = 0;
  for (std::size_t b = 0; b < code.size(); ++b) {
    auto value = std::to_integer<unsigned>(code[b]);
    if (value >= 243) damaged("a byte that holds no symbols");
    for (std::size_t j = 0; value != 0; ++j, value /= 3) {
      if (value % 3 == 0) continue;
      std::uint64_t index = kTrits * b + j;
      if (index >= header.elements) damaged("an index is out of range");
      visit(index, value % 3 == 2);
      ++quanta;
    }
  }
  if (quanta != header.quanta) damaged("wrong number of quanta");
}

template <typename Visit>
void walk(const Header& header, std::span<const std::byte> message,
          const Visit& visit) {
  auto code = message.subspan(sizeof header);
  if (header.form == kDense)
    walk_dense(header, code, visit);
  else
    walk_sparse(header, code, visit);
}

}  // namespace

std::int64_t count_over(std::span<const float> x, float threshold) {
  std::array<std::uint64_t, 64> masks;
  constexpr std::size_t kChunk = 64 * masks.size();
  std::int64_t count = 0;
  for (std::size_t at = 0; at < x.size(); at += kChunk) {
    auto chunk = x.subspan(at, std::min(kChunk, x.size() - at));
    count += select_over(chunk, threshold,
                         std::span(masks).first((chunk.size() + 63) / 64));
  }
  return count;
}

std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out) {
  require(threshold > 0 && std::isfinite(threshold), "threshold");
  std::vector<std::uint64_t> masks((residual.size() + 63) / 64);
  Header header;
  header.threshold = threshold;
  header.elements = residual.size();
  header.quanta =
      static_cast<std::uint64_t>(select_over(residual, threshold, masks));
  std::uint64_t bits = 0;
  if (header.quanta > 0) {
    unsigned rice = best_rice(header.quanta, header.elements);
    bits = sparse_bits(header.quanta, header.elements, rice);
    if (bits > 8 * dense_bytes(header.elements))
      header.form = kDense;
    else
      header.rice = static_cast<std::uint8_t>(rice);
  }
  append_header(header, out);
  if (header.form == kDense) {
    encode_dense(residual, masks, header, out);
  } else {
    out.reserve(out.size() + bits / 8 + 8);
    encode_sparse(residual, masks, header, out);
  }
  return static_cast<std::int64_t>(header.quanta);
}

ThresholdInfo inspect_threshold(std::span<const std::byte> message) {
  Header header = read_header(message);
  walk(header, message, [](std::uint64_t, bool) {});
  return {header.elements, header.quanta, header.threshold,
          header.form == kDense};
}

void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target) {
  Header header = read_header(message);
  if (header.elements != target.size())
    damaged("it is for " + std::to_string(header.elements) + " elements, not " +
            std::to_string(target.size()));
  walk(header, message, [](std::uint64_t, bool) {});
  const float quantum = scale * header.threshold;
  const std::array<float, 2> quanta = {quantum, -quantum};
  walk(header, message, [&](std::uint64_t index, bool negative) {
    target[index] += quanta[negative];
  });
}

void accumulate(std::span<float> residual, std::span<const float> update) {
  require(residual.size() == update.size(), "size of the update");
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] += update[i];
}

double clip_residual(std::span<float> residual, float limit) {
  double cut = 0;
  for (float& r : residual) {
    float size = std::fabs(r);
    if (!(size > limit)) continue;
    cut += static_cast<double>(size) - static_cast<double>(limit);
    r = std::copysign(limit, r);
  }
  return cut;
}

}  // namespace dl::exchange
