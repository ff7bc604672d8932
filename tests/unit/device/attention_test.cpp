// Attention: by hand, gradients by finite differences, the cpu device against
// the reference.

#include "tests/unit/device/lab.h"

namespace dl::device::attention_test {

using namespace dl::device::test;
using dl::device::AttentionSpec;

namespace {

struct Case {
  const char* name;
  AttentionSpec spec;
  bool masked = false;
};

// All three in one array: the product of a self-attention layer.
AttentionSpec packed(AttentionSpec s) {
  s.q = {3 * s.size(), 0};
  s.k = {3 * s.size(), s.size()};
  s.v = {3 * s.size(), 2 * s.size()};
  return s;
}

const std::vector<Case> kCases = {
    {"one of each", {.queries = 1, .keys = 1, .heads = 1, .head_size = 1}},
    {"one head", {.queries = 3, .keys = 5, .heads = 1, .head_size = 4}},
    {"heads, masked",
     {.queries = 4, .keys = 3, .heads = 3, .head_size = 2},
     true},
    {"causal, masked",
     {.queries = 6, .keys = 6, .heads = 2, .head_size = 3, .causal = true},
     true},
    {"causal, fewer keys",
     {.queries = 5, .keys = 3, .heads = 1, .head_size = 2, .causal = true}},
    {"scaled",
     {.queries = 3, .keys = 4, .heads = 2, .head_size = 2, .scale = 2.5}},
    {"packed", packed({.queries = 4, .keys = 4, .heads = 2, .head_size = 3}),
     true},
    {"larger", {.queries = 70, .keys = 100, .heads = 2, .head_size = 33}, true},
    {"larger, packed",
     packed({.queries = 64, .keys = 64, .heads = 4, .head_size = 32})},
    {"several tiles",
     {.queries = 300, .keys = 1500, .heads = 1, .head_size = 16},
     true},
    {"several tiles, causal",
     packed({.queries = 400,
             .keys = 400,
             .heads = 1,
             .head_size = 20,
             .causal = true}),
     true},
    {"some heads at a time",
     {.queries = 130, .keys = 150, .heads = 5, .head_size = 3},
     true},
    {"some examples at a time",
     {.queries = 100, .keys = 130, .heads = 2, .head_size = 5},
     true},
};

bool is_small(const Case& c) { return c.spec.queries < 10; }

// Three examples: the second has a gap and a padded end, the third no key.
constexpr std::int64_t kBatch = 3;
Values mask_of(const AttentionSpec& s) {
  Values mask(static_cast<std::size_t>(kBatch * s.keys), 1);
  for (std::int64_t j = 0; j < s.keys; ++j) {
    if (j == 0 || j > s.keys / 2)
      mask[static_cast<std::size_t>(s.keys + j)] = 0;
    mask[static_cast<std::size_t>(2 * s.keys + j)] = 0;
  }
  return mask;
}

bool is_packed(const AttentionSpec& s) {
  return s.q.width > 0 && s.q.width == s.k.width;
}

struct Arrays {
  Arrays(Lab& lab, const Case& c) {
    const AttentionSpec& s = c.spec;
    q = lab.random(Shape{kBatch, s.queries, s.width_of(s.q)}, 1, -2, 2);
    const Shape keys{kBatch, s.keys, s.width_of(s.k)};
    k = is_packed(s) ? q : lab.random(keys, 2, -2, 2);
    v = is_packed(s) ? q
                     : lab.random(Shape{kBatch, s.keys, s.width_of(s.v)}, 3);
    dy = lab.random(Shape{kBatch, s.queries, s.size()}, 4);
    if (c.masked) mask = lab.put(Shape{kBatch, s.keys}, mask_of(s));
  }
  View q, k, v, dy, mask;
};

Values forward(const Case& c, const Values& q, const Values& k,
               const Values& v) {
  Lab lab("reference");
  const Arrays a(lab, c);
  const View y = lab.blank(a.dy.shape);
  const View one = lab.put(a.q.shape, q);
  const bool together = is_packed(c.spec);
  lab.device()
      .attention(c.spec, kBatch)
      ->forward(y, one, together ? one : lab.put(a.k.shape, k),
                together ? one : lab.put(a.v.shape, v), a.mask, false);
  return lab.get(y);
}

// y, dq, dk, dv.
std::vector<Values> run(Lab& lab, const Case& c) {
  const Arrays a(lab, c);
  const auto attention = lab.device().attention(c.spec, kBatch);
  const View y = lab.blank(a.dy.shape), dq = lab.blank(a.q.shape),
             dk = is_packed(c.spec) ? dq : lab.blank(a.k.shape),
             dv = is_packed(c.spec) ? dq : lab.blank(a.v.shape);
  attention->forward(y, a.q, a.k, a.v, a.mask, true);
  attention->backward(dq, dk, dv, a.dy, a.q, a.k, a.v, a.mask);
  return {lab.get(y), lab.get(dq), lab.get(dk), lab.get(dv)};
}

}  // namespace

TEST_CASE("attention, by hand") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    // Two queries and three keys of one number; scores 0 and log 3 apart.
    const AttentionSpec s{.queries = 2, .keys = 3, .heads = 1, .head_size = 1};
    const View q = lab.put(Shape{1, 2, 1}, {0, std::log(3)});
    const View k = lab.put(Shape{1, 3, 1}, {0, 1, 7});
    const View v = lab.put(Shape{1, 3, 1}, {4, 8, 100});
    const View mask = lab.put(Shape{1, 3}, {1, 1, 0});
    const View y = lab.blank(q.shape);
    const auto attention = lab.device().attention(s, 1);
    attention->forward(y, q, k, v, mask, false);
    check_close(lab.get(y), {6, 7}, 1e-6);
    lab.device().fill(mask, 0);
    attention->forward(y, q, k, v, mask, false);
    CHECK(lab.get(y) == Values{0, 0});
  }
}

TEST_CASE("attention is stable for large scores, and NaN passes") {
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const AttentionSpec s{.queries = 1, .keys = 2, .heads = 1, .head_size = 1};
    const View k = lab.put(Shape{1, 2, 1}, {1000, 999});
    const View v = lab.put(Shape{1, 2, 1}, {1, 2}),
               y = lab.blank(Shape{1, 1, 1});
    const auto attention = lab.device().attention(s, 1);
    attention->forward(y, lab.put(Shape{1, 1, 1}, {1000}), k, v, {}, false);
    CHECK(lab.get(y) == Values{1});
    attention->forward(y, lab.put(Shape{1, 1, 1}, {kNan}), k, v, {}, false);
    CHECK(std::isnan(lab.get(y)[0]));
  }
}

TEST_CASE("reference attention's gradients are those of its forward") {
  for (const Case& c : kCases) {
    if (!is_small(c)) continue;
    CAPTURE(c.name);
    Lab lab("reference");
    const Arrays a(lab, c);
    const auto actual = run(lab, c);
    const Values q = lab.get(a.q), k = lab.get(a.k), v = lab.get(a.v),
                 slope = lab.get(a.dy);
    check_close(actual[1],
                numeric_gradient([&](auto& w) { return forward(c, w, k, v); },
                                 q, slope),
                1e-7);
    if (is_packed(c.spec)) continue;
    check_close(actual[2],
                numeric_gradient([&](auto& w) { return forward(c, q, w, v); },
                                 k, slope),
                1e-7);
    check_close(actual[3],
                numeric_gradient([&](auto& w) { return forward(c, q, k, w); },
                                 v, slope),
                1e-7);
  }
}

TEST_CASE("cpu attention agrees with the reference") {
  for (const Case& c : kCases) {
    Lab cpu(tested()), reference("reference");
    const auto actual = run(cpu, c), expected = run(reference, c);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(c.name, i);
      check_close(actual[i], expected[i], 1e-5);
    }
  }
}

TEST_CASE("attention of an example does not depend on its batch") {
  if (std::string_view(tested()) != "cpu") return;
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    Lab lab("cpu");
    const Arrays a(lab, c);
    const View y = lab.blank(a.dy.shape);
    const auto attention = lab.device().attention(c.spec, kBatch);
    attention->forward(y, a.q, a.k, a.v, a.mask, false);
    const auto second = [&](const View& view) {
      const Shape one = view.shape.without_first().with_first(1);
      return view.empty() ? view : view.at(one.elements(), one);
    };
    const View alone = lab.blank(second(y).shape);
    attention->forward(alone, second(a.q), second(a.k), second(a.v),
                       a.mask.empty() ? a.mask : second(a.mask), false);
    CHECK(lab.get(alone) == lab.get(second(y)));
  }
}

TEST_CASE("attention writes its own part of wider rows") {
  AttentionSpec s{.queries = 2, .keys = 3, .heads = 1, .head_size = 2};
  s.q = {5, 1};
  s.k = {4, 2};
  s.v = {3, 0};
  const Case c{"wider", s};
  for (const char* name : {tested(), "reference"}) {
    CAPTURE(name);
    Lab lab(name);
    const auto results = run(lab, c);
    for (std::size_t r = 1; r < 4; ++r) {
      const auto& part = r == 1 ? s.q : r == 2 ? s.k : s.v;
      for (std::size_t i = 0; i < results[r].size(); ++i) {
        const auto column =
            static_cast<std::int64_t>(i) % part.width - part.column;
        CHECK(std::isnan(results[r][i]) == (column < 0 || column >= 2));
      }
    }
  }
}

TEST_CASE("attention refuses what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Case c{"some", {.queries = 2, .keys = 3, .heads = 2, .head_size = 2}};
    const Arrays a(lab, c);
    const auto attention = lab.device().attention(c.spec, kBatch);
    const View y = lab.blank(a.dy.shape);
    CHECK_THROWS_AS(attention->backward(a.q, a.k, a.v, a.dy, a.q, a.k, a.v, {}),
                    Error);
    CHECK_NOTHROW(attention->forward(y, a.q, a.k, a.v, {}, true));
    CHECK_THROWS_AS(attention->forward(y, a.k, a.k, a.v, {}, true), Error);
    CHECK_THROWS_AS(attention->forward(y, a.q, a.k, a.q, {}, true), Error);
    CHECK_THROWS_AS(attention->forward(y, a.q, a.k, a.v, a.q, true), Error);
    CHECK_THROWS_AS(
        lab.device().attention(c.spec, 2)->forward(y, a.q, a.k, a.v, {}, true),
        Error);
    AttentionSpec bad = c.spec;
    bad.q = {4, 1};
    CHECK_THROWS_AS(lab.device().attention(bad, 1), Error);
    bad = c.spec;
    bad.keys = 0;
    CHECK_THROWS_AS(lab.device().attention(bad, 1), Error);
  }
}

}  // namespace dl::device::attention_test
