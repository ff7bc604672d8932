// Recurrent cells: the reference against hand-made values and finite
// differences, the cpu device against the reference.

#include "libcore/device/cpu/kernels/kernels.h"
#include "tests/unit/device/lab.h"

namespace dl::device::recurrent_test {

using namespace dl::device::test;
using dl::device::Activation;
using dl::device::Cell;
using dl::device::RecurrentSpec;
using dl::device::RecurrentState;
using dl::device::RecurrentWeights;

namespace {

struct Case {
  const char* name;
  RecurrentSpec spec;
  std::int64_t max_batch;
  bool masked = false;
  bool bias = true;
  bool peepholes = false;
  bool carried = false;  // goes on from a state
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool reset_before : {false, true})
    for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
      if (reset_before && cell != Cell::kGru) continue;
      RecurrentSpec small{.cell = cell, .steps = 5, .inputs = 3, .units = 4};
      small.reset_before = reset_before;
      all.push_back({"sequence", small, 3});
      all.push_back({"masked", small, 4, true});
      RecurrentSpec s = small;
      s.last = true;
      all.push_back({"last", s, 3});
      all.push_back({"last, masked", s, 4, true});
      s.reverse = true;
      all.push_back({"last, masked, reversed", s, 4, true});
      s = small;
      s.reverse = true;
      s.row = 9;
      s.column = 4;
      all.push_back({"reversed, in wider rows", s, 2});
      all.push_back({"reversed, masked", s, 4, true, false});
      s = small;
      s.truncate = 2;
      all.push_back({"truncated", s, 2});
      s.reverse = true;
      all.push_back({"truncated, reversed, masked", s, 4, true});
      s = small;
      s.steps = s.inputs = s.units = 1;
      all.push_back({"one of each", s, 1});
      all.push_back({"no bias", small, 2, false, false});
      s = small;
      s.activation = Activation::kSigmoid;
      s.gate_activation = Activation::kTanh;
      all.push_back({"sigmoid and tanh exchanged", s, 3});
      s.activation = Activation::kRelu;
      s.gate_activation = Activation::kIdentity;
      all.push_back({"relu and identity", s, 3});
      s.activation = Activation::kHardTanh;
      s.gate_activation = Activation::kHardSigmoid;
      all.push_back({"hard_tanh and hard_sigmoid", s, 3});
      s.activation = Activation::kSoftsign;
      all.push_back({"softsign and hard_sigmoid", s, 3});
      s = small;
      s.steps = 12;
      s.inputs = 33;
      s.units = 50;
      all.push_back({"larger", s, 7, true});
      s = small;
      s.last = true;
      s.row = 9;
      s.column = 5;
      s.truncate = 2;
      all.push_back({"last, truncated, in wider rows", s, 4, true});
      Case on{"goes on", small, 4, true};
      on.carried = true;
      all.push_back(on);
      on.spec.last = on.spec.reverse = true;
      all.push_back(on);
    }
  RecurrentSpec lstm{.steps = 5, .inputs = 3, .units = 4};
  all.push_back({"peepholes", lstm, 3, false, true, true});
  lstm.reverse = lstm.last = true;
  lstm.activation = Activation::kSoftsign;
  all.push_back(
      {"peepholes, last, masked, reversed", lstm, 4, true, false, true});
  all.push_back({"larger, peepholes",
                 {.steps = 12, .inputs = 33, .units = 50},
                 7,
                 true,
                 true,
                 true});
  Case on{"peepholes, goes on", {.steps = 5, .inputs = 3, .units = 4}, 4, true};
  on.peepholes = on.carried = true;
  all.push_back(on);
  on.spec.reverse = true;
  on.spec.truncate = 2;
  all.push_back(on);
  return all;
}

bool is_large(const RecurrentSpec& s) { return s.units > 20; }

Shape y_shape(const RecurrentSpec& s, std::int64_t n) {
  return s.last ? Shape{n, s.row_width()} : Shape{n, s.steps, s.row_width()};
}

// Ends of different lengths, a gap, and an example of nothing but padding.
Values mask_of(const RecurrentSpec& s, std::int64_t n) {
  Values mask(static_cast<std::size_t>(n * s.steps), 1);
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t t = 0; t < s.steps; ++t)
      if (t >= s.steps - b || (b == 1 && t == 1) || b == 3)
        mask[static_cast<std::size_t>(b * s.steps + t)] = 0;
  return mask;
}

struct Arrays {
  Arrays(Lab& lab, const Case& c, std::int64_t n)
      : x(lab.random(Shape{n, c.spec.steps, c.spec.inputs}, 1)),
        dy(lab.random(y_shape(c.spec, n), 2)) {
    const RecurrentSpec& s = c.spec;
    const std::int64_t rows = s.gates() * s.units;
    const double reach = is_large(s) ? 0.2 : 1;
    w.input = lab.random(Shape{rows, s.inputs}, 3, -reach, reach);
    w.recurrent = lab.random(Shape{rows, s.units}, 4, -reach, reach);
    if (c.bias) w.bias = lab.random(Shape{s.biases()}, 5);
    if (c.peepholes) {
      w.peephole = lab.random(Shape{3, s.units}, 6);
      gradient.peephole = lab.blank(w.peephole.shape);
    }
    if (c.masked) mask = lab.put(Shape{n, s.steps}, mask_of(s, n));
    gradient.input = lab.blank(w.input.shape);
    gradient.recurrent = lab.blank(w.recurrent.shape);
    if (c.bias) gradient.bias = lab.blank(w.bias.shape);
    if (c.carried) {
      state.h = lab.blank(Shape{n, s.units});
      if (s.cell == Cell::kLstm) state.c = lab.blank(state.h.shape);
    }
    dx = lab.blank(x.shape);
    // Others' columns stay as they are.
    y = lab.put(dy.shape,
                Values(static_cast<std::size_t>(dy.elements()), 0.25));
  }

  // Always from the same state.
  void forward(Lab& lab, dl::device::Recurrent& layer) {
    int stream = 7;
    for (const View& part : {state.h, state.c})
      if (!part.empty())
        lab.device().copy(part, lab.random(part.shape, stream++));
    layer.forward(y, x, mask, w, state);
  }

  View x, dy, mask, y, dx;
  RecurrentWeights w, gradient;
  RecurrentState state;
};

// Output and all gradients.
std::vector<Values> run(Lab& lab, const Case& c, std::int64_t n,
                        dl::device::Recurrent& layer) {
  Arrays a(lab, c, n);
  a.forward(lab, layer);
  std::vector<Values> left;
  for (const View& part : {a.state.h, a.state.c})
    if (!part.empty()) left.push_back(lab.get(part));
  layer.backward(a.dx, false, a.dy, a.x, a.mask, a.w, a.gradient);
  std::vector<Values> all = {lab.get(a.y), lab.get(a.dx),
                             lab.get(a.gradient.input),
                             lab.get(a.gradient.recurrent)};
  if (c.bias) all.push_back(lab.get(a.gradient.bias));
  if (c.peepholes) all.push_back(lab.get(a.gradient.peephole));
  all.insert(all.end(), left.begin(), left.end());
  // Once more on top, and without a gradient of x.
  a.forward(lab, layer);
  layer.backward(a.dx, true, a.dy, a.x, a.mask, a.w, a.gradient);
  all.push_back(lab.get(a.dx));
  a.forward(lab, layer);
  layer.backward({}, false, a.dy, a.x, a.mask, a.w, a.gradient);
  all.push_back(lab.get(a.gradient.recurrent));
  return all;
}

// y of a single unit with one input, over the steps `x`.
Values one_unit(Cell cell, const Values& x, const Values& w, const Values& r,
                const Values& b, const Values& mask = {},
                bool reverse = false) {
  Lab lab("reference");
  const RecurrentSpec s{.cell = cell,
                        .steps = static_cast<std::int64_t>(x.size()),
                        .inputs = 1,
                        .units = 1,
                        .reverse = reverse};
  const RecurrentWeights weights{lab.put(Shape{s.gates(), 1}, w),
                                 lab.put(Shape{s.gates(), 1}, r),
                                 lab.put(Shape{s.biases()}, b),
                                 {}};
  const View y = lab.blank(Shape{1, s.steps, 1});
  lab.device().recurrent(s, 1)->forward(
      y, lab.put(Shape{1, s.steps, 1}, x),
      mask.empty() ? View{} : lab.put(Shape{1, s.steps}, mask), weights, {});
  return lab.get(y);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("reference cells, by hand") {
  const double h1 = std::tanh(0.5 * 1 + 0.1);
  const double h2 = std::tanh(0.5 * 2 - 0.3 * h1 + 0.1);
  check_close(one_unit(Cell::kSimple, {1, 2}, {0.5}, {-0.3}, {0.1}), {h1, h2},
              1e-12);
  // i, f, g, o.
  const double c1 = sigmoid(0.1 + 0.5) * std::tanh(0.3 + 0.7);
  const double l1 = sigmoid(0.4 + 0.8) * std::tanh(c1);
  const double c2 =
      sigmoid(0.2 + 0.5 + 1.0 * l1) * std::tanh(0.6 + 0.7 + 3.0 * l1) +
      sigmoid(0.4 + 0.6 + 2.0 * l1) * c1;
  const double l2 = sigmoid(0.8 + 0.8 + 4.0 * l1) * std::tanh(c2);
  check_close(one_unit(Cell::kLstm, {1, 2}, {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 4},
                       {0.5, 0.6, 0.7, 0.8}),
              {l1, l2}, 1e-12);
  // The same with peepholes to i, f and o.
  {
    Lab lab("reference");
    const RecurrentSpec s{.steps = 2, .inputs = 1, .units = 1};
    const View y = lab.blank(Shape{1, 2, 1});
    lab.device().recurrent(s, 1)->forward(
        y, lab.put(Shape{1, 2, 1}, {1, 2}), {},
        {lab.put(Shape{4, 1}, {0.1, 0.2, 0.3, 0.4}),
         lab.put(Shape{4, 1}, {1, 2, 3, 4}),
         lab.put(Shape{4}, {0.5, 0.6, 0.7, 0.8}),
         lab.put(Shape{3, 1}, {0.9, -0.7, 0.5})},
        {});
    const double p1 = sigmoid(0.4 + 0.8 + 0.5 * c1) * std::tanh(c1);
    const double s2 = sigmoid(0.2 + 0.5 + 1.0 * p1 + 0.9 * c1) *
                          std::tanh(0.6 + 0.7 + 3.0 * p1) +
                      sigmoid(0.4 + 0.6 + 2.0 * p1 - 0.7 * c1) * c1;
    const double p2 = sigmoid(0.8 + 0.8 + 4.0 * p1 + 0.5 * s2) * std::tanh(s2);
    check_close(lab.get(y), {p1, p2}, 1e-12);
  }
  // z, r, n, and the bias of Rn h.
  const auto gru = [](double x, double h) {
    const double z = sigmoid(0.1 * x + 1 * h + 0.5);
    const double r = sigmoid(0.2 * x + 2 * h + 0.6);
    const double n = std::tanh(0.3 * x + 0.7 + r * (3 * h + 0.8));
    return z * h + (1 - z) * n;
  };
  const double g1 = gru(1, 0);
  check_close(one_unit(Cell::kGru, {1, 2}, {0.1, 0.2, 0.3}, {1, 2, 3},
                       {0.5, 0.6, 0.7, 0.8}),
              {g1, gru(2, g1)}, 1e-12);
  // Two units, the second of which sees what the first one's reset gate keeps.
  Lab lab("reference");
  RecurrentSpec spec{.cell = Cell::kGru, .steps = 2, .inputs = 1, .units = 2};
  spec.reset_before = true;
  const View y = lab.blank(Shape{1, 2, 2});
  lab.device().recurrent(spec, 1)->forward(
      y, lab.put(Shape{1, 2, 1}, {1, 2}), {},
      {lab.put(Shape{6, 1}, {0.1, 0, 0.2, 0, 0.3, 0.4}),
       lab.put(Shape{6, 2}, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0}),
       lab.put(Shape{6}, {0.5, 0, 0.6, 0, 0.7, 0.8})},
      {});
  double h = 0, k = 0;
  std::vector<double> expected;
  for (const double x : {1.0, 2.0}) {
    const double z = sigmoid(0.1 * x + h + 0.5);
    const double r = sigmoid(0.2 * x + 2 * h + 0.6);
    const double n = std::tanh(0.3 * x + 0.7 + 3 * (r * h));
    k = 0.5 * k + 0.5 * std::tanh(0.4 * x + 0.8 + 4 * (r * h));
    h = z * h + (1 - z) * n;
    expected.push_back(h);
    expected.push_back(k);
  }
  check_close(lab.get(y), expected, 1e-12);
}

TEST_CASE("masked steps keep the state and give 0") {
  const Values w = {0.1, 0.2, 0.3, 0.4}, r = {1, 2, 3, 4},
               b = {0.5, 0.6, 0.7, 0.8};
  const Values dense = one_unit(Cell::kLstm, {1, 2, 3}, w, r, b);
  check_close(
      one_unit(Cell::kLstm, {1, kNan, 2, 3, kNan}, w, r, b, {1, 0, 1, 1, 0}),
      {dense[0], 0, dense[1], dense[2], 0}, 1e-12);
  check_close(one_unit(Cell::kLstm, {kNan, 3, kNan, 2, 1}, w, r, b,
                       {0, 1, 0, 1, 1}, true),
              {0, dense[2], 0, dense[1], dense[0]}, 1e-12);
}

TEST_CASE("reference gradients of recurrent cells are those of its forward") {
  for (const Case& c : cases()) {
    const RecurrentSpec& s = c.spec;
    if (is_large(s) || s.truncate > 0) continue;
    CAPTURE(c.name, s.cell);
    const std::int64_t n = c.max_batch;
    Lab lab("reference");
    const auto layer = lab.device().recurrent(s, n);
    const std::vector<Values> all = run(lab, c, n, *layer);
    Arrays a(lab, c, n);
    const auto numeric = [&](View of) {
      const Values at = lab.get(of);
      const Values result = numeric_gradient(
          [&](auto& v) {
            lab.device().upload(of, tensor_of(of.shape, v));
            lab.device().fill(a.y, 0);
            a.forward(lab, *layer);
            return lab.get(a.y);
          },
          at, lab.get(a.dy));
      lab.device().upload(of, tensor_of(of.shape, at));
      return result;
    };
    check_close(all[1], numeric(a.x), 1e-7);
    check_close(all[2], numeric(a.w.input), 1e-7);
    check_close(all[3], numeric(a.w.recurrent), 1e-7);
    if (c.bias) check_close(all[4], numeric(a.w.bias), 1e-7);
    if (c.peepholes)
      check_close(all[c.bias ? 5 : 4], numeric(a.w.peephole), 1e-7);
    Values twice = all[1];
    for (double& x : twice) x *= 2;
    check_close(all[all.size() - 2], twice, 1e-12);
    check_close(all.back(), all[3], 1e-12);
  }
}

// The gradients of truncated sequences are those of their segments, each
// started from the state that the one before has left.
TEST_CASE("truncation cuts gradients between segments") {
  for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
    Lab lab("reference");
    Case c{"", {.cell = cell, .steps = 4, .inputs = 2, .units = 3}, 2};
    const auto whole = lab.device().recurrent(c.spec, 2);
    c.spec.truncate = 2;
    const auto cut = lab.device().recurrent(c.spec, 2);
    Arrays a(lab, c, 2);
    // Nothing asks for the second segment: the first one's gradient is whole.
    Values dy = lab.get(a.dy);
    for (std::size_t i = 0; i < dy.size(); ++i)
      if (i / 3 % 4 >= 2) dy[i] = 0;
    lab.device().upload(a.dy, tensor_of(a.dy.shape, dy));
    const auto gradients = [&](dl::device::Recurrent& layer) {
      layer.forward(a.y, a.x, a.mask, a.w, {});
      layer.backward(a.dx, false, a.dy, a.x, a.mask, a.w, a.gradient);
      Values all = lab.get(a.dx);
      for (const double v : lab.get(a.gradient.recurrent)) all.push_back(v);
      return all;
    };
    check_close(gradients(*cut), gradients(*whole), 1e-12);
    // Nothing asks for the first: it gets no gradient.
    dy = lab.get(a.dy);
    for (std::size_t i = 0; i < dy.size(); ++i)
      dy[i] = i / 3 % 4 >= 2 ? 1.0 : 0.0;
    lab.device().upload(a.dy, tensor_of(a.dy.shape, dy));
    const Values dx = gradients(*cut);
    for (std::size_t i = 0; i < 2 * 4 * 2; ++i)
      CHECK((dx[i] == 0) == (i / 2 % 4 < 2));
  }
}

TEST_CASE("cpu recurrent cells agree with the reference") {
  for (const Case& c : cases()) {
    Lab cpu(tested()), reference("reference");
    const auto fast = cpu.device().recurrent(c.spec, c.max_batch);
    const auto exact = reference.device().recurrent(c.spec, c.max_batch);
    for (const std::int64_t n : {c.max_batch, std::int64_t{1}, c.max_batch}) {
      CAPTURE(c.name, c.spec.cell, n);
      const auto actual = run(cpu, c, n, *fast);
      const auto expected = run(reference, c, n, *exact);
      REQUIRE(actual.size() == expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        CAPTURE(i);
        check_close(actual[i], expected[i], 1e-5);
      }
    }
  }
}

// More rows than are summed at a time, and more units than a block has threads.
TEST_CASE("recurrent cells of many examples and units") {
  for (const bool reset_before : {false, true})
    for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
      if (reset_before && cell != Cell::kGru) continue;
      const bool lstm = cell == Cell::kLstm;
      for (Case c :
           {Case{"rows", {.steps = 19, .inputs = 2, .units = 3}, 70},
            Case{"units", {.steps = 3, .inputs = 2, .units = 67}, 5}}) {
        CAPTURE(c.name, cell);
        c.spec.cell = cell;
        c.spec.reset_before = reset_before;
        c.peepholes = lstm;
        c.masked = c.spec.reverse = reset_before;
        Lab fast(tested()), exact("reference");
        const auto one = fast.device().recurrent(c.spec, c.max_batch);
        const auto other = exact.device().recurrent(c.spec, c.max_batch);
        const auto found = run(fast, c, c.max_batch, *one);
        const auto expected = run(exact, c, c.max_batch, *other);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          CAPTURE(i);
          check_close(found[i], expected[i], 1e-5);
        }
      }
    }
}

TEST_CASE("padding is not looked at") {
  for (const char* name : {tested(), "reference"})
    for (const bool reset_before : {false, true})
      for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
        if (reset_before && cell != Cell::kGru) continue;
        Lab lab(name);
        Case c{
            "", {.cell = cell, .steps = 5, .inputs = 2, .units = 3}, 4, true};
        c.spec.reset_before = reset_before;
        Arrays a(lab, c, 4);
        const auto layer = lab.device().recurrent(c.spec, 4);
        a.forward(lab, *layer);
        const Values expected = lab.get(a.y), mask = lab.get(a.mask);
        Values x = lab.get(a.x);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (mask[i / 2] == 0) x[i] = kNan;
        lab.device().upload(a.x, tensor_of(a.x.shape, x));
        a.forward(lab, *layer);
        CHECK(lab.get(a.y) == expected);
      }
}

TEST_CASE("NaN passes through recurrent cells") {
  for (const char* name : {tested(), "reference"}) {
    for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
      Lab lab(name);
      const Case c{"", {.cell = cell, .steps = 3, .inputs = 2, .units = 2}, 1};
      Arrays a(lab, c, 1);
      lab.device().fill(a.x.at(1, Shape{1}), kNan);
      lab.device().recurrent(c.spec, 1)->forward(a.y, a.x, a.mask, a.w, {});
      const Values y = lab.get(a.y);
      CHECK(std::isnan(y.back()));
    }
  }
}

TEST_CASE("recurrent cells refuse what does not fit") {
  for (const char* name : {tested(), "reference"}) {
    Lab lab(name);
    const Case c{"", {.steps = 3, .inputs = 2, .units = 4}, 2};
    Arrays a(lab, c, 2);
    const auto layer = lab.device().recurrent(c.spec, 2);
    CHECK_NOTHROW(layer->forward(a.y, a.x, {}, a.w, {}));
    CHECK_THROWS_AS(layer->forward(a.x, a.x, {}, a.w, {}), Error);
    CHECK_THROWS_AS(layer->forward(a.y, a.x, a.x, a.w, {}), Error);
    RecurrentWeights w = a.w;
    w.recurrent = a.w.input;
    CHECK_THROWS_AS(layer->forward(a.y, a.x, {}, w, {}), Error);
    const View part = lab.blank(Shape{2, 4}), wrong = lab.blank(Shape{2, 3});
    CHECK_NOTHROW(layer->forward(a.y, a.x, {}, a.w, {part, part}));
    CHECK_THROWS_AS(layer->forward(a.y, a.x, {}, a.w, {part, {}}), Error);
    CHECK_THROWS_AS(layer->forward(a.y, a.x, {}, a.w, {wrong, part}), Error);
    Arrays more(lab, c, 3);
    CHECK_THROWS_AS(layer->forward(more.y, more.x, {}, more.w, {}), Error);
    RecurrentSpec bad = c.spec;
    bad.activation = Activation::kSoftmax;
    CHECK_THROWS_AS(lab.device().recurrent(bad, 2), Error);
    bad = c.spec;
    bad.row = 5;
    bad.column = 2;
    CHECK_THROWS_AS(lab.device().recurrent(bad, 2), Error);
  }
}

TEST_CASE("frozen recurrent layers compute the same, to the bit") {
  for (const char* name : {tested(), "reference"})
    for (const Cell cell : {Cell::kSimple, Cell::kLstm, Cell::kGru}) {
      Lab lab(name);
      const Case c{.name = "frozen",
                   .spec = {.cell = cell, .steps = 4, .inputs = 5, .units = 7},
                   .max_batch = 3};
      Arrays a(lab, c, 3);
      const auto layer = lab.device().recurrent(c.spec, 3);
      layer->forward(a.y, a.x, a.mask, a.w, {});
      const Values before = lab.get(a.y);
      layer->freeze(a.w);
      for (int i = 0; i < 2; ++i) {
        lab.device().fill(a.y, 0);
        layer->forward(a.y, a.x, a.mask, a.w, {});
        CHECK(lab.get(a.y) == before);
      }
    }
}

namespace {

// OpenBLAS and cuBLAS sum in another order where there are other rows.
void check_alike(const Values& found, const Values& expected) {
  const bool cublas = std::string_view(tested()).starts_with("cuda");
  if (!dl::device::best_kernels().blas && !cublas) {
    CHECK(found == expected);
    return;
  }
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}

}  // namespace

// Cut anywhere, with padding at the cut or not.
TEST_CASE("recurrent cells go on where they were, to the bit") {
  for (const char* name : {tested(), "reference"})
    for (const Case& c : cases()) {
      const RecurrentSpec& s = c.spec;
      if (s.reverse || s.row > 0 || s.last) continue;
      CAPTURE(name, c.name, s.cell);
      const std::int64_t n = c.max_batch;
      Lab lab(name);
      Arrays a(lab, c, n);
      lab.device().recurrent(s, n)->forward(a.y, a.x, a.mask, a.w, {});
      const Values whole = lab.get(a.y), x = lab.get(a.x),
                   mask = c.masked ? lab.get(a.mask) : Values{};
      const auto part = [&](const Values& all, std::int64_t width,
                            std::int64_t begin, std::int64_t end) {
        Values some;
        for (std::int64_t b = 0; b < n; ++b) {
          const auto row = all.begin() + b * s.steps * width;
          some.insert(some.end(), row + begin * width, row + end * width);
        }
        return some;
      };
      for (std::int64_t cut = 1; cut < s.steps; ++cut) {
        RecurrentState state{lab.blank(Shape{n, s.units})};
        lab.device().fill(state.h, 0);
        if (s.cell == Cell::kLstm) {
          state.c = lab.blank(state.h.shape);
          lab.device().fill(state.c, 0);
        }
        for (const auto& [begin, end] :
             {std::pair{std::int64_t{0}, cut}, std::pair{cut, s.steps}}) {
          RecurrentSpec some = s;
          some.steps = end - begin;
          const Shape shape{n, some.steps, s.units};
          const View y = lab.blank(shape);
          const auto cell = lab.device().recurrent(some, n);
          cell->freeze(a.w);
          cell->forward(y,
                        lab.put(Shape{n, some.steps, s.inputs},
                                part(x, s.inputs, begin, end)),
                        c.masked ? lab.put(Shape{n, some.steps},
                                           part(mask, 1, begin, end))
                                 : View{},
                        a.w, state);
          check_alike(lab.get(y), part(whole, s.units, begin, end));
        }
      }
    }
}

}  // namespace dl::device::recurrent_test
