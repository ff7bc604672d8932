// The options of dl-shard.

#ifndef DL_TOOLS_DL_SHARD_OPTIONS_H_
#define DL_TOOLS_DL_SHARD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "libcore/data/sharding/deal.h"

struct Args {
  dl::data::DealOptions deal;
  bool verify = false, info = false, json = false, no_provenance = false;
  std::int64_t head = 0;
  std::vector<std::string> inputs = {"-"};
  const dl::cli::Options* options = nullptr;
};

inline void declare(dl::cli::Options& opt, Args& a) {
  a.options = &opt;
  opt.section("Dealing options");
  opt.add("output,o", &a.deal.prefix, "PREFIX",
          "path prefix of the shards, as train for train-000.dls");
  opt.add("shards,n", &a.deal.shards, "COUNT",
          "number of shards to write (for each part of --split)");
  opt.size("size", &a.deal.size, "BYTES",
           "unpacked bytes in a shard at most, instead of --shards");
  opt.add("batch", &a.deal.batch, "N",
          "examples stored together in a record, independent of the "
          "mini-batches of training; 0: as in the input");
  opt.flag("shuffle", &a.deal.shuffle, "shuffle all examples");
  opt.add("split", &a.deal.split, "PARTS",
          "divide examples among named parts by a hash of each, such as "
          "train=0.8,test=0.2");
  opt.add(
      "folds", &a.deal.folds, "K",
      "divide examples among K parts of one size, fold1 to foldK, each with "
      "its share of every class; 0: off");
  opt.flag("stratify", &a.deal.rule.stratify,
           "with --split, keep the share of every class the same in each part");
  opt.add("group", &a.deal.rule.group, "COLUMN",
          "with --split or --folds: put examples with the same value into the "
          "same part; "
          "a column, id, or id:SEPARATOR (the id up to there)");
  opt.flag(
      "in-order", &a.deal.rule.in_order,
      "with --split or --folds, put the first examples into the first part, "
      "and so on");
  opt.add("balance", &a.deal.balance, "WAY",
          "make classes equal in size: over repeats examples of the smaller "
          "ones, under leaves out examples of the larger ones");
  opt.add("seed", &a.deal.seed, "N",
          "seed of --shuffle, --split, --folds and --balance");
  opt.flag("zip", &a.deal.zip,
           "join inputs example by example; input NAME=FILE is for the input "
           "or output NAME of the network");
  opt.size("memory", &a.deal.memory, "SIZE",
           "memory to use; the rest goes to temporary files");
  opt.flag("force", &a.deal.force,
           "overwrite existing shards and remove those left from an older set");
  opt.flag("no-provenance", &a.no_provenance,
           "do not record the command line in the shards");
  opt.section("Inspection options");
  opt.flag("verify", &a.verify,
           "only check the inputs: all records, end marks and checksums");
  opt.flag("info", &a.info, "only describe the inputs");
  opt.add("head", &a.head, "N",
          "only write the first N examples to standard output, as a DataSet "
          "stream or --json; 0: off");
  opt.flag("json", &a.json, "print --info and --head as JSON");
  opt.rest(&a.inputs);
}

#endif  // DL_TOOLS_DL_SHARD_OPTIONS_H_
