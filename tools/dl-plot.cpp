// dl-plot - draw runs, evaluations and models
// For users: man/dl-plot.1.scd.  The drawing: libcore/plot.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/plot/operand.h"
#include "libcore/plot/pictures.h"
#include "libcore/plot/run.h"
#include "libcore/plot/run_charts.h"
#include "libcore/plot/run_data.h"
#include "libcore/plot/run_page.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-plot",
    .summary = "Draw runs of dl-master: a page, a picture, a table.",
    .usage =
        "dl-plot RUN... -o page.html\n"
        "dl-plot RUN... -o picture.svg\n"
        "dl-plot RUN... --data table.csv",
    .examples =
        "dl-plot lenet.safetensors.run -o lenet.html\n"
        "dl-plot a.run b.run -o both.html --data both.csv",
    .on_kill = dl::io::remove_unfinished,
};

struct Args {
  std::vector<std::string> operands;
  std::string output, data;
};

void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "FILE",
          "page (.html) or picture (.svg) to write");
  opt.add("data", &a.data, "FILE",
          "CSV table to write with every number that is drawn");
  opt.rest(&a.operands);
}

void write(const std::string& path, const std::string& text) {
  const auto sink = dl::io::open_sink(path);
  sink->write(std::as_bytes(std::span(text)));
  sink->close();
}

std::string picture(const std::vector<dl::plot::Run>& runs) {
  std::vector<dl::plot::Chart> charts;
  for (const auto& group : dl::plot::charts_of(runs))
    charts.insert(charts.end(), group.charts.begin(), group.charts.end());
  if (charts.empty()) dl::bad_data("there is nothing to draw yet");
  return dl::plot::to_picture(charts);
}

void plot_runs(const Args& a) {
  std::vector<dl::plot::Run> runs;
  for (const std::string& path : a.operands) runs.emplace_back(path);
  if (!a.output.empty())
    write(a.output, a.output.ends_with(".svg") ? picture(runs)
                                               : dl::plot::run_page(runs));
  if (!a.data.empty()) write(a.data, dl::plot::run_data(runs));
}

void run(const Args& a) {
  if (a.operands.empty()) dl::bad_usage("want a run directory to draw");
  if (a.output.empty() && a.data.empty())
    dl::bad_usage("-o or --data is missing");
  if (!a.output.empty() && !a.output.ends_with(".html") &&
      !a.output.ends_with(".svg"))
    dl::bad_usage("-o: want a name that ends with .html or .svg, got " +
                  dl::in_quotes(a.output));
  std::vector<std::string> inputs = a.operands;
  for (const std::string& path : a.operands)
    for (const char* file : {"/events.jsonl", "/run.json"})
      inputs.push_back(path + file);
  for (const std::string& output : {a.output, a.data})
    if (!output.empty()) dl::io::refuse_overwriting(output, inputs);
  for (const std::string& path : a.operands)
    if (dl::plot::subject_of(path) != dl::plot::Subject::kRun)
      dl::bad_data(dl::in_quotes(path) + ": want a run directory of dl-master");
  plot_runs(a);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
