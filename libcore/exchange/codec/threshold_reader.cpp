// Decoder of the threshold code.

#include "libcore/exchange/codec/threshold_reader.h"

#include <cmath>
#include <string>

namespace dl::exchange {

ThresholdReader::ThresholdReader(std::span<const std::byte> message)
    : head_(message) {
  const auto version = head_.get<std::uint8_t>();
  if (version != kThresholdVersion)
    damaged("code version " + std::to_string(version));
  if (head_.get<std::uint8_t>() != 0) damaged("unknown code");
  segments_ = head_.get<std::uint16_t>();
  elements_ = head_.get<std::uint64_t>();
  if (elements_ > kMaxElements) damaged("too many elements");
}

void ThresholdReader::open_segment() {
  ++opened_;
  const std::uint64_t skip = head_.varint();
  if (skip > elements_ - end_) damaged("a segment is out of range");
  begin_ = at_ = end_ + skip;
  const std::uint64_t size = head_.varint();
  if (size > elements_ - begin_) damaged("a segment is out of range");
  end_ = begin_ + size;
  left_ = head_.varint();
  if (left_ == 0) damaged("a segment without quanta");
  if (left_ > size) damaged("more quanta than elements");
  const auto form = head_.get<std::uint8_t>();
  dense_ = form == kDenseForm;
  if (!dense_ && form > kMaxRice) damaged("unknown code");
  threshold_ = head_.get<float>();
  if (!(threshold_ > 0 && std::isfinite(threshold_)))
    damaged("its threshold is no positive number");
  if (dense_) {
    trits_ = head_.take(dense_bytes(size));
  } else {
    rice_ = form;
    bits_ = BitReader(head_.rest());
  }
}

void ThresholdReader::close_segment() {
  if (dense_) {
    if (left_ != 0) damaged("wrong number of quanta");
  } else {
    if (!bits_.padding()) damaged("bits are left over");
    head_.take(bits_.bytes_read());
  }
}

bool ThresholdReader::next() {
  count_ = 0;
  while (count_ == 0) {
    const bool more = dense_ ? !trits_.empty() : left_ > 0;
    if (more) {
      dense_ ? read_dense() : read_sparse();
      if (dense_ ? trits_.empty() : left_ == 0) close_segment();
    } else if (opened_ < segments_) {
      open_segment();
    } else {
      if (!head_.rest().empty()) damaged("bytes are left over");
      return false;
    }
  }
  return true;
}

void ThresholdReader::read_sparse() {
  std::uint64_t at = at_;
  const std::size_t n = left_ < 64 ? left_ : 64;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t negative = 0;
    const std::uint64_t gap = bits_.get_gap(rice_, 1, negative);
    if (gap >= end_ - at) damaged("an index is out of range");
    at += gap;
    block_[i] = {at, negative != 0};
    ++at;
  }
  if (bits_.overrun()) damaged("cut short");
  at_ = at;
  left_ -= n;
  count_ = n;
}

void ThresholdReader::read_dense() {
  while (!trits_.empty() && count_ < 64) {
    auto value = std::to_integer<unsigned>(trits_.front());
    trits_ = trits_.subspan(1);
    if (value >= 243) damaged("a byte that holds no symbols");
    for (std::uint64_t i = at_; value != 0; ++i, value /= 3) {
      if (value % 3 == 0) continue;
      if (i >= end_) damaged("an index is out of range");
      if (left_ == 0) damaged("wrong number of quanta");
      --left_;
      block_[count_++] = {i, value % 3 == 2};
    }
    at_ += kTrits;
  }
}

}  // namespace dl::exchange
