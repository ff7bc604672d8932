// Writing of pages.

#include "libcore/plot/page.h"

#include "libcore/plot/markup.h"
#include "plot/page_assets.h"

namespace dl::plot {

void Page::fact(const std::string& name, const std::string& value) {
  facts_ += "<div><dt>" + escaped(name, 60) + "</dt><dd>" + escaped(value, 60) +
            "</dd></div>";
}

void Page::section(const std::string& id, const std::string& title) {
  if (!sections_.empty()) body_ += "</section>\n";
  body_ += "<section id=\"" + id + "\" aria-labelledby=\"" + id +
           "-title\"><h2 id=\"" + id + "-title\">" + escaped(title, 200) +
           "</h2>\n";
  sections_.emplace_back(id, title);
}

void Page::note(const std::string& text) {
  body_ += "<p class=\"note\">" + escaped(text) + "</p>\n";
}

void Page::charts(const std::vector<Chart>& charts) {
  body_ += "<div class=\"figures\">";
  for (const Chart& chart : charts) body_ += to_figure(chart);
  body_ += "</div>\n";
}

void Page::table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows,
                 const std::string& name, bool folded) {
  if (folded) body_ += "<details><summary>" + escaped(name, 120) + "</summary>";
  body_ += "<div class=\"scroll\" role=\"group\" tabindex=\"0\"";
  if (!name.empty()) body_ += " aria-label=\"" + escaped(name, 120) + "\"";
  body_ += "><table><thead><tr>";
  for (const std::string& cell : head)
    body_ += "<th scope=\"col\">" + escaped(cell, 200) + "</th>";
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      body_ += (i == 0 ? "<th scope=\"row\">" : "<td>") + escaped(row[i], 300) +
               (i == 0 ? "</th>" : "</td>");
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>";
  if (folded) body_ += "</details>";
  body_ += "\n";
}

std::string Page::to_html() const {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>" +
      escaped(title_, 200) + "</title>\n<style>\n";
  out += kPageCss;
  out +=
      "</style></head>\n<body><a class=\"skip\" href=\"#main\">To the "
      "contents</a>\n<header><h1>" +
      escaped(title_, 200) + "</h1>\n<nav aria-label=\"Sections\">";
  if (live_.has_list) out += "<a href=\"./\">All runs</a>";
  for (const auto& [id, title] : sections_)
    out += "<a href=\"#" + id + "\">" + escaped(title, 200) + "</a>";
  out += "</nav>";
  if (!live_.state.empty())
    out += "<p id=\"live\" class=\"live\" role=\"status\" data-state=\"" +
           live_.state + "\"></p>";
  out += "</header>\n<main id=\"main\">";
  if (!facts_.empty()) out += "<dl class=\"facts\">" + facts_ + "</dl>\n";
  out += body_;
  if (!sections_.empty()) out += "</section>";
  out +=
      "</main>\n<p id=\"said\" class=\"hidden\" role=\"status\"></p>"
      "<div id=\"tip\" hidden></div>\n<script>\n";
  out += kPageJs;
  if (!live_.state.empty()) out += kLiveJs;
  return out + "</script></body></html>\n";
}

std::string_view chart_style() { return kChartCss; }

}  // namespace dl::plot
