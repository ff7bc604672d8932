// dl-plot - draw runs, evaluations and models
// For users: man/dl-plot.1.scd.  The drawing: libcore/plot.

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/web_address.h"
#include "libcore/cli/tool.h"
#include "libcore/io/overwriting.h"
#include "libcore/io/sink.h"
#include "libcore/plot/live/live_runs.h"
#include "libcore/plot/live/web_server.h"
#include "libcore/plot/model_page.h"
#include "libcore/plot/operand.h"
#include "libcore/plot/pictures.h"
#include "libcore/plot/png.h"
#include "libcore/plot/report_page.h"
#include "libcore/plot/run.h"
#include "libcore/plot/run_charts.h"
#include "libcore/plot/run_data.h"
#include "libcore/plot/run_page.h"
#include "libcore/plot/tensorboard_folder.h"
#include "tools/dl-plot-options.h"

namespace {

using dl::plot::Subject;

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-plot",
    .summary = "Draw runs, evaluations and models: pages, pictures, tables.",
    .usage =
        "dl-plot RUN... -o page.html\n"
        "dl-plot RUN... -o picture.svg\n"
        "dl-plot RUN... --data table.csv\n"
        "dl-plot RUN|REPORT|MODEL... --tensorboard DIR\n"
        "dl-plot RUN... --serve [ADDRESS:]PORT\n"
        "dl-plot REPORT... -o page.html\n"
        "dl-plot MODEL [--examples INPUT] -o page.html",
    .examples =
        "dl-plot lenet.safetensors.run -o lenet.html\n"
        "dl-plot a.run b.run -o both.html --data both.csv\n"
        "dl-plot --serve 8080 lenet.safetensors.run\n"
        "dl-plot report.json -o report.html\n"
        "dl-plot lenet.safetensors -o model.html",
    .on_kill = dl::io::remove_unfinished,
};

std::string picture(const std::vector<dl::plot::Run>& runs, bool png) {
  std::vector<dl::plot::Chart> charts;
  for (const auto& group : dl::plot::charts_of(runs))
    charts.insert(charts.end(), group.charts.begin(), group.charts.end());
  if (charts.empty()) dl::bad_data("there is nothing to draw yet");
  return png ? dl::plot::to_png(dl::plot::to_picture(charts, true))
             : dl::plot::to_picture(charts);
}

void plot_runs(const Args& a) {
  std::vector<dl::plot::Run> runs;
  runs.reserve(a.operands.size());
  for (const std::string& path : a.operands) runs.emplace_back(path);
  if (!a.output.empty() &&
      std::ranges::none_of(runs, [](const dl::plot::Run& run) {
        return run.history().has_events();
      }))
    dl::bad_data("there is nothing to draw yet");
  if (a.output.ends_with(".html"))
    dl::io::write_whole(a.output, dl::plot::run_page(runs));
  else if (!a.output.empty())
    dl::io::write_whole(a.output, picture(runs, a.output.ends_with(".png")));
  if (!a.data.empty()) dl::io::write_whole(a.data, dl::plot::run_data(runs));
  if (a.tensorboard.empty()) return;
  if (!a.follow)
    return dl::plot::write_tensorboard(runs, a.tensorboard, dl::cli::log());
  dl::plot::follow_tensorboard(
      runs, a.tensorboard,
      [&] {
        std::cout << "writing " << dl::in_quotes(a.tensorboard) << '\n'
                  << std::flush;
      },
      dl::cli::log());
}

void plot_model(const Args& a) {
  std::string data;
  dl::io::write_whole(a.output, dl::plot::model_page(a.operands[0], a.look,
                                                     dl::cli::log(), &data));
  if (!a.data.empty()) dl::io::write_whole(a.data, data);
}

// Until the process is ended; it dies of the signal, as it would at once.
void serve(const Args& a) {
  dl::plot::LiveRuns runs(a.operands);
  dl::plot::WebServer server(
      dl::parse_web_address("--serve", a.serve),
      {[&](const auto& target) { return runs.answer(target); },
       [&](const auto& target) { return runs.state(target); },
       [&] { runs.hurry(); }});
  std::cout << server.url() << '\n' << std::flush;
  server.run();
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

void refuse_overwriting(const Args& a) {
  std::vector<std::string> inputs = a.operands;
  for (const std::string& path : a.operands)
    for (const char* file : {"/events.jsonl", "/run.json"})
      inputs.push_back(path + file);
  for (const std::string& output : {a.output, a.data})
    if (!output.empty()) dl::io::refuse_overwriting(output, inputs);
}

void run(const Args& a) {
  if (a.operands.empty())
    dl::bad_usage("want a run directory, a report or a model to draw");
  const bool files =
      !a.output.empty() || !a.data.empty() || !a.tensorboard.empty();
  if (!a.serve.empty()) {
    if (files)
      dl::bad_usage("--serve: does not go with -o, --data and --tensorboard");
    return serve(a);
  }
  if (a.follow && a.tensorboard.empty())
    dl::bad_usage("--follow: goes with --tensorboard");
  if (!files) dl::bad_usage("-o, --data, --tensorboard or --serve is missing");
  const bool page = a.output.ends_with(".html");
  if (!a.output.empty() && !page && !a.output.ends_with(".svg") &&
      !a.output.ends_with(".png"))
    dl::bad_usage("-o: want a name that ends with .html, .svg or .png, got " +
                  dl::in_quotes(a.output));
  if (!a.output.empty() && a.output == a.data)
    dl::bad_usage("-o and --data: want two names, got " +
                  dl::in_quotes(a.output) + " for both");
  refuse_overwriting(a);
  const Subject subject = dl::plot::subject_of(a.operands[0]);
  for (const std::string& path : a.operands)
    if (dl::plot::subject_of(path) != subject)
      dl::bad_usage("want operands of one kind, got " +
                    dl::in_quotes(a.operands[0]) + " and " +
                    dl::in_quotes(path));
  if (subject != Subject::kModel && !a.look.examples.empty())
    dl::bad_usage("--examples: is for models");
  if (subject == Subject::kRun) return plot_runs(a);
  const bool look = !a.look.examples.empty();
  if ((!a.data.empty() && !(look && page)) || a.follow ||
      (!a.output.empty() && !page))
    dl::bad_usage(
        "reports and models are drawn as pages alone: want -o page.html or "
        "--tensorboard; --follow is for runs, --data for runs and --examples");
  if (page && subject == Subject::kModel && a.operands.size() > 1)
    dl::bad_usage("want one model");
  if (page && subject == Subject::kReport)
    dl::io::write_whole(a.output, dl::plot::report_page(a.operands));
  else if (page)
    plot_model(a);
  if (!a.tensorboard.empty())
    dl::plot::write_tensorboard(a.operands, subject, a.tensorboard,
                                dl::cli::log());
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& opt) { declare(opt, args); },
      [&] { run(args); });
}
