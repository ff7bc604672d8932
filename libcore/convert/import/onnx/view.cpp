// Axes of ONNX's and of ours: what changes the lists, and what makes layers of
// them.

#include <algorithm>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

using tensor::Shape;

Shape shape_of(const Sizes& sizes) {
  return Shape(std::span<const std::int64_t>(sizes));
}

bool has_batch(const Axis& axis) {
  return std::ranges::count(axis, kBatch) > 0;
}

std::string key_of(const std::string& node, const Sizes& a,
                   const std::vector<int>& b) {
  std::string key = node;
  for (const std::int64_t one : a) key += "," + std::to_string(one);
  key += ";";
  for (const int one : b) key += "," + std::to_string(one);
  return key;
}

}  // namespace

Value Site::reshaped(const Value& value, const Sizes& shape,
                     const std::string& part) {
  Value from = value;
  if (const auto found = import_->before.find(value.node);
      found != import_->before.end())
    from = found->second;
  if (shape_of(shape) == value.shape()) return value;
  if (shape_of(shape) == from.shape()) return from;
  const std::string key = key_of(from.node, shape, {});
  if (const auto found = import_->same.find(key); found != import_->same.end())
    return found->second;
  const Value made =
      shape.size() == 1
          ? add(part, {{"type", "flatten"}}, {from})
          : add(part, {{"type", "reshape"}, {"shape", shape}}, {from});
  import_->before.emplace(made.node, from);
  return import_->same.emplace(key, made).first->second;
}

Value Site::shaped(const Flow& given, const std::vector<Axis>& ours,
                   const std::string& part) {
  const Flow flow = real(given);
  std::vector<int> order;
  Sizes shape;
  for (const Axis& axis : ours) {
    std::int64_t product = 1;
    for (const int one : axis) {
      if (one == kBatch)
        refuse("it mixes the examples of a batch with what is in them");
      order.push_back(one);
      product *= flow.shape()[one];
    }
    shape.push_back(product);
  }
  if (shape.empty()) shape.push_back(1);
  if (shape.size() > 7) refuse("it takes more than 7 dimensions");
  // Axes of 1 lie anywhere.
  std::vector<int> moving = order;
  std::erase_if(moving, [&](int one) { return flow.shape()[one] == 1; });
  for (int k = 0; k < flow.shape().rank(); ++k)
    if (std::ranges::count(order, k) == 0) {
      if (flow.shape()[k] != 1) refuse("it has an axis too many");
      order.push_back(k);
    }
  if (std::ranges::is_sorted(moving)) return reshaped(flow, shape, part + "ed");
  const std::string key = key_of(flow.node, {}, order);
  auto found = import_->same.find(key);
  if (found == import_->same.end())
    found = import_->same
                .emplace(key, add(part, {{"type", "permute"}, {"axes", order}},
                                  {flow}))
                .first;
  return reshaped(found->second, shape, part + "ed");
}

Flow Site::with_last(const Flow& given, std::size_t k) {
  const Flow flow = real(given);
  std::vector<Axis> ours;
  std::vector<int> place(static_cast<std::size_t>(flow.shape().rank()), -2);
  for (int one = 0; one < flow.shape().rank(); ++one)
    if (std::ranges::count(flow.axes[k], one) == 0 && flow.shape()[one] != 1) {
      place[static_cast<std::size_t>(one)] = static_cast<int>(ours.size());
      ours.push_back({one});
    }
  const int last = static_cast<int>(ours.size());
  ours.push_back(flow.axes[k]);
  Flow made;
  static_cast<Value&>(made) = shaped(flow, ours);
  made.positive = flow.positive;
  for (std::size_t a = 0; a < flow.axes.size(); ++a) {
    Axis axis;
    for (const int one : flow.axes[a])
      if (one == kBatch)
        axis.push_back(one);
      else if (const int to = place[static_cast<std::size_t>(one)]; to != -2)
        axis.push_back(to);
    made.axes.push_back(a == k ? Axis{last} : axis);
  }
  return made;
}

Flow Site::image(const Flow& given, std::size_t axes) {
  const Flow& flow = given;
  if (flow.axes.size() != axes + 2)
    refuse("its input has " + std::to_string(flow.axes.size()) +
           " dimensions, " + std::to_string(axes + 2) + " would be needed");
  for (const int part : flow.axes[0])
    if (part != kBatch && flow.shape()[part] != 1)
      refuse("its first dimension is not the batch");
  if (!has_batch(flow.axes[0])) refuse("its first dimension is not the batch");
  const bool moved =
      flow.shape().rank() > 0 && flow.axes[1] == Axis{flow.shape().rank() - 1};
  if (!moved && import_->graph->is_input(flow.node) &&
      flow.shape().rank() > 1 && flow.axes[1] == Axis{0} &&
      import_->inputs->moved.insert(flow.node).second)
    throw Again{};
  std::vector<Axis> ours(flow.axes.begin() + 2, flow.axes.end());
  ours.push_back(flow.axes[1]);
  Flow made;
  static_cast<Value&>(made) = shaped(flow, ours, "channels");
  made.positive = flow.positive;
  made.axes = {{kBatch}, {static_cast<int>(axes)}};
  for (std::size_t k = 0; k < axes; ++k)
    made.axes.push_back({static_cast<int>(k)});
  return made;
}

Flow Site::plain(const Flow& given) {
  const Flow flow = real(given);
  Flow made;
  made.positive = flow.positive;
  std::vector<std::size_t> own;  // axes that there are here
  for (std::size_t k = 0; k < flow.axes.size(); ++k) {
    Axis parts = flow.axes[k];
    std::erase_if(parts, [&](int one) {
      return one != kBatch && flow.shape()[one] == 1;
    });
    if (parts.size() > 1 && has_batch(parts))
      refuse("it mixes the examples of a batch with what is in them");
    if (!parts.empty() && !has_batch(parts)) own.push_back(k);
    made.axes.push_back(std::move(parts));
  }
  // In their order here.
  std::ranges::sort(own, {}, [&](std::size_t k) { return made.axes[k][0]; });
  std::vector<Axis> ours;
  for (const std::size_t k : own) {
    ours.push_back(made.axes[k]);
    made.axes[k] = {static_cast<int>(ours.size()) - 1};
  }
  static_cast<Value&>(made) = shaped(flow, ours);
  if (ours.empty())  // a single number
    for (Axis& axis : made.axes)
      if (axis == Axis{kBatch}) axis.push_back(0);
  return made;
}

// Axes in which the parts say become several.
Flow Site::split(const Flow& flow, const std::map<int, Sizes>& parts) {
  Sizes shape;
  std::vector<Axis> place;
  for (int one = 0; one < flow.shape().rank(); ++one) {
    const auto found = parts.find(one);
    place.emplace_back();
    const Sizes own =
        found == parts.end() ? Sizes{flow.shape()[one]} : found->second;
    for (const std::int64_t extent : own) {
      place.back().push_back(static_cast<int>(shape.size()));
      shape.push_back(extent);
    }
  }
  if (shape.size() > 7) refuse("it takes more than 7 dimensions");
  Flow made;
  static_cast<Value&>(made) = reshaped(flow, shape);
  made.positive = flow.positive;
  if (parts.count(0) == 0) made.linear = flow.linear;
  for (const Axis& axis : flow.axes) {
    made.axes.emplace_back();
    for (const int one : axis)
      if (one == kBatch)
        made.axes.back().push_back(one);
      else
        for (const int each : place[static_cast<std::size_t>(one)])
          made.axes.back().push_back(each);
  }
  return made;
}

namespace {

// Deals parts out to axes of these extents; a part may be cut.
struct Dealt {
  struct Piece {
    int part;
    std::int64_t extent;
  };
  std::vector<std::vector<Piece>> axes;
  bool good = false;
};

Dealt deal(const Sizes& shape, const std::vector<int>& parts,
           const std::vector<std::int64_t>& extents) {
  Dealt dealt;
  std::size_t at = 0;
  std::int64_t left = parts.empty() ? 1 : extents[0];
  const auto next = [&] {
    ++at;
    left = at < parts.size() ? extents[at] : 1;
  };
  for (const std::int64_t extent : shape) {
    dealt.axes.emplace_back();
    std::int64_t need = extent;
    if (need == 1 && at < parts.size() && left == 1) {
      dealt.axes.back().push_back({parts[at], 1});
      next();
    }
    while (need > 1) {
      if (at >= parts.size()) return dealt;
      std::int64_t take = 0;
      if (need % left == 0)
        take = left;
      else if (left % need == 0 && parts[at] != kBatch)
        take = need;
      else
        return dealt;
      dealt.axes.back().push_back({parts[at], take});
      need /= take;
      left /= take;
      if (left == 1) next();
    }
    // A batch of one goes where others would: with what is before it, [17 n,
    // 768], unless what follows is cut, [17, n 12, 64].
    const std::size_t k = dealt.axes.size();
    if (k < shape.size() && at + 1 < parts.size() && parts[at] == kBatch &&
        left == 1 && shape[k] != 1 && shape[k] >= extents[at + 1]) {
      dealt.axes.back().push_back({kBatch, 1});
      next();
    }
  }
  for (; at < parts.size(); next()) {
    if (left != 1 || dealt.axes.empty()) return dealt;
    dealt.axes.back().push_back({parts[at], 1});
  }
  dealt.good = true;
  return dealt;
}

}  // namespace

Flow Site::regrouped(const Flow& given, const Sizes& shape) {
  Flow flow = given;
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::vector<int> parts;
    std::vector<std::int64_t> extents;
    for (const Axis& axis : flow.axes)
      for (const int one : axis) {
        parts.push_back(one);
        extents.push_back(extent(flow, one));
      }
    const Dealt dealt = deal(shape, parts, extents);
    if (!dealt.good) {
      // In one row, which is cut at any place.
      if (std::ranges::any_of(flow.axes, [&](const Axis& axis) {
            return has_batch(axis) && axis.size() > 1;
          }))
        break;
      flow = plain(flow);
      Axis all;
      for (const Axis& axis : flow.axes)
        if (axis.empty() || axis[0] != kBatch)
          all.insert(all.end(), axis.begin(), axis.end());
      if (flow.axes.empty() || flow.axes[0] != Axis{kBatch} || all.empty())
        break;
      static_cast<Value&>(flow) = shaped(flow, {all});
      flow.axes = {{kBatch}, {0}};
      flow.linear = nullptr;
      continue;
    }
    std::map<int, Sizes> pieces;
    for (const auto& axis : dealt.axes)
      for (const auto& piece : axis) pieces[piece.part].push_back(piece.extent);
    std::erase_if(pieces, [](const auto& one) {
      return one.first == kBatch || one.second.size() < 2;
    });
    Flow made = pieces.empty() ? flow : split(real(flow), pieces);
    // Pieces of a part are numbered one behind the other.
    std::vector<int> number(static_cast<std::size_t>(flow.shape().rank()), 0);
    for (int one = 0, to = 0; one < flow.shape().rank(); ++one) {
      number[static_cast<std::size_t>(one)] = to;
      const auto found = pieces.find(one);
      to += found == pieces.end() ? 1 : static_cast<int>(found->second.size());
    }
    made.axes.clear();
    for (const auto& axis : dealt.axes) {
      made.axes.emplace_back();
      for (const auto& piece : axis)
        made.axes.back().push_back(
            piece.part == kBatch
                ? kBatch
                : number[static_cast<std::size_t>(piece.part)]++);
    }
    return made;
  }
  refuse("it makes of " + shape_of(this->shape(given)).to_string() +
         " another shape, " + shape_of(shape).to_string() +
         ", that mixes the examples of a batch");
}

// An axis of 1 is merged into its neighbor.
Flow Site::squeezed(Flow flow, std::vector<std::size_t> axes) const {
  std::ranges::sort(axes, std::greater<>());
  for (const std::size_t k : axes) {
    if (extent_of(flow, k) != 1)
      refuse("it leaves out an axis of " + std::to_string(extent_of(flow, k)) +
             ", not 1");
    const Axis parts = flow.axes[k];
    flow.axes.erase(flow.axes.begin() + static_cast<std::ptrdiff_t>(k));
    if (parts.empty()) continue;
    if (flow.axes.empty()) refuse("it leaves no axis");
    Axis& to = flow.axes[k < flow.axes.size() ? k : k - 1];
    to.insert(k < flow.axes.size() ? to.begin() : to.end(), parts.begin(),
              parts.end());
  }
  return flow;
}

Flow Site::part_of(const Flow& given, std::size_t axis, std::int64_t begin,
                   std::int64_t end) {
  Flow flow = real(given);
  const std::int64_t whole = extent_of(flow, axis);
  if (begin == 0 && end == whole) return flow;
  if (begin >= end)
    refuse("it takes nothing of an axis of " + std::to_string(whole));
  if (has_batch(flow.axes[axis])) refuse("it takes a part of the batch");
  if (flow.axes[axis].size() != 1) flow = with_last(flow, axis);
  const int part = flow.axes[axis][0];
  Flow made = flow;
  made.linear = nullptr;
  static_cast<Value&>(made) = add(
      "", {{"type", "subset"}, {"axis", part}, {"begin", begin}, {"end", end}},
      {flow});
  if (!flow.linear || part == 0) return made;
  // Keeps only those rows of the weights.
  Linear linear = *flow.linear;
  linear.rows.clear();
  std::int64_t inner = 1;
  for (int k = part + 1; k < flow.shape().rank(); ++k) inner *= flow.shape()[k];
  for (std::size_t i = 0; i < flow.linear->rows.size(); ++i) {
    const std::int64_t at =
        static_cast<std::int64_t>(i) / inner % flow.shape()[part];
    if (at >= begin && at < end) linear.rows.push_back(flow.linear->rows[i]);
  }
  made.linear = std::make_shared<const Linear>(std::move(linear));
  return made;
}

// Ones that nothing changes repeat a single channel; rows and columns are
// larger pixels.
Value Site::repeated(const Value& value, const Shape& to,
                     const std::string& part) {
  if (value.shape() == to) return value;
  if (to.rank() > 3)
    refuse(
        "its inputs differ in shape, and one is to be repeated; up to 3 "
        "dimensions would be needed for that");
  Sizes image(static_cast<std::size_t>(3 - to.rank()), 1), wanted = image;
  for (int k = 0; k < to.rank(); ++k) {
    image.push_back(value.shape()[k]);
    wanted.push_back(to[k]);
  }
  Value made = reshaped(value, image, part + ".image");
  if (image[2] != wanted[2]) {
    made = add(part + ".channels",
               {{"type", "conv2d"},
                {"filters", wanted[2]},
                {"kernel", {1, 1}},
                {"bias", false},
                {"frozen", true}},
               {made});
    fill(made.node, "weight",
         [](std::span<float> all) { std::ranges::fill(all, 1.0F); });
  }
  if (image[0] != wanted[0] || image[1] != wanted[1])
    made = add(part + ".repeated",
               {{"type", "upsample2d"},
                {"size", {wanted[0] / image[0], wanted[1] / image[1]}}},
               {made});
  return reshaped(made, {to.extents().begin(), to.extents().end()}, part);
}

std::vector<Flow> Site::alike(const std::vector<Flow>& given) {
  std::vector<Flow> flows;
  std::size_t rank = 0;
  for (const Flow& flow : given) {
    flows.push_back(real(flow));
    flows.back().linear = nullptr;
    rank = std::max(rank, flow.axes.size());
  }
  for (Flow& flow : flows)
    flow.axes.insert(flow.axes.begin(), rank - flow.axes.size(), Axis{});
  const auto same = [&] {
    return std::ranges::all_of(flows, [&](const Flow& flow) {
      return flow.axes == flows[0].axes && flow.shape() == flows[0].shape();
    });
  };
  if (same()) return flows;
  for (Flow& flow : flows) {
    const bool positive = flow.positive;
    flow = plain(flow);
    flow.positive = positive;
  }
  // In the order of the one that has most; ONNX's axes say what belongs
  // together.
  const Flow& most = *std::ranges::max_element(
      flows, {}, [](const Flow& flow) { return flow.shape().elements(); });
  std::vector<std::size_t> order;
  for (int one = 0; one < most.shape().rank(); ++one)
    for (std::size_t k = 0; k < rank; ++k)
      if (std::ranges::count(most.axes[k], one) > 0 && !has_batch(most.axes[k]))
        order.push_back(k);
  Sizes target;
  for (const std::size_t k : order) target.push_back(extent_of(most, k));
  const std::vector<Axis> axes = most.axes;
  std::vector<Flow> made;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    Flow& flow = flows[i];
    std::vector<Axis> ours;
    Sizes own;
    for (const std::size_t k : order) {
      ours.push_back(flow.axes[k]);
      own.push_back(extent_of(flow, k));
    }
    for (std::size_t k = 0; k < rank; ++k) {
      const std::int64_t extent = extent_of(flow, k);
      if (has_batch(flow.axes[k]) != has_batch(axes[k]) ||
          (extent != 1 && !has_batch(axes[k]) &&
           std::ranges::count(order, k) == 0) ||
          (extent != extent_of(flows[0], k) && extent != 1 &&
           extent_of(flows[0], k) != 1))
        refuse("its inputs are " + shape_of(shape(given[0])).to_string() +
               " and " + shape_of(shape(given[i])).to_string() +
               ", which do not go together");
    }
    Flow one = flow;
    static_cast<Value&>(one) = shaped(flow, ours);
    if (!order.empty())
      static_cast<Value&>(one) =
          repeated(one, shape_of(target), "in" + std::to_string(i));
    one.axes = axes;
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace dl::convert::onnx
