// Covariances, and the normalizers that follow from them, by hand.

#include "libcore/data/statistics/decorrelate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "libcore/base/philox.h"

namespace dl::data::decorrelate_test {

using dl::tensor::DType;
using dl::tensor::Tensor;

namespace {

using Rows = std::vector<std::vector<double>>;

Tensor tensor_of(const Rows& rows, DType dtype = DType::kF64) {
  Tensor x(dtype, {static_cast<std::int64_t>(rows.size()),
                   static_cast<std::int64_t>(rows[0].size())});
  dl::tensor::visit_dtype(dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t c = 0; c < rows[0].size(); ++c)
        x.as<T>()[i * rows[0].size() + c] = static_cast<T>(rows[i][c]);
  });
  return x;
}

Covariance covariance_of(const Rows& rows) {
  Covariance all(static_cast<std::int64_t>(rows[0].size()));
  all.add(tensor_of(rows), nullptr, "features");
  return all;
}

// n rows of columns that depend on each other, far from 0.
Rows correlated(std::size_t n, std::size_t columns) {
  dl::Philox random(5, 0);
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(columns);
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      sum += random.normal();
      row[c] = 1000 + sum * static_cast<double>(c + 1);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<double> mixed(const Normalizer& n, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(n.outputs()));
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t c = 0; c < x.size(); ++c)
      y[i] += n.matrix[i * x.size() + c] * (x[c] - n.shift[c]) * n.scale[c];
  return y;
}

Rows mixed(const Normalizer& n, const Rows& rows) {
  Rows all;
  for (const auto& row : rows) all.push_back(mixed(n, row));
  return all;
}

}  // namespace

TEST_CASE("a covariance by hand, whatever the parts it is gathered in") {
  const Rows rows = {{1, 2}, {3, 2}, {5, 8}};
  const Covariance all = covariance_of(rows);
  CHECK(all.count() == 3);
  CHECK(all.mean() == std::vector<double>{3, 4});
  CHECK(all.matrix()[0] == Approx(8.0 / 3));
  CHECK(all.matrix()[2] == Approx(4));
  CHECK(all.matrix()[3] == Approx(8));

  // More than a block at once, against one row at a time.
  const Rows many = correlated(1100, 3);
  const Covariance whole = covariance_of(many);
  Covariance parts(3);
  for (const auto& row : many) parts.add(tensor_of({row}), nullptr, "features");
  CHECK(parts.count() == 1100);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(parts.mean()[i] == Approx(whole.mean()[i]).epsilon(1e-12));
    for (std::size_t j = 0; j <= i; ++j)
      CHECK(parts.matrix()[3 * i + j] ==
            Approx(whole.matrix()[3 * i + j]).epsilon(1e-9));
  }
}

TEST_CASE("rows that a mask hides do not count") {
  Tensor x = tensor_of({{1, 2}, {3, 2}, {9, 9}, {5, 8}, {7, 7}, {7, 7}});
  x.reshape({2, 3, 2});
  Tensor mask(DType::kU8, {2, 3});
  for (const std::size_t i : {0, 1, 3}) mask.as<std::uint8_t>()[i] = 1;
  Covariance some(2);
  some.add(x, &mask, "features");
  CHECK(some.mean() == std::vector<double>{3, 4});
  CHECK(some.count() == 3);
  // One mark for all rows of an example.
  Tensor of_examples(DType::kF32, {2});
  of_examples.as<float>()[1] = 1;
  Covariance second(2);
  second.add(x, &of_examples, "features");
  CHECK(second.count() == 3);
  CHECK(second.mean()[0] == Approx(19.0 / 3));
}

TEST_CASE("a covariance refuses what is not finite, unless it is hidden") {
  for (const double odd :
       {std::nan(""), 1e141, -std::numeric_limits<double>::infinity()}) {
    Covariance all(2);
    Tensor x = tensor_of({{1, 2}, {3, odd}});
    CHECK_THROWS_WITH(all.add(x, nullptr, "features/left"),
                      "features/left have a value in column 1 that is not "
                      "finite, or beyond 1e140");
    Tensor mask(DType::kU8, {2});
    mask.as<std::uint8_t>()[0] = 1;
    Covariance some(2);
    CHECK_NOTHROW(some.add(x, &mask, "features/left"));
  }
}

TEST_CASE("principal components by hand") {
  // Along (3, 4) / 5 in steps of 5, and a little across.
  const Rows rows = {{13, 24}, {7, 16}, {10.4, 19.7}, {9.6, 20.3}};
  const PrincipalComponents all = principal_components(covariance_of(rows), 2);
  CHECK(all.share == 1);
  CHECK(all.rank == 2);
  const Normalizer& both = all.normalizer;
  CHECK(both.kind == "pca");
  CHECK(both.shift[0] == Approx(10));
  CHECK(both.shift[1] == Approx(20));
  CHECK(both.scale == std::vector<double>{1, 1});
  CHECK(both.matrix[0] == Approx(0.6));
  CHECK(both.matrix[1] == Approx(0.8));
  CHECK(both.matrix[2] == Approx(0.8));
  CHECK(both.matrix[3] == Approx(-0.6));
  CHECK(mixed(both, rows[0])[0] == Approx(5));
  CHECK(mixed(both, rows[2])[1] == Approx(0.5));

  const PrincipalComponents first =
      principal_components(covariance_of(rows), 1);
  CHECK(first.share == Approx(50 / 50.5));
  const Normalizer& one = first.normalizer;
  CHECK(one.outputs() == 1);
  CHECK(one.columns() == 2);
  CHECK(one.stored({7, 1}) == dl::tensor::Shape{7, 2});
  CHECK_THROWS_AS(principal_components(covariance_of(rows), 3), dl::Error);
}

TEST_CASE("columns that follow from others give no components") {
  const Rows rows = {{1, 2, 3}, {2, 4, 6}, {5, 10, 15}};
  CHECK(principal_components(covariance_of(rows), 2).rank == 1);
  const Rows constant = {{1, 2}, {1, 2}};
  CHECK(principal_components(covariance_of(constant), 1).rank == 0);
  CHECK(principal_components(covariance_of(constant), 1).share == 1);
}

TEST_CASE("components do not depend on each other, and vary less and less") {
  const Rows rows = correlated(2000, 6);
  const Covariance made = covariance_of(
      mixed(principal_components(covariance_of(rows), 4).normalizer, rows));
  const std::vector<double> matrix = made.matrix();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(made.mean()[i] == Approx(0).margin(1e-6));
    for (std::size_t j = 0; j < i; ++j)
      CHECK(matrix[4 * i + j] == Approx(0).margin(1e-6 * matrix[0]));
    if (i > 0) CHECK(matrix[5 * i] < matrix[5 * (i - 1)]);
  }
}

TEST_CASE("whitened columns have deviation 1 and no correlation") {
  const Rows rows = correlated(2000, 6);
  const Normalizer n = whitening(covariance_of(rows), DType::kF64);
  CHECK(n.kind == "whiten");
  const Rows white = mixed(n, rows);
  const std::vector<double> matrix = covariance_of(white).matrix();
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      CHECK(matrix[6 * i + j] == Approx(i == j ? 1 : 0).margin(0.01));
  // Each is most like the column that it was.
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK(n.matrix[6 * i + j] == n.matrix[6 * j + i]);
      if (i != j) CHECK(n.matrix[7 * i] > std::fabs(n.matrix[6 * i + j]));
    }
}

TEST_CASE("whitening by hand: two columns that depend on each other") {
  // Deviations 1 and 10, correlation 0.6.
  const double b = std::sqrt(1 - 0.36);
  Rows rows;
  for (const double u : {-1.0, 1.0})
    for (const double v : {-1.0, 1.0})
      rows.push_back({5 + u, 7 + 10 * (0.6 * u + b * v)});
  const Normalizer n = whitening(covariance_of(rows), DType::kF64);
  CHECK(n.scale[0] == Approx(1));
  CHECK(n.scale[1] == Approx(0.1));
  // Eigenvalues 1.6 and 0.4 of the correlations, along both diagonals.
  const double most = 1 / std::sqrt(1.6 + kWhitenEpsilon),
               least = 1 / std::sqrt(0.4 + kWhitenEpsilon);
  CHECK(n.matrix[0] == Approx((most + least) / 2).epsilon(1e-8));
  CHECK(n.matrix[1] == Approx((most - least) / 2).epsilon(1e-8));
}

TEST_CASE("a constant column is only shifted, one that follows is bounded") {
  const Normalizer n =
      whitening(covariance_of({{3, 1, 2}, {3, 2, 4}, {3, 6, 12}}), DType::kF64);
  const std::vector<double> seen = mixed(n, {3, 2, 4});
  CHECK(seen[0] == 0);
  CHECK(mixed(n, {4, 2, 4})[0] == Approx(1).epsilon(1e-3));
  // Twice the other column: what differs from that is new.
  const std::vector<double> odd = mixed(n, {3, 2, 4.1});
  CHECK(std::fabs(odd[2] - seen[2]) < 0.1 * n.scale[2] * 101);
  CHECK(std::fabs(odd[2] - seen[2]) > 0.1 * n.scale[2]);
}

TEST_CASE("kinds that need all data") {
  CHECK(Decorrelation::of("pca:12")->components == 12);
  CHECK(Decorrelation::of("whiten").has_value());
  CHECK_FALSE(Decorrelation::of("whiten")->components.has_value());
  for (const char* other : {"auto", "none", "standardize", "Whiten", ""})
    CHECK_FALSE(Decorrelation::of(other).has_value());
  for (const char* wrong : {"pca", "pca:", "pca:0", "pca:03", "pca:-1",
                            "pca:2x", "pca:99999999999999999999"})
    CHECK_THROWS_WITH(Decorrelation::of(wrong),
                      "normalizer '" + std::string(wrong) +
                          "': want pca:K, K components, as pca:50");
}

TEST_CASE("a matrix goes to JSON and back to the bit, and must fit") {
  using dl::Json, dl::JsonView, dl::Code;
  const Normalizer n =
      principal_components(covariance_of(correlated(50, 5)), 3).normalizer;
  const Json json =
      dl::parse_json(dl::dump_json(n.to_json()), "n", Code::kData);
  CHECK(Normalizer::from_json(JsonView(json, Code::kData)) == n);
  CHECK(json.at("matrix").size() == 3);
  // No longer than floats take.
  CHECK(dl::dump_json(json.at("matrix")).size() < 15 * 18);
  const auto refused = [&](const char* change) {
    Json wrong = json;
    wrong.merge_patch(dl::parse_json(change, "change", Code::kData));
    CHECK_THROWS_AS(Normalizer::from_json(JsonView(wrong, Code::kData)),
                    dl::Error);
  };
  refused(R"({"kind": "standardize"})");
  refused(R"({"matrix": null})");
  refused(R"({"matrix": []})");
  refused(R"({"matrix": [[1, 2, 3]]})");
  refused(R"({"matrix": [[1, 2, 3, 4, "5"]]})");
  refused(
      R"({"matrix": [[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5],
          [1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5]]})");
}

}  // namespace dl::data::decorrelate_test
