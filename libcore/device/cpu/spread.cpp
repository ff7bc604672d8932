// Splitting of a primitive's work over threads.

#include "libcore/device/cpu/spread.h"

#include <algorithm>

namespace dl::device {

namespace {

// Work of a part below which waiting for each other takes longer than is saved;
// in a large team it takes longer.
constexpr double kWorthwhile = 60'000;
constexpr double kSmallTeam = 4;

}  // namespace

void Spread::use(ThreadTeam* team) {
  team_ = team;
  if (team_ == nullptr) return;
  while (std::cmp_less(own_.size() + 1, team_->size()))
    own_.push_back(with_onednn([] { return std::make_unique<Part>(); }));
}

int Spread::parts(double work) const {
  if (team_ == nullptr) return 1;
  const double size = team_->size();
  const double least = kWorthwhile * std::max(1.0, size / kSmallTeam);
  return std::max(1, static_cast<int>(std::min(work / least, size)));
}

void gemm(Spread& spread, GemmScratch& scratch, float* c, std::int64_t c_row,
          std::int64_t m, Matrix a, const Packed& b, GemmEnd end) {
  const double work = static_cast<double>(m) * static_cast<double>(b.n) *
                      static_cast<double>(b.k);
  const int parts = spread.parts(work);
  spread.run(parts, [&](int i) {
    gemm(i == 0 ? scratch : spread.part(i).scratch, c, c_row, m, a, b,
         columns_of(b.n, i, parts), end);
  });
}

}  // namespace dl::device
