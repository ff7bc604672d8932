// The results of operators on constants: as ONNX's operators have it, for those
// that writers compute shapes, masks and weights with.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/constant.h"
#include "libcore/convert/import/onnx/model.h"
#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/convert/import/onnx/older.h"
#include "libcore/convert/import/onnx/schema.h"

namespace dl::convert::onnx {
namespace {

using In = std::vector<const Constant*>;
using Folded = std::optional<Constant>;

constexpr std::int64_t kMostWhole = std::int64_t{1} << 62;

// Without a number, and with more places along its other axes than one would
// count.
bool is_vast(const Constant* constant) {
  if (constant == nullptr || constant->elements() > 0) return false;
  Sizes extents = constant->shape();
  std::erase(extents, 0);
  constexpr std::int64_t kMost = 1 << 20;
  return count_of(extents) > kMost;
}

bool all_there(const In& in, std::size_t count) {
  return in.size() >= count &&
         std::all_of(in.begin(),
                     in.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const Constant* c) { return c != nullptr; });
}

// A list that is an input or, in older opsets, an attribute; none: not given.
std::optional<Sizes> list(const Node& node, const In& in, std::size_t i,
                          const char* key) {
  if (i < in.size() && in[i] != nullptr) return in[i]->wholes();
  if (node.has(key)) return node.integers(key, {});
  return std::nullopt;
}

// From 0, or -1: there is no such axis.
std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < 0) axis += r;
  return axis >= 0 && axis < r ? axis : -1;
}

// f of each number, or of two that belong together.
Folded each(const Constant& a, const Constant& b, bool whole,
            const std::function<double(double, double)>& f) {
  Sizes shape(std::max(a.shape().size(), b.shape().size()), 1);
  for (const Constant* c : {&a, &b}) {
    const std::size_t ahead = shape.size() - c->shape().size();
    for (std::size_t k = 0; k < c->shape().size(); ++k)
      if (c->shape()[k] != 1) shape[ahead + k] = c->shape()[k];
  }
  const Folded x = broadcast(a, shape), y = broadcast(b, shape);
  if (!x || !y || count_of(shape) > kMostFolded * 64) return std::nullopt;
  const bool one = x->elements() > 0 && x->uniform() && y->uniform();
  if (!one && count_of(shape) > kMostFolded) return std::nullopt;
  const auto count = one ? 1 : static_cast<std::size_t>(count_of(shape));
  std::vector<float> reals;
  std::vector<std::int64_t> wholes;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = f(x->at(i), y->at(i));
    if (whole && !(std::abs(value) < 9.3e18)) return std::nullopt;
    if (whole)
      wholes.push_back(static_cast<std::int64_t>(
          std::clamp(value, -static_cast<double>(kMostWhole),
                     static_cast<double>(kMostWhole))));
    else
      reals.push_back(static_cast<float>(value));
  }
  return whole ? Constant::of_wholes(shape, std::move(wholes))
               : Constant::of_reals(shape, std::move(reals));
}

using Binary = double (*)(double, double);
struct BinaryRule {
  Binary f;
  bool truth;  // gives truth values
};
const std::map<std::string, BinaryRule>& binaries() {
  static const std::map<std::string, BinaryRule> all = {
      {"Add", {[](double a, double b) { return a + b; }, false}},
      {"Sub", {[](double a, double b) { return a - b; }, false}},
      {"Mul", {[](double a, double b) { return a * b; }, false}},
      {"Pow", {[](double a, double b) { return std::pow(a, b); }, false}},
      {"Max", {[](double a, double b) { return std::max(a, b); }, false}},
      {"Min", {[](double a, double b) { return std::min(a, b); }, false}},
      {"Mod",
       {[](double a, double b) { return a - b * std::floor(a / b); }, false}},
      {"Fmod", {[](double a, double b) { return std::fmod(a, b); }, false}},
      {"Equal",
       {[](double a, double b) { return (a == b ? 1.0 : 0.0); }, true}},
      {"Less", {[](double a, double b) { return (a < b ? 1.0 : 0.0); }, true}},
      {"LessOrEqual",
       {[](double a, double b) { return (a <= b ? 1.0 : 0.0); }, true}},
      {"Greater",
       {[](double a, double b) { return (a > b ? 1.0 : 0.0); }, true}},
      {"GreaterOrEqual",
       {[](double a, double b) { return (a >= b ? 1.0 : 0.0); }, true}},
      {"And",
       {[](double a, double b) { return (a != 0 && b != 0 ? 1.0 : 0.0); },
        true}},
      {"Or",
       {[](double a, double b) { return (a != 0 || b != 0 ? 1.0 : 0.0); },
        true}}};
  return all;
}

const std::map<std::string, double (*)(double)>& unaries() {
  static const std::map<std::string, double (*)(double)> all = {
      {"Sqrt", [](double a) { return std::sqrt(a); }},
      {"Neg", [](double a) { return -a; }},
      {"Abs", [](double a) { return std::abs(a); }},
      {"Floor", [](double a) { return std::floor(a); }},
      {"Ceil", [](double a) { return std::ceil(a); }},
      {"Exp", [](double a) { return std::exp(a); }},
      {"Log", [](double a) { return std::log(a); }},
      {"Reciprocal", [](double a) { return 1 / a; }},
      {"Not", [](double a) { return (a == 0 ? 1.0 : 0.0); }},
      {"Identity", [](double a) { return a; }}};
  return all;
}

Folded divided(const Constant& a, const Constant& b) {
  const bool whole = a.whole() && b.whole();
  return each(a, b, whole, [whole](double x, double y) {
    return whole ? std::trunc(x / y) : x / y;
  });
}

Folded cast(const Node& node, const Constant& x) {
  const int to = cast_type(node);
  if (size_of(to) == 0) return std::nullopt;
  const bool real = is_real(to);
  const Constant zero = Constant::of_wholes({}, {0});
  const bool truth = to == static_cast<int>(ElementType::kBool);
  if (real != x.whole() && !truth) return x;
  return each(x, zero, !real, [truth](double a, double) {
    return truth ? (a != 0 ? 1.0 : 0.0) : a;
  });
}

Folded gathered(const Node& node, const Constant& x, const Constant& which) {
  const std::int64_t axis = axis_of(node.integer("axis", 0), x.shape().size());
  if (axis < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t extent = x.shape()[at];
  std::int64_t outer = 1, inner = 1;
  for (std::size_t k = 0; k < x.shape().size(); ++k)
    (k < at ? outer : inner) *= k == at ? 1 : x.shape()[k];
  Sizes shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), which.shape().begin(), which.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  if (count_of(shape) > kMostFolded) return std::nullopt;
  std::vector<std::int64_t> wholes;
  std::vector<float> reals;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t w = 0; w < which.elements(); ++w) {
      std::int64_t index = which.whole_at(static_cast<std::size_t>(w));
      if (index < 0) index += extent;
      if (index < 0 || index >= extent) return std::nullopt;
      for (std::int64_t i = 0; i < inner; ++i) {
        const auto from =
            static_cast<std::size_t>((o * extent + index) * inner + i);
        if (x.whole())
          wholes.push_back(x.whole_at(from));
        else
          reals.push_back(static_cast<float>(x.at(from)));
      }
    }
  return x.whole() ? Constant::of_wholes(shape, std::move(wholes))
                   : Constant::of_reals(shape, std::move(reals));
}

// One axis: where it begins, and by how much it goes on.
Folded part_of(const Constant& x, std::size_t axis, std::int64_t begin,
               std::int64_t count, std::int64_t step) {
  std::vector<std::int64_t> which;
  if (count > kMostFolded) return std::nullopt;
  which.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::int64_t i = 0; i < count; ++i) which.push_back(begin + i * step);
  Node gather;
  gather.attributes["axis"] = static_cast<std::int64_t>(axis);
  const Sizes shape{count};
  return gathered(gather, x, Constant::of_wholes(shape, std::move(which)));
}

Folded sliced(const Node& node, const In& in) {
  const auto begins = list(node, in, 1, "starts"),
             ends = list(node, in, 2, "ends");
  if (!begins || !ends || begins->size() != ends->size()) return std::nullopt;
  Sizes axes(begins->size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = list(node, in, 3, "axes").value_or(axes);
  const Sizes steps =
      list(node, in, 4, "steps").value_or(Sizes(axes.size(), 1));
  if (axes.size() != begins->size() || steps.size() != axes.size())
    return std::nullopt;
  Folded x = *in[0];
  for (std::size_t i = 0; i < axes.size() && x; ++i) {
    const std::int64_t axis = axis_of(axes[i], x->shape().size());
    if (axis < 0 || steps[i] == 0) return std::nullopt;
    const std::int64_t extent = x->shape()[static_cast<std::size_t>(axis)];
    const std::int64_t step = std::clamp(steps[i], -extent - 1, extent + 1);
    // Backwards the ends are one further down.
    const std::int64_t low = step < 0 ? -1 : 0;
    const auto within = [&](std::int64_t v) {
      return std::clamp<std::int64_t>(
          v < 0 ? std::max(v, -extent - 1) + extent : v, low, extent + low);
    };
    const std::int64_t begin = within((*begins)[i]), end = within((*ends)[i]);
    const std::int64_t span = step > 0 ? end - begin : begin - end;
    const std::int64_t size = std::abs(step);
    x = part_of(*x, static_cast<std::size_t>(axis), begin,
                span <= 0 ? 0 : (span + size - 1) / size, step);
  }
  return x;
}

Folded joined(const Node& node, const In& in) {
  if (in.empty() || !all_there(in, in.size())) return std::nullopt;
  const std::int64_t axis = axis_of(concat_axis(node), in[0]->shape().size());
  if (axis < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  Sizes shape = in[0]->shape();
  shape[at] = 0;
  bool whole = true;
  for (const Constant* c : in) {
    if (c->shape().size() != shape.size()) return std::nullopt;
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (k != at && c->shape()[k] != shape[k]) return std::nullopt;
    shape[at] += c->shape()[at];
    whole = whole && c->whole();
  }
  if (count_of(shape) > kMostFolded) return std::nullopt;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (k != at) (k < at ? outer : inner) *= shape[k];
  std::vector<std::int64_t> wholes;
  std::vector<float> reals;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Constant* c : in) {
      const std::int64_t each_one = c->shape()[at] * inner;
      for (std::int64_t i = 0; i < each_one; ++i) {
        const auto from = static_cast<std::size_t>(o * each_one + i);
        if (whole)
          wholes.push_back(c->whole_at(from));
        else
          reals.push_back(static_cast<float>(c->at(from)));
      }
    }
  return whole ? Constant::of_wholes(shape, std::move(wholes))
               : Constant::of_reals(shape, std::move(reals));
}

Folded reshaped(const Node& node, const In& in) {
  const auto wanted = list(node, in, 1, "shape");
  if (!wanted) return std::nullopt;
  Sizes shape = *wanted;
  std::int64_t known = 1, open = -1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && k < in[0]->shape().size())
      shape[k] = in[0]->shape()[k];
    if (shape[k] == -1)
      open = static_cast<std::int64_t>(k);
    else if (shape[k] < 0 || (shape[k] > 0 && known > kMostWhole / shape[k]))
      return std::nullopt;
    else
      known *= shape[k];
  }
  if (open >= 0)
    shape[static_cast<std::size_t>(open)] =
        known > 0 ? in[0]->elements() / known : 0;
  if (count_of(shape) != in[0]->elements()) return std::nullopt;
  return in[0]->reshaped(shape);
}

Folded unsqueezed(const Node& node, const In& in) {
  const auto axes = list(node, in, 1, "axes");
  if (!axes) return std::nullopt;
  Sizes shape = in[0]->shape();
  const std::size_t rank = shape.size() + axes->size();
  Sizes sorted;
  for (const std::int64_t axis : *axes) sorted.push_back(axis_of(axis, rank));
  std::ranges::sort(sorted);
  for (const std::int64_t axis : sorted) {
    if (axis < 0 || axis > static_cast<std::int64_t>(shape.size()))
      return std::nullopt;
    shape.insert(shape.begin() + axis, 1);
  }
  return in[0]->reshaped(shape);
}

Folded squeezed(const Node& node, const In& in) {
  const Sizes& own = in[0]->shape();
  const auto axes = list(node, in, 1, "axes");
  std::vector<bool> drop(own.size(), false);
  for (std::size_t k = 0; !axes && k < own.size(); ++k) drop[k] = own[k] == 1;
  for (const std::int64_t given : axes.value_or(Sizes{})) {
    const std::int64_t axis = axis_of(given, own.size());
    if (axis < 0 || own[static_cast<std::size_t>(axis)] != 1)
      return std::nullopt;
    drop[static_cast<std::size_t>(axis)] = true;
  }
  Sizes shape;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (!drop[k]) shape.push_back(own[k]);
  return in[0]->reshaped(shape);
}

Folded turned(const Node& node, const Constant& x) {
  std::vector<int> order;
  for (std::size_t k = x.shape().size(); k-- > 0;)
    order.push_back(static_cast<int>(k));
  if (node.has("perm")) {
    order.clear();
    for (const std::int64_t axis : node.integers("perm", {})) {
      const std::int64_t own = axis_of(axis, x.shape().size());
      if (own < 0 || std::ranges::count(order, own) > 0) return std::nullopt;
      order.push_back(static_cast<int>(own));
    }
  }
  if (order.size() != x.shape().size()) return std::nullopt;
  if (x.elements() > 0 && x.uniform() && x.elements() > kMostFolded)
    return std::nullopt;
  return transposed(x, order);
}

Folded expanded(const Constant& x, const Constant& wanted) {
  Sizes shape = wanted.wholes();
  const Sizes& own = x.shape();
  if (own.size() > shape.size())
    shape.insert(shape.begin(), own.size() - shape.size(), 1);
  for (std::size_t k = 0; k < own.size(); ++k) {
    std::int64_t& extent = shape[shape.size() - own.size() + k];
    if (extent == 1) extent = own[k];
  }
  for (const std::int64_t extent : shape)
    if (extent < 0) return std::nullopt;
  return broadcast(x, shape);
}

Folded filled(const In& in) {
  const Sizes shape = in[0]->wholes();
  for (const std::int64_t extent : shape)
    if (extent < 0) return std::nullopt;
  if (in.size() > 1 && in[1] != nullptr && in[1]->elements() == 1)
    return in[1]->whole()
               ? Constant::of_wholes(shape, {in[1]->whole_at(0)})
               : Constant::of_reals(shape, {static_cast<float>(in[1]->at(0))});
  return Constant::of_reals(shape, {0});
}

Folded ranged(const In& in) {
  if (!all_there(in, 3)) return std::nullopt;
  const double begin = in[0]->at(0), end = in[1]->at(0), step = in[2]->at(0);
  const double count = std::ceil((end - begin) / step);
  if (!(count <= kMostFolded)) return std::nullopt;
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(std::max(count, 0.0)));
  for (double i = 0; i < count; ++i)
    values.push_back(static_cast<std::int64_t>(begin + i * step));
  const Sizes shape{static_cast<std::int64_t>(values.size())};
  const Constant all = Constant::of_wholes(shape, std::move(values));
  return in[0]->whole() ? all : Constant::of_reals(shape, all.reals());
}

Folded chosen(const In& in) {
  if (!all_there(in, 3)) return std::nullopt;
  // The condition is 1 or 0; what is infinite must not be multiplied.
  const Folded marked = each(*in[0], *in[1], false, [](double c, double a) {
    return c != 0 ? a : std::numeric_limits<double>::quiet_NaN();
  });
  if (!marked) return std::nullopt;
  return each(*marked, *in[2], in[1]->whole() && in[2]->whole(),
              [](double a, double b) { return std::isnan(a) ? b : a; });
}

Folded triangle(const Node& node, const In& in) {
  const Sizes& shape = in[0]->shape();
  if (shape.size() < 2 || in[0]->elements() > kMostFolded) return std::nullopt;
  const std::int64_t shift =
      in.size() > 1 && in[1] != nullptr ? in[1]->whole_at(0) : 0;
  const bool upper = node.integer("upper", 1) != 0;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  std::vector<float> values = in[0]->reals();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t gap = at % columns - at / columns % rows;
    if (upper ? gap < shift : gap > shift) values[i] = 0;
  }
  const Constant made = Constant::of_reals(shape, std::move(values));
  return in[0]->whole() ? Constant::of_wholes(shape, made.wholes()) : made;
}

// Sums, means and norms along axes, as weights that are normalized have them.
Folded reduced(const Node& node, const In& in) {
  const Sizes& own = in[0]->shape();
  const auto axes = list(node, in, 1, "axes");
  if (in[0]->whole() || in[0]->elements() > kMostFolded || !axes ||
      axes->empty())
    return std::nullopt;
  std::vector<bool> gone(own.size(), false);
  for (const std::int64_t one : *axes) {
    const std::int64_t axis = axis_of(one, own.size());
    if (axis < 0) return std::nullopt;
    gone[static_cast<std::size_t>(axis)] = true;
  }
  const bool keeps = node.integer("keepdims", 1) != 0;
  Sizes shape, step(own.size(), 0);
  std::int64_t count = 1, lost = 1;
  for (std::size_t k = own.size(); k-- > 0;) {
    if (!gone[k]) {
      step[k] = count;
      count *= own[k];
    } else {
      lost *= own[k];
    }
    if (!gone[k] || keeps) shape.insert(shape.begin(), gone[k] ? 1 : own[k]);
  }
  const bool squares = node.op == "ReduceL2" || node.op == "ReduceSumSquare";
  std::vector<double> sums(static_cast<std::size_t>(count), 0);
  for (std::int64_t i = 0; i < in[0]->elements(); ++i) {
    std::int64_t rest = i, to = 0;
    for (std::size_t k = own.size(); k-- > 0; rest /= own[k])
      to += rest % own[k] * step[k];
    const double value = in[0]->at(static_cast<std::size_t>(i));
    sums[static_cast<std::size_t>(to)] += squares ? value * value : value;
  }
  std::vector<float> values;
  values.reserve(sums.size());
  for (const double sum : sums)
    values.push_back(static_cast<float>(node.op == "ReduceL2" ? std::sqrt(sum)
                                        : node.op == "ReduceMean"
                                            ? sum / static_cast<double>(lost)
                                            : sum));
  return Constant::of_reals(shape, std::move(values));
}

// Extents, or those from `start` to `end`.
Constant shape_of(const Node& node, const Constant& x) {
  const Sizes& all = x.shape();
  const auto rank = static_cast<std::int64_t>(all.size());
  const auto within = [&](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t begin = within(node.integer("start", 0)),
                     end = std::max(begin, within(node.integer("end", rank)));
  Sizes some(all.begin() + begin, all.begin() + end);
  return Constant::of_wholes({end - begin}, std::move(some));
}

Folded product(const Node& node, const In& in) {
  if (list(node, in, 1, "axes").value_or(Sizes{0}) != Sizes{0} ||
      in[0]->shape().size() != 1)
    return std::nullopt;
  double all = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(in[0]->elements()); ++i)
    all *= in[0]->at(i);
  const Sizes shape = node.integer("keepdims", 1) != 0 ? Sizes{1} : Sizes{};
  return in[0]->whole()
             ? Constant::of_wholes(shape, {static_cast<std::int64_t>(all)})
             : Constant::of_reals(shape, {static_cast<float>(all)});
}

}  // namespace

void take_numbers(const Node& node, const Constant& made, std::int64_t& left) {
  left -= made.kept();
  if (left < 0)
    throw Error{Code::kData, node.called() +
                                 ": what nodes make of constants comes to more "
                                 "numbers than a model of its size needs"};
}

std::optional<Constant> folded(const Node& node, const In& in) {
  if (!node.domain.empty() || !is_known(node) || !all_there(in, 1) ||
      std::ranges::any_of(in, is_vast))
    return std::nullopt;
  const Constant& x = *in[0];
  const std::string& op = node.op;
  // Operators with a list of numbers, which may not be there.
  if (op == "Slice") return sliced(node, in);
  if (op == "Concat") return joined(node, in);
  if (op == "Reshape") return reshaped(node, in);
  if (op == "Unsqueeze") return unsqueezed(node, in);
  if (op == "Squeeze") return squeezed(node, in);
  if (op == "Transpose") return turned(node, x);
  if (op == "Cast") return cast(node, x);
  if (op == "ConstantOfShape") return filled(in);
  if (op == "ReduceProd") return product(node, in);
  if (op == "ReduceMean" || op == "ReduceSum" || op == "ReduceL2" ||
      op == "ReduceSumSquare")
    return reduced(node, in);
  if (op == "Trilu") return triangle(node, in);
  if (op == "Range") return ranged(in);
  if (op == "Where") return chosen(in);
  if (op == "Shape") return shape_of(node, x);
  if (const auto rule = unaries().find(op); rule != unaries().end()) {
    if (op == "Identity") return x;
    return each(x, Constant::of_wholes({}, {0}), x.whole(),
                [f = rule->second](double a, double) { return f(a); });
  }
  if (!all_there(in, 2)) return std::nullopt;
  if (op == "Gather") return gathered(node, x, *in[1]);
  if (op == "Expand") return expanded(x, *in[1]);
  Sizes shape = in[1]->shape();
  shape.insert(shape.end(), axes_behind(node, x.shape().size(), shape.size()),
               1);
  const Constant y = in[1]->reshaped(std::move(shape));
  if (op == "Div") return divided(x, y);
  const auto rule = binaries().find(
      op == "Mod" && node.integer("fmod", 0) != 0 ? "Fmod" : op);
  if (rule == binaries().end() || in.size() != 2) return std::nullopt;
  const bool whole = rule->second.truth || (x.whole() && y.whole());
  return each(x, y, whole, rule->second.f);
}

}  // namespace dl::convert::onnx
