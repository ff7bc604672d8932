// A diagram drawn in layers (Sugiyama, Tagawa and Toda 1981): each box a rank
// below the lowest that it has an arrow from; an arrow over several ranks goes
// through a place of its own in each; places of a rank are ordered, and then
// moved sideways, by the mean of those that they are joined with.
//
// Our own, and not Graphviz's, whose library finds its drawing code at run time
// in what is installed: a tarball would have none.

#include <algorithm>
#include <numeric>

#include "libcore/base/number_format.h"
#include "libcore/convert/export/diagram.h"

namespace dl::convert {
namespace {

constexpr double kLine = 15, kGap = 24, kRise = 34, kMargin = 16, kEdge = 10;
constexpr double kCharacter = 6.2;  // of Helvetica of 11 pixels, about
constexpr int kSweeps = 12;

struct Place {
  std::size_t rank = 0;
  double width = kEdge, height = 0;  // of a box; else an arrow goes through
  double x = 0, y = 0;               // its middle, its top
  std::vector<std::size_t> above = {}, below = {};
  const Diagram::Box* box = nullptr;
};

std::vector<std::string> lines_of(const Diagram::Box& box) {
  std::vector<std::string> lines{box.title};
  for (const std::string& line : {box.words, box.size})
    if (!line.empty()) lines.push_back(line);
  return lines;
}

class Drawing {
 public:
  explicit Drawing(const Diagram& diagram) : diagram_(diagram) {
    for (const Diagram::Box& box : diagram.boxes) add(box);
    for (const auto& [from, to] : diagram.arrows)
      places_[to].rank = std::max(places_[to].rank, places_[from].rank + 1);
    for (const auto& [from, to] : diagram.arrows) join(from, to);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].rank >= ranks_.size()) ranks_.resize(places_[i].rank + 1);
      ranks_[places_[i].rank].push_back(i);
    }
    for (auto& rank : ranks_) pack(rank);
    for (int i = 0; i < kSweeps; ++i) sweep(i % 2 == 0, i < kSweeps / 2);
    stand();
  }

  std::string svg() const;

 private:
  void add(const Diagram::Box& box);
  void join(std::size_t from, std::size_t to);
  void pack(const std::vector<std::size_t>& rank);
  void sweep(bool down, bool reorder);
  void settle(const std::vector<std::size_t>& rank,
              const std::vector<double>& wanted);
  void stand();
  std::string arrow(std::size_t from) const;

  const Diagram& diagram_;
  std::vector<Place> places_;
  std::vector<std::vector<std::size_t>> ranks_;  // from the left
};

void Drawing::add(const Diagram::Box& box) {
  Place place;
  const auto lines = lines_of(box);
  std::size_t longest = 0;
  for (const std::string& line : lines)
    longest = std::max(longest, line.size());
  place.width = kCharacter * static_cast<double>(longest) + 2 * kEdge;
  place.height = kLine * static_cast<double>(lines.size()) + kEdge;
  place.box = &box;
  places_.push_back(place);
}

void Drawing::join(std::size_t from, std::size_t to) {
  for (std::size_t r = places_[from].rank + 1; r < places_[to].rank; ++r) {
    places_.push_back({.rank = r});
    places_[from].below.push_back(places_.size() - 1);
    places_.back().above.push_back(from);
    from = places_.size() - 1;
  }
  places_[from].below.push_back(to);
  places_[to].above.push_back(from);
}

// Side by side about 0.
void Drawing::pack(const std::vector<std::size_t>& rank) {
  double width = -kGap;
  for (const std::size_t i : rank) width += places_[i].width + kGap;
  double x = -width / 2;
  for (const std::size_t i : rank) {
    places_[i].x = x + places_[i].width / 2;
    x += places_[i].width + kGap;
  }
}

// As near to what is wanted as the order leaves room: from the left, and from
// the right, and the mean of both.
void Drawing::settle(const std::vector<std::size_t>& rank,
                     const std::vector<double>& wanted) {
  const std::size_t n = rank.size();
  std::vector<double> left(wanted), right(wanted);
  const auto apart = [&](std::size_t i) {
    return (places_[rank[i]].width + places_[rank[i + 1]].width) / 2 + kGap;
  };
  for (std::size_t i = 0; i + 1 < n; ++i)
    left[i + 1] = std::max(left[i + 1], left[i] + apart(i));
  for (std::size_t i = n - 1; i-- > 0;)
    right[i] = std::min(right[i], right[i + 1] - apart(i));
  for (std::size_t i = 0; i < n; ++i)
    places_[rank[i]].x = (left[i] + right[i]) / 2;
}

void Drawing::sweep(bool down, bool reorder) {
  for (std::size_t k = 1; k < ranks_.size(); ++k) {
    auto& rank = ranks_[down ? k : ranks_.size() - 1 - k];
    std::vector<double> wanted(places_.size());
    for (const std::size_t i : rank) {
      const auto& others = down ? places_[i].above : places_[i].below;
      double sum = 0;
      for (const std::size_t other : others) sum += places_[other].x;
      wanted[i] = others.empty() ? places_[i].x
                                 : sum / static_cast<double>(others.size());
    }
    if (reorder)
      std::ranges::stable_sort(rank, [&](std::size_t a, std::size_t b) {
        return wanted[a] < wanted[b];
      });
    std::vector<double> own;
    for (const std::size_t i : rank) own.push_back(wanted[i]);
    settle(rank, own);
  }
}

// Ranks below each other, and all right of and below 0.
void Drawing::stand() {
  double y = kMargin, least = 0;
  for (const auto& rank : ranks_) {
    double height = 0;
    for (const std::size_t i : rank)
      height = std::max(height, places_[i].height);
    for (const std::size_t i : rank) {
      Place& place = places_[i];
      if (place.box == nullptr) place.height = height;
      place.y = y + (height - place.height) / 2;
      least = std::min(least, place.x - place.width / 2);
    }
    y += height + kRise;
  }
  for (Place& place : places_) place.x += kMargin - least;
}

std::string number(double value) { return format("%.1f", value); }

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '<')
      all += "&lt;";
    else if (c == '&')
      all += "&amp;";
    else if (c == '"')
      all += "&quot;";
    else
      all += c;
  }
  return all;
}

// From a box through the places on its way to the next box: one for each.
std::string Drawing::arrow(std::size_t from) const {
  std::string text;
  for (std::size_t to : places_[from].below) {
    const Place* at = &places_[from];
    text += "<path d=\"M" + number(at->x) + " " + number(at->y + at->height);
    for (;;) {
      const Place& next = places_[to];
      const double y = at->y + at->height, middle = (y + next.y) / 2;
      text += " C" + number(at->x) + " " + number(middle) + " " +
              number(next.x) + " " + number(middle) + " " + number(next.x) +
              " " + number(next.y);
      if (next.box != nullptr) break;
      text += " V" + number(next.y + next.height);
      at = &next;
      to = next.below[0];
    }
    text += "\" marker-end=\"url(#tip)\"/>\n";
  }
  return text;
}

std::string Drawing::svg() const {
  double width = 0, height = 0;
  for (const Place& place : places_) {
    width = std::max(width, place.x + place.width / 2 + kMargin);
    height = std::max(height, place.y + place.height + kMargin);
  }
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
      "\" height=\"" + number(height) + "\" viewBox=\"0 0 " + number(width) +
      " " + number(height) +
      "\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" "
      "refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
      "<path d=\"M0 0L8 4L0 8z\" fill=\"#556\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<g fill=\"none\" stroke=\"#556\">\n";
  for (std::size_t i = 0; i < diagram_.boxes.size(); ++i) text += arrow(i);
  text +=
      "</g>\n<g font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"11\" text-anchor=\"middle\">\n";
  for (std::size_t i = 0; i < diagram_.boxes.size(); ++i) {
    const Place& place = places_[i];
    const char* fill = place.box->input    ? "#f3f3f3"
                       : place.box->output ? "#e6f4e6"
                                           : "#eef3fb";
    text += "<rect x=\"" + number(place.x - place.width / 2) + "\" y=\"" +
            number(place.y) + "\" width=\"" + number(place.width) +
            "\" height=\"" + number(place.height) + "\" rx=\"6\" fill=\"" +
            fill + "\" stroke=\"#889\"/>\n";
    double y = place.y + kEdge / 2 - 4;
    for (const std::string& line : lines_of(*place.box))
      text += "<text x=\"" + number(place.x) + "\" y=\"" + number(y += kLine) +
              "\">" + escaped(line) + "</text>\n";
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace

std::string to_svg(const Diagram& diagram) { return Drawing(diagram).svg(); }

}  // namespace dl::convert
