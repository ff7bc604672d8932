#include "libcore/plot/embedding/tsne.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "libcore/plot/embedding/quad_tree.h"

namespace dl::plot {
namespace {

constexpr double kPerplexity = 30, kTheta = 0.5, kExaggeration = 12;
constexpr int kEarly = 250, kSteps = 1000;

// Affinities of pairs, by rows.
struct Affinities {
  std::vector<std::size_t> begin;  // of each row, and the end of the last
  std::vector<std::uint32_t> with;
  std::vector<double> p;
};

using Neighbors = std::vector<std::pair<double, std::uint32_t>>;

// The nearest k, by squared distance.
Neighbors neighbors_of(const PointSet& points, std::size_t i, std::size_t k) {
  Neighbors all;
  all.reserve(points.count - 1);
  for (std::size_t j = 0; j < points.count; ++j) {
    if (j == i) continue;
    double sum = 0;
    const double *a = points.at(i), *b = points.at(j);
    for (std::size_t c = 0; c < points.dimensions; ++c)
      sum += (a[c] - b[c]) * (a[c] - b[c]);
    all.emplace_back(sum, static_cast<std::uint32_t>(j));
  }
  std::ranges::nth_element(all,
                           all.begin() + static_cast<std::ptrdiff_t>(k - 1));
  all.resize(k);
  return all;
}

// Shares of the neighbors under a Gaussian whose entropy is that of the
// perplexity.
std::vector<double> shares_of(const Neighbors& all, double perplexity) {
  const double nearest = std::ranges::min_element(all)->first;
  std::vector<double> shares(all.size());
  double beta = 1, low = 0, high = INFINITY;
  for (int step = 0; step < 100; ++step) {
    double sum = 0, weighted = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double distance = all[i].first - nearest;
      shares[i] = std::exp(-beta * distance);
      sum += shares[i];
      weighted += distance * shares[i];
    }
    for (double& share : shares) share /= sum;
    const double entropy = std::log(sum) + beta * weighted / sum;
    const double gap = entropy - std::log(perplexity);
    if (std::abs(gap) < 1e-5) break;
    (gap > 0 ? low : high) = beta;
    beta = std::isfinite(high) ? (low + high) / 2 : beta * 2;
  }
  return shares;
}

// Symmetric, 1 in all.
Affinities affinities_of(const PointSet& points) {
  const std::size_t n = points.count;
  const double perplexity =
      std::min(kPerplexity, static_cast<double>(n - 1) / 3);
  const std::size_t k =
      std::min(n - 1, static_cast<std::size_t>(3 * perplexity) + 1);
  std::vector<std::map<std::uint32_t, double>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Neighbors all = neighbors_of(points, i, k);
    const std::vector<double> shares = shares_of(all, perplexity);
    for (std::size_t j = 0; j < all.size(); ++j) {
      const double half = shares[j] / (2 * static_cast<double>(n));
      rows[i][all[j].second] += half;
      rows[all[j].second][static_cast<std::uint32_t>(i)] += half;
    }
  }
  Affinities result;
  for (const auto& row : rows) {
    result.begin.push_back(result.with.size());
    for (const auto& [j, p] : row) {
      result.with.push_back(j);
      result.p.push_back(p);
    }
  }
  result.begin.push_back(result.with.size());
  return result;
}

// Descent with momentum, and a gain for each coordinate.
class Descent {
 public:
  Descent(const Affinities& affinities, std::vector<Place> begin)
      : affinities_(affinities),
        places_(std::move(begin)),
        speed_(places_.size()),
        gains_(places_.size(), {1, 1}),
        gradient_(places_.size()),
        repulsion_(places_.size()),
        rate_(std::max(static_cast<double>(places_.size()) / kExaggeration / 4,
                       50.0)) {}

  void step(double exaggeration, double momentum) {
    find_gradient(exaggeration);
    for (std::size_t i = 0; i < places_.size(); ++i)
      for (std::size_t c = 0; c < 2; ++c) {
        const bool turns = speed_[i][c] * gradient_[i][c] < 0;
        gains_[i][c] =
            std::max(0.01, turns ? gains_[i][c] + 0.2 : gains_[i][c] * 0.8);
        speed_[i][c] =
            momentum * speed_[i][c] - rate_ * gains_[i][c] * gradient_[i][c];
        places_[i][c] += speed_[i][c];
      }
  }
  const std::vector<Place>& places() const { return places_; }

 private:
  void find_gradient(double exaggeration) {
    tree_.build(places_);
    double sum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Place push{};
      tree_.visit(places_[i], kTheta,
                  [&](double mass, double dx, double dy, double distance) {
                    const double q = 1 / (1 + distance);
                    sum += mass * q;
                    push[0] += mass * q * q * dx;
                    push[1] += mass * q * q * dy;
                  });
      repulsion_[i] = push;
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Place pull{};
      for (std::size_t k = affinities_.begin[i]; k < affinities_.begin[i + 1];
           ++k) {
        const Place& other = places_[affinities_.with[k]];
        const double dx = places_[i][0] - other[0];
        const double dy = places_[i][1] - other[1];
        const double weight = affinities_.p[k] / (1 + dx * dx + dy * dy);
        pull[0] += weight * dx;
        pull[1] += weight * dy;
      }
      for (std::size_t c = 0; c < 2; ++c)
        gradient_[i][c] = 4 * (exaggeration * pull[c] - repulsion_[i][c] / sum);
    }
  }

  const Affinities& affinities_;
  std::vector<Place> places_, speed_, gains_, gradient_, repulsion_;
  double rate_;
  QuadTree tree_;
};

// Small, so that all can still go anywhere.
std::vector<Place> scaled(std::vector<Place> places) {
  double squares = 0;
  for (const Place& place : places) squares += place[0] * place[0];
  const double deviation =
      std::sqrt(squares / static_cast<double>(places.size()));
  for (Place& place : places)
    for (double& one : place) one *= deviation > 0 ? 1e-4 / deviation : 0;
  return places;
}

}  // namespace

std::vector<Place> tsne(const PointSet& points, const Components& begin) {
  if (points.count < 4) return begin.places;
  const Affinities affinities = affinities_of(points);
  Descent descent(affinities, scaled(begin.places));
  for (int step = 0; step < kSteps; ++step)
    descent.step(step < kEarly ? kExaggeration : 1, step < kEarly ? 0.5 : 0.8);
  return descent.places();
}

}  // namespace dl::plot
