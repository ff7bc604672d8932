// The options of dl-plot.

#ifndef DL_TOOLS_DL_PLOT_OPTIONS_H_
#define DL_TOOLS_DL_PLOT_OPTIONS_H_

#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "libcore/plot/embedding/seen_examples.h"

struct Args {
  std::vector<std::string> operands;
  std::string output, data, tensorboard, serve;
  bool follow = false;
  dl::plot::Look look;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  opt.add("output,o", &a.output, "FILE",
          "page (.html) to write, or of runs a picture (.svg, .png)");
  opt.add("data", &a.data, "FILE",
          "CSV table to write with every number that is drawn");
  opt.add("tensorboard", &a.tensorboard, "DIR",
          "folder for TensorBoard: an event file of each run, report or model, "
          "in a folder of its name");
  opt.flag("follow", &a.follow,
           "with --tensorboard: write what comes to the runs, each second, "
           "until they end");
  opt.add(
      "examples", &a.look.examples, "INPUT",
      "DataSet stream whose examples the page of a model shows: activations "
      "of the first, and places of up to 2000 by PCA and t-SNE");
  opt.add("layer", &a.look.layer, "NAME",
          "layer whose values place the examples; default: the last one before "
          "the output");
  opt.add("serve", &a.serve, "[ADDRESS:]PORT",
          "serve pages of the runs, or of all runs in a folder, that follow "
          "them as they grow; 0: any free port; address: default 127.0.0.1");
  opt.rest(&a.operands);
}

#endif  // DL_TOOLS_DL_PLOT_OPTIONS_H_
