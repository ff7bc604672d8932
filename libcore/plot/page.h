// A page: one HTML file with its style and script, which needs no network.

#ifndef DL_LIBCORE_PLOT_PAGE_H_
#define DL_LIBCORE_PLOT_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/plot/chart.h"

namespace dl::plot {

// A page that a server has drawn.
struct Live {
  std::string state;      // of what it shows; "": the page is a file
  bool has_list = false;  // whether "./" lists more runs
};

class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  // Large numbers below the title: "Accuracy", "0.9626".
  void fact(const std::string& name, const std::string& value);
  // Begins a section; all that follows is in it.
  void section(const std::string& id, const std::string& title);
  void note(const std::string& text);  // a paragraph
  void charts(const std::vector<Chart>& charts);
  // A table; rows of text, the first column of which names them.
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows,
             const std::string& name = {}, bool folded = false);
  void html(std::string_view markup) { body_ += markup; }
  // For a page that is served: it brings itself up to date.
  void live(Live live) { live_ = std::move(live); }

  std::string to_html() const;

 private:
  std::string title_, facts_, body_;
  std::vector<std::pair<std::string, std::string>> sections_;
  Live live_;
};

// The style of charts, for pictures that stand alone.
std::string_view chart_style();

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_PAGE_H_
