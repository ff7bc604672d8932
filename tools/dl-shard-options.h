// The options of dl-shard.

#ifndef DL_TOOLS_DL_SHARD_OPTIONS_H_
#define DL_TOOLS_DL_SHARD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/cli/tool.h"
#include "libcore/data/deal.h"

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
  opt.add("output,o", &a.deal.prefix, "PREFIX", "start of every shard's name");
  opt.add("shards,n", &a.deal.shards, "COUNT",
          "how many shards to write (of each part)");
  opt.size("size", &a.deal.size, "BYTES",
           "most unpacked bytes in a shard, instead of --shards");
  opt.add("batch", &a.deal.batch, "N",
          "examples in a record; 0: as in the input");
  opt.flag("shuffle", &a.deal.shuffle, "put all examples in a random order");
  opt.add("split", &a.deal.split, "PARTS",
          "deal into parts by a hash: train=0.8,test=0.2");
  opt.flag("stratify", &a.deal.rule.stratify,
           "--split gives each part its share of every class");
  opt.add("group", &a.deal.rule.group, "COLUMN",
          "--split keeps examples together that have this in common: a column, "
          "id, or id:SEPARATOR");
  opt.flag("in-order", &a.deal.rule.in_order,
           "--split gives the first part the first examples, and so on");
  opt.add("seed", &a.deal.seed, "N", "seed of --shuffle and --split");
  opt.flag("zip", &a.deal.zip, "join inputs NAME=INPUT example by example");
  opt.size("memory", &a.deal.memory, "SIZE",
           "memory to use; what does not fit waits on disk");
  opt.flag("force", &a.deal.force, "overwrite and replace older shards");
  opt.flag("no-provenance", &a.no_provenance,
           "do not note this command in the shards");
  opt.section("Inspection options");
  opt.flag("verify", &a.verify, "check every byte of the inputs");
  opt.flag("info", &a.info, "describe the inputs");
  opt.add("head", &a.head, "N", "write the first N examples to stdout");
  opt.flag("json", &a.json, "--info and --head as JSON");
  opt.rest(&a.inputs);
}

#endif  // DL_TOOLS_DL_SHARD_OPTIONS_H_
