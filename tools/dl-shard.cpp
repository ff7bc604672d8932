// dl-shard - deal DataSet streams out into shards; verify and inspect them
// For users: man/dl-shard.1.scd.  The format: man/dl-dataset.5.scd.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/cli/progress.h"
#include "libcore/cli/tool.h"
#include "libcore/data/format/stream.h"
#include "libcore/data/sharding/deal.h"
#include "libcore/data/sharding/inspect.h"
#include "libcore/data/sharding/set_check.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "tools/dl-shard-options.h"

namespace {

constexpr dl::cli::ToolInfo kTool = {
    .name = "dl-shard",
    .summary = "Split DataSet streams into shards; verify and inspect them.",
    .usage =
        "dl-shard [OPTION...] [INPUT...]\n"
        "dl-shard --verify [INPUT...]\n"
        "dl-shard --info [--json] [INPUT...]\n"
        "dl-shard --head N [--json] [INPUT...]",
    .examples =
        "dl-preprocess idx train-images.gz train-labels.gz |"
        " dl-shard -n 16 --shuffle -o train\n"
        "dl-shard --split train=0.8,test=0.2 -o all data.dls\n"
        "dl-shard --folds 5 -o cross data.dls\n"
        "dl-shard --zip features/l=a.dls features/r=b.dls labels=c.dls -o ab\n"
        "dl-shard --verify 'train-*.dls'",
    .on_kill = dl::io::remove_unfinished,
};

void verify(const Args& args) {
  std::int64_t bad = 0;
  dl::Error first{dl::Code::kData, ""};
  const auto say_bad = [&](const std::string& name, const std::string& why,
                           const dl::Error& error) {
    std::cout << dl::displayed(name) << "\tbad\t" << dl::displayed(why) << '\n';
    if (bad++ == 0) first = error;
  };
  for (const std::string& spec : args.inputs) {
    const dl::data::Verdict v = dl::data::verify(spec);
    if (v.error.empty())
      std::cout << dl::displayed(v.name) << "\tok\t" << v.examples << '\n';
    else
      say_bad(v.name, v.error, {v.code, v.error});
  }
  for (const auto& [path, why] : dl::data::check_sets(args.inputs))
    say_bad(path, why, {dl::Code::kData, dl::in_quotes(path) + ": " + why});
  if (bad == 0) return;
  if (bad == 1) throw first;
  throw dl::Error{first.code(), first.what() + std::string("; and ") +
                                    std::to_string(bad - 1) + " more of " +
                                    std::to_string(args.inputs.size()) +
                                    " inputs are bad"};
}

void info(const Args& args) {
  const dl::Json description = dl::data::describe(args.inputs);
  if (args.json)
    std::cout << dl::dump_json(description) << '\n';
  else
    std::cout << dl::data::describe_text(description);
}

void head(const Args& args) {
  using dl::data::DataSet, dl::data::Metadata;
  if (args.json) {
    dl::data::head(
        args.inputs, args.head, [](const DataSet& set, const Metadata& m) {
          for (std::int64_t i = 0; i < set.examples(); ++i)
            std::cout << dl::dump_json(dl::data::example_to_json(set, i, m))
                      << '\n';
        });
    return;
  }
  dl::data::StreamWriter out(dl::io::open_sink("-"));
  dl::data::head(args.inputs, args.head,
                 [&](const DataSet& set, const Metadata& m) {
                   Metadata metadata = m;
                   metadata.statistics.reset();  // they are of all examples
                   metadata.label_statistics.reset();
                   metadata.place.reset();
                   if (out.examples() == 0) out.write_metadata(metadata);
                   out.write(set);
                 });
  if (out.examples() == 0)
    throw dl::Error{dl::Code::kData, "there is no example to write"};
  out.close();
}

// Whether the seed has an effect.
bool draws(const dl::data::DealOptions& o) {
  return o.shuffle || !o.balance.empty() ||
         ((!o.split.empty() || o.folds > 0) && !o.rule.in_order);
}

void deal(Args& args, int argc, char** argv) {
  dl::data::DealOptions& o = args.deal;
  if (!args.no_provenance) {
    o.step = {"dl-shard", DL_VERSION, {argv + 1, argv + argc}, {}};
    if (draws(o)) o.step->seed = o.seed;
  }
  o.log = dl::cli::log();
  if (!o.zip) dl::data::warn_of_missing(args.inputs, dl::cli::log());
  dl::cli::Progress progress;
  const auto dealt = dl::data::deal(
      args.inputs, o, [&](std::int64_t read, std::int64_t written) {
        progress.update([&] {
          return written == 0 ? std::to_string(read) + " examples read"
                              : std::to_string(written) + " of " +
                                    std::to_string(read) + " examples written";
        });
      });
  if (args.options->given("quiet")) return;
  for (const dl::data::Dealt& shard : dealt)
    std::cout << shard.path << '\t' << shard.examples << '\n';
}

void check(const Args& a) {
  const bool heads = a.options->given("head");
  if (a.verify + a.info + heads > 1)
    dl::bad_usage("--verify, --info and --head exclude each other");
  if (a.json && !a.info && !heads)
    dl::bad_usage("--json needs --info or --head");
  if (a.verify || a.info || heads)
    a.options->refuse_section("Dealing options",
                              "is for dealing out, not for "
                              "--verify, --info and --head");
  const dl::data::SplitRule& rule = a.deal.rule;
  if (!draws(a.deal))
    a.options->refuse({"seed"},
                      rule.in_order
                          ? "does nothing to --in-order"
                          : "is for --shuffle, --split, --folds and --balance");
  if (heads && a.head <= 0) dl::bad_usage("--head must be positive");
  if (a.deal.shards <= 0) dl::bad_usage("--shards must be positive");
  if (a.deal.batch < 0) dl::bad_usage("--batch must not be negative");
  constexpr std::int64_t kMostFolds = 1000;
  if (a.options->given("folds") &&
      (a.deal.folds < 2 || a.deal.folds > kMostFolds))
    dl::bad_usage("--folds: want 2.." + std::to_string(kMostFolds));
  if (a.deal.folds > 0) {
    a.options->refuse({"split", "balance"}, "does not go with --folds");
    a.options->refuse({"stratify"}, "is what --folds does where it can");
  } else if (a.deal.split.empty()) {
    a.options->refuse({"stratify", "group", "in-order"},
                      "needs --split or --folds");
  } else {
    a.options->refuse({"balance"},
                      "does not go with --split: balance the part for training "
                      "by another dl-shard, as no other may be");
  }
  if (rule.stratify + !rule.group.empty() + rule.in_order > 1)
    dl::bad_usage("--stratify, --group and --in-order exclude each other");
  if (a.deal.size > 0 && a.options->given("shards"))
    dl::bad_usage("--shards and --size exclude each other");
}

void run(Args& args, int argc, char** argv) {
  check(args);
  if (!args.deal.zip) args.inputs = dl::io::expand_operands(args.inputs);
  if (args.verify)
    verify(args);
  else if (args.info)
    info(args);
  else if (args.head > 0)
    head(args);
  else
    deal(args, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv, [&](dl::cli::Options& o) { declare(o, args); },
      [&] { run(args, argc, argv); });
}
