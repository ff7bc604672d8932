// Boxes around things (YOLO): what its layer makes of a convolution's numbers.
//
// The numbers of each place are, for each box: where its middle is in the
// place, x and y, how large it is, whether there is one, and how likely it is
// of each class.

#include <algorithm>

#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kMostBoxes = 64;

// Width and height of each prior box: {"data"}, or as early versions have it.
std::vector<double> priors(const Site& site) {
  const Json& given = member(site.json(), "boundingBoxes");
  for (const char* key : {"data", "dataBuffer"}) {
    const Json& list = member(given, key);
    if (!list.is_array() || member(given, "orderingField") == Json("f"))
      continue;
    const auto all = JsonView(list, Code::kData, "boundingBoxes").numbers();
    if (all.empty() || all.size() % 2 != 0 || all.size() > 2 * kMostBoxes)
      break;
    return all;
  }
  site.refuse("its boundingBoxes are no pairs of numbers");
}

// A run of the channels with an activation of its own.
Flow some(Site& site, const std::string& part, std::int64_t begin,
          std::int64_t count, const char* activation) {
  const Flow flow =
      site.add(part + ".raw",
               {{"type", "subset"}, {"begin", begin}, {"end", begin + count}},
               {site.only()});
  return site.add(part, {{"type", "activation"}, {"activation", activation}},
                  {flow});
}

Flow boxes(Site& site) {
  const std::vector<double> sizes = priors(site);
  const auto count = static_cast<std::int64_t>(sizes.size() / 2);
  const tensor::Shape shape = Site::shape(site.only());
  const std::int64_t each = shape.back() / count;
  if (shape.rank() != 3 || shape.back() % count != 0 || each < 6)
    site.refuse("its input is " + shape.to_string() + "; one with 5 numbers " +
                "and those of classes for each of " + std::to_string(count) +
                " boxes would be needed");
  std::vector<Flow> parts;
  for (std::int64_t b = 0; b < count; ++b) {
    const std::string name = "box" + std::to_string(b);
    const std::int64_t at = b * each;
    parts.push_back(some(site, name + ".middle", at, 2, "sigmoid"));
    Flow size = some(site, name + ".stretch", at + 2, 2, "exp");
    size = site.add(name + ".size",
                    {{"type", "element_multiply"}, {"frozen", true}}, {size});
    const auto first = static_cast<std::size_t>(2 * b);
    const std::vector<float> prior = {static_cast<float>(sizes[first]),
                                      static_cast<float>(sizes[first + 1])};
    site.fill(size.node, "weight", kNoVariable,
              [prior](std::span<const float>, std::span<float> to) {
                std::ranges::copy(prior, to.begin());
              });
    site.fill(size.node, "bias", kNoVariable,
              [](std::span<const float>, std::span<float> to) {
                std::ranges::fill(to, 0.0F);
              });
    parts.push_back(size);
    parts.push_back(some(site, name + ".sure", at + 4, 1, "sigmoid"));
    parts.push_back(some(site, name + ".class", at + 5, each - 5, "softmax"));
  }
  site.note(
      "its loss of boxes is left out: give it another before it is trained");
  return site.add("", {{"type", "merge"}}, parts);
}

}  // namespace

std::vector<Class> box_classes() { return {{"yolo2output", boxes}}; }

}  // namespace dl::convert::dl4j
