// Loops that are recurrent layers written out, as converters of TensorFlow
// write SimpleRNN and GRU.
//
// Writers differ in how they spell a cell.  So which cell it is shows in what
// the body of the loop makes of some numbers: it is the one, of the weights
// that the body reads, that makes the same of them.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/convert/import/onnx/worker.h"

namespace dl::convert::onnx {
namespace {

using Numbers = std::vector<double>;

// A cell, as Keras has its weights: [inputs, gates units], [units, gates
// units], and a bias of [gates units] or, of a gru that resets behind the
// product, two.
struct LoopCell {
  const Constant *w = nullptr, *r = nullptr, *b = nullptr;
  std::int64_t gates = 1;
  std::string function;
  bool reset_before = false;

  std::int64_t biases() const {
    return b == nullptr ? 0 : b->shape().size() == 2 ? 2 : 1;
  }
  Numbers next(const Numbers& x, const Numbers& h) const;
};

Numbers LoopCell::next(const Numbers& x, const Numbers& h) const {
  const std::size_t units = h.size(),
                    all = units * static_cast<std::size_t>(gates);
  const auto sigmoid = cell_functions().at("Sigmoid"),
             f = cell_functions().at(function);
  const auto product = [&](const Numbers& row, const Constant& matrix,
                           std::size_t column) {
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k)
      sum += row[k] * matrix.at(k * all + column);
    return sum;
  };
  const auto of_x = [&](std::size_t i) {
    return product(x, *w, i) + (b != nullptr ? b->at(i) : 0);
  };
  const auto of_h = [&](const Numbers& row, std::size_t i) {
    return product(row, *r, i) + (biases() == 2 ? b->at(all + i) : 0);
  };
  Numbers made(units), reset(units), update(units);
  if (gates == 1) {
    for (std::size_t i = 0; i < units; ++i) made[i] = f(of_x(i) + of_h(h, i));
    return made;
  }
  for (std::size_t i = 0; i < units; ++i) {
    update[i] = sigmoid(of_x(i) + of_h(h, i));
    reset[i] = sigmoid(of_x(units + i) + of_h(h, units + i));
  }
  Numbers before = h;
  for (std::size_t i = 0; i < units; ++i) before[i] *= reset[i];
  for (std::size_t i = 0; i < units; ++i) {
    const double own = reset_before ? of_h(before, 2 * units + i)
                                    : reset[i] * of_h(h, 2 * units + i);
    made[i] = update[i] * h[i] + (1 - update[i]) * f(of_x(2 * units + i) + own);
  }
  return made;
}

struct LoopParts {
  std::string sequence, step;      // which steps it reads, and one in its body
  std::string counter, state;      // in the body
  std::string last;                // the state behind the loop
  std::string next;                // the state that a step gives
  std::vector<std::string> scans;  // states of all steps
  std::int64_t units = 0;
  std::vector<const Constant*> weights;
};

[[noreturn]] void refuse_loop(const Site& site) {
  site.refuse(
      "it is a loop that is no SimpleRNN or GRU; an LSTM, GRU or RNN would be "
      "needed, or of torch.nn.EmbeddingBag an Embedding and a mean or sum of "
      "its rows");
}

void add_weight(LoopParts& loop, const Constant* constant) {
  if (constant != nullptr && !constant->whole() && !constant->shape().empty() &&
      std::ranges::find(loop.weights, constant) == loop.weights.end())
    loop.weights.push_back(constant);
}

// The parts that a loop carries: weights, a number that counts, and a state.
LoopParts loop_of(Site& site, Worker& worker) {
  const Node& node = site.node();
  const Body& body = *node.body;
  LoopParts loop;
  for (std::size_t i = 2; i < body.inputs.size(); ++i) {
    const Constant* first = site.constant(i);
    const std::string& in = body.inputs[i];
    const std::string out = worker.source(body.outputs[i - 1]);
    if (first == nullptr) refuse_loop(site);
    if (out == in) {
      worker.set(in, *first);
      add_weight(loop, first);
    } else if (first->whole() && first->elements() == 1) {
      if (!loop.counter.empty() || first->whole_at(0) != 0) refuse_loop(site);
      loop.counter = in;
    } else {
      if (!loop.state.empty() || first->shape().size() != 2 ||
          first->uniform() != 0)
        refuse_loop(site);
      loop.state = in;
      loop.next = out;
      loop.last = i - 2 < node.out.size() ? node.out[i - 2] : "";
      loop.units = first->shape()[1];
    }
  }
  const std::size_t carried = body.inputs.size() - 2;
  for (std::size_t i = carried + 1; i < body.outputs.size(); ++i) {
    if (worker.source(body.outputs[i]) != loop.next) refuse_loop(site);
    if (i - 1 < node.out.size()) loop.scans.push_back(node.out[i - 1]);
  }
  for (const Node& one : body.nodes)
    for (std::size_t k = 0; k < one.in.size(); ++k) {
      add_weight(loop, constant_around(site, one.in[k]));
      if (site.import().flows.count(one.in[k]) == 0) continue;
      const bool step =
          one.op == "Gather" && k == 0 && one.in.size() == 2 &&
          one.integer("axis", 0) == 0 &&
          (one.in[1] == loop.counter || one.in[1] == body.inputs[0]);
      if (!step || !loop.sequence.empty()) refuse_loop(site);
      loop.sequence = one.in[k];
      loop.step = one.out.at(0);
    }
  constexpr std::size_t kMostWeights = 8;  // of which each is tried as each
  if (loop.state.empty() || loop.sequence.empty() || loop.units < 1 ||
      loop.weights.size() > kMostWeights)
    refuse_loop(site);
  return loop;
}

void set_count(Worker& worker, const Site& site, const LoopParts& loop,
               std::int64_t count) {
  for (const std::string& name : {site.node().body->inputs[0], loop.counter})
    if (!name.empty()) worker.set(name, Constant::of_wholes({}, {count}));
}

// It is to go on for as many steps as there are.
void want_steps(const Site& site, const LoopParts& loop, std::int64_t steps) {
  constexpr std::int64_t kMostNumbers = 1000;  // that count
  if (steps > kMostExtent) refuse_loop(site);
  const Body& body = *site.node().body;
  const Constant *most = site.constant(0), *begins = site.constant(1);
  const bool bounded = site.has(0);
  if ((bounded && most == nullptr) || (site.has(1) && begins == nullptr) ||
      (begins != nullptr && begins->at(0) == 0))
    refuse_loop(site);
  for (std::int64_t i = 0; i < steps; ++i) {
    Worker worker(site, body, kMostNumbers);
    set_count(worker, site, loop, i);
    worker.set(body.inputs[1], Constant::of_wholes({}, {1}));
    const Constant* goes_on = worker.value(body.outputs[0]);
    const Constant* counted =
        loop.counter.empty()
            ? nullptr
            : worker.value(body.outputs[static_cast<std::size_t>(
                                            std::ranges::find(body.inputs,
                                                              loop.counter) -
                                            body.inputs.begin()) -
                                        1]);
    const bool more = (!bounded || i + 1 < most->whole_at(0)) &&
                      (goes_on != nullptr && goes_on->at(0) != 0);
    if (goes_on == nullptr || more != (i + 1 < steps) ||
        (!loop.counter.empty() &&
         (counted == nullptr || counted->whole_at(0) != i + 1)))
      refuse_loop(site);
  }
}

// Some numbers between -1 and 1, other ones for each draw.
Numbers drawn(std::int64_t count, int draw) {
  Numbers row;
  for (std::int64_t i = 0; i < count; ++i)
    row.push_back(
        std::sin(static_cast<double>(i + 1) * (draw + 1 + std::numbers::phi)));
  return row;
}

Constant as_constant(const Numbers& row) {
  return Constant::of_reals({1, static_cast<std::int64_t>(row.size())},
                            {row.begin(), row.end()});
}

constexpr int kDraws = 3;

// The value that the body makes of each draw.
std::vector<Numbers> steps_of(const Site& site, const LoopParts& loop,
                              std::int64_t inputs, const Worker& known) {
  std::vector<Numbers> all;
  for (int draw = 0; draw < kDraws; ++draw) {
    Worker worker = known;
    worker.set(loop.step, as_constant(drawn(inputs, draw)));
    worker.set(loop.state, as_constant(drawn(loop.units, draw + kDraws)));
    const Constant* next = worker.value(loop.next);
    if (next == nullptr || next->elements() != loop.units) refuse_loop(site);
    const std::vector<float> row = next->reals();
    all.emplace_back(row.begin(), row.end());
  }
  return all;
}

bool makes(const LoopCell& cell, const LoopParts& loop, std::int64_t inputs,
           const std::vector<Numbers>& wanted) {
  constexpr double kNear = 1e-4;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Numbers made =
        cell.next(drawn(inputs, draw), drawn(loop.units, draw + kDraws));
    const Numbers& own = wanted[static_cast<std::size_t>(draw)];
    for (std::size_t i = 0; i < made.size(); ++i)
      if (!(std::abs(made[i] - own[i]) <= kNear * (1 + std::abs(own[i]))))
        return false;
  }
  return true;
}

std::optional<LoopCell> cell_of(const LoopParts& loop, std::int64_t inputs,
                                const std::vector<Numbers>& wanted) {
  for (const std::int64_t gates : {1, 3}) {
    const std::int64_t all = gates * loop.units;
    std::vector<const Constant*> biases = {nullptr};
    for (const Constant* one : loop.weights)
      if (one->shape() == Sizes{all} ||
          (gates == 3 && one->shape() == Sizes{2, all}))
        biases.push_back(one);
    for (const Constant* w : loop.weights)
      for (const Constant* r : loop.weights)
        for (const Constant* b : biases)
          for (const auto& [function, f] : cell_functions())
            for (const bool before : {false, true}) {
              if (w->shape() != Sizes{inputs, all} ||
                  r->shape() != Sizes{loop.units, all} ||
                  (before && gates == 1))
                continue;
              LoopCell cell{w, r, b, gates, function, before};
              if (makes(cell, loop, inputs, wanted)) return cell;
            }
  }
  return std::nullopt;
}

// [inputs, rows] as [1, rows, inputs].
Constant as_weight(const Constant& from) {
  Sizes shape = from.shape();
  std::ranges::reverse(shape);
  shape.insert(shape.begin(), 1);
  return transposed(from, {1, 0}).reshaped(std::move(shape));
}

// The node of ONNX's that it is, whose outputs are its first one's name with an
// end of its own.
Node recurrent_node(Site& site, const LoopParts& loop, const LoopCell& cell) {
  Import& import = site.import();
  const std::string name = site.node().called();
  Node made = site.node();
  made.body = nullptr;
  made.op = cell.gates == 1 ? "RNN" : "GRU";
  made.in = {loop.sequence};
  made.out = {name + "/Y", name + "/Y_h"};
  const auto add = [&](const char* end, Constant constant) {
    made.in.push_back(name + end);
    import.constants.insert_or_assign(made.in.back(), std::move(constant));
  };
  add("/W", as_weight(*cell.w));
  add("/R", as_weight(*cell.r));
  if (cell.b != nullptr) {
    std::vector<float> all = cell.b->reals();
    const std::int64_t rows = 2 * cell.gates * loop.units;
    all.resize(static_cast<std::size_t>(rows), 0);
    add("/B", Constant::of_reals({1, rows}, std::move(all)));
  }
  made.attributes = {
      {"hidden_size", loop.units},
      {"activations",
       cell.gates == 1 ? Json{cell.function} : Json{"Sigmoid", cell.function}}};
  if (cell.gates == 3)
    made.attributes["linear_before_reset"] = cell.reset_before ? 0 : 1;
  const auto read = [&](const std::string& from, const std::string& to) {
    const auto found = import.readers.find(from);
    if (!from.empty() && found != import.readers.end())
      import.readers[to].insert(import.readers[to].end(), found->second.begin(),
                                found->second.end());
  };
  for (const std::string& scan : loop.scans) read(scan, made.out[0]);
  read(loop.last, made.out[1]);
  return made;
}

void recurrent_loop(Site& site) {
  if (!site.node().body) refuse_loop(site);
  constexpr std::int64_t kFew = 1 << 16;
  Worker worker(site, *site.node().body,
                kFew + 8 * site.import().model->numbers);
  const LoopParts loop = loop_of(site, worker);
  Import& import = site.import();
  const Flow& x = import.flows.at(loop.sequence);
  if (x.axes.size() != 3) refuse_loop(site);
  want_steps(site, loop, site.extent_of(x, 0));
  const std::int64_t inputs = site.extent_of(x, 2);
  const auto cell = cell_of(loop, inputs, steps_of(site, loop, inputs, worker));
  if (!cell) refuse_loop(site);
  const Node node = recurrent_node(site, loop, *cell);
  Site own(import, node);
  find_operator(node)(own);
  const auto put = [&](const std::string& from, std::size_t directions,
                       const std::string& to) {
    if (const auto found = import.flows.find(from); found != import.flows.end())
      import.flows.insert_or_assign(to,
                                    site.squeezed(found->second, {directions}));
  };
  for (const std::string& scan : loop.scans) put(node.out[0], 1, scan);
  put(node.out[1], 0, loop.last);
}

}  // namespace

std::vector<Operator> loop_operators() { return {{"Loop", recurrent_loop}}; }

}  // namespace dl::convert::onnx
