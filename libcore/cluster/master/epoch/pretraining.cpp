#include "libcore/cluster/master/epoch/pretraining.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "libcore/cluster/master/master_run.h"
#include "libcore/cluster/protocol/endpoint.h"
#include "libcore/cluster/run_config/choose_mode.h"
#include "libcore/cluster/run_config/read_network.h"
#include "libcore/cluster/run_config/run_config.h"
#include "libcore/cluster/run_dir/run_directory.h"
#include "libcore/cluster/run_dir/run_files.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/model/pretrain.h"

namespace dl::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPretrainFile = "pretrain-epochs";

void check(const MasterOptions& options) {
  if (!options.init.empty())
    throw Error{Code::kUsage,
                "--pretrain draws a network's layers; it does not go with "
                "--init"};
  for (const auto* operands : {&options.data, &options.eval_data})
    if (std::ranges::count(*operands, "-") > 0)
      throw Error{Code::kUsage,
                  "--pretrain reads the data in each stage, and standard "
                  "input can be read but once"};
  if (options.net == "-")
    throw Error{Code::kUsage, "--pretrain wants --net in a file"};
}

// Errors in the network or its data are found before the first stage.
void check_whole(const MasterOptions& options) {
  if (options.epochs == 0) return;  // the data may lack labels
  for (const auto* operands : {&options.data, &options.eval_data})
    if (!std::ranges::all_of(*operands, io::names_file)) return;
  MasterOptions whole = options;
  choose_mode(whole, silent());
  make_run_config(whole, "", silent());
}

// Where a run listens, for the next: workers come back there.
std::string same_port(const std::string& bind, const std::string& endpoint) {
  std::string wanted = bind.empty() ? std::string(kAnyEndpoint) : bind;
  const auto port = endpoint.rfind(':');
  if (!wanted.ends_with(":0") || port == std::string::npos) return wanted;
  return wanted.substr(0, wanted.size() - 2) + endpoint.substr(port);
}

class Pretraining {
 public:
  Pretraining(const MasterOptions& options, const Log& log)
      : options_(options),
        log_(log),
        network_(read_network(options.net)),
        layers_(nn::pretrained_layers(network_)),
        folder_(run_folder(options)) {}

  Outcome run();

 private:
  std::string file(std::size_t stage, const char* suffix) const {
    return folder_ + "/pretrain-" + std::to_string(stage + 1) + "-" +
           layers_[stage] + suffix;
  }
  std::string network_of(std::size_t stage) const {
    return nn::pretraining_network(network_, layers_[stage]);
  }
  void check_stages() const;
  void keep_to_epochs() const;
  void learn(std::size_t stage);
  Outcome train_next(MasterOptions options);
  void put_together(std::size_t stages);

  const MasterOptions& options_;
  const Log& log_;
  nn::NetworkConfig network_;
  std::vector<std::string> layers_;
  std::string folder_;
  std::string bind_ = options_.bind;
  std::string before_;  // the model of all stages so far
  std::vector<nn::Model> models_;
  Json told_ = Json::array();
};

// The workers of this host belong to a stage; others stay for the next.
Outcome Pretraining::train_next(MasterOptions options) {
  options.pretrain = 0;
  options.pretrained = before_;
  options.bind = bind_;
  std::string endpoint;
  options.listening = [&](const std::string& at) { endpoint = at; };
  Outcome outcome = train(options, log_);
  // Later stages would start from that.
  if (outcome.verdict && !options.stage.empty()) throw Error(*outcome.verdict);
  if (!outcome.remark.empty() && !options.stage.empty())
    log_(Level::kWarning, outcome.remark);
  if (tcp_address(endpoint)) bind_ = same_port(options_.bind, endpoint);
  return outcome;
}

void Pretraining::learn(std::size_t stage) {
  MasterOptions own = options_;
  own.net = file(stage, ".json");
  own.run = file(stage, "");
  own.output = file(stage, ".safetensors");
  own.stage = layers_[stage];
  own.epochs = options_.pretrain;
  own.epochs_given = true;
  own.eval_data.clear();
  own.evaluate.clear();
  own.metric = own.target = own.keep = "";
  own.patience = 0;
  own.max_time = {};
  own.normalize_targets = "auto";
  io::write_whole(own.net, network_of(stage) + "\n");
  log_(Level::kInfo, "stage " + std::to_string(stage + 1) + " of " +
                         std::to_string(layers_.size() + 1) + ": '" +
                         layers_[stage] + "' learns by itself");
  const Json report = train_next(own).json;
  told_.push_back({{"layer", layers_[stage]},
                   {"epochs", report.value("epochs", Json())},
                   {"history", report.value("history", Json())}});
  models_.push_back(nn::load_model(own.output, log_));
}

// The model that the next stage, or the whole, starts from.
void Pretraining::put_together(std::size_t stages) {
  before_ = folder_ + "/pretrained-" + std::to_string(stages) + ".safetensors";
  nn::save_model(nn::pretrained(network_, models_, layers_), before_);
}

void Pretraining::check_stages() const {
  for (std::size_t stage = 0; stage < layers_.size(); ++stage)
    nn::parse_network(
        network_of(stage),
        "the network in which '" + layers_[stage] + "' learns by itself");
}

// The next run began with the result of each stage.
void Pretraining::keep_to_epochs() const {
  const std::string path = folder_ + "/" + kPretrainFile;
  const std::string wanted = std::to_string(options_.pretrain) + "\n";
  if (!options_.fresh && fs::exists(path)) {
    const auto source = io::open_source(path);
    const std::string kept = io::read_all(*source, 64);
    if (kept == wanted) return;
    throw Error{Code::kConfig,
                "'" + folder_ + "' was begun with --pretrain " +
                    kept.substr(0, kept.find('\n')) +
                    ", and what later stages learnt stands on that; --fresh "
                    "starts over"};
  }
  io::write_whole(path, wanted);
}

Outcome Pretraining::run() {
  check_stages();
  check_whole(options_);
  std::optional<RunDirectory> ours(folder_);  // no other master's
  keep_to_epochs();
  for (std::size_t stage = 0; stage < layers_.size(); ++stage) {
    learn(stage);
    put_together(stage + 1);
  }
  if (options_.epochs == 0) {
    nn::save_model(nn::pretrained(network_, models_, layers_), options_.output);
    return {"pretrained  " + options_.output + "\n",
            {{"model", options_.output}, {"pretraining", told_}},
            {}};
  }
  log_(Level::kInfo, "stage " + std::to_string(layers_.size() + 1) + " of " +
                         std::to_string(layers_.size() + 1) +
                         ": the network starts from what they learnt");
  ours.reset();  // the network's own run takes it
  Outcome outcome = train_next(options_);
  if (outcome.json.is_object()) outcome.json["pretraining"] = told_;
  return outcome;
}

}  // namespace

void refuse_pretrained(const MasterOptions& options) {
  const std::string folder = run_folder(options);
  const std::string file = folder + "/" + kPretrainFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  if (!options.fresh)
    throw Error{Code::kConfig, "'" + folder +
                                   "' was begun with --pretrain; the same "
                                   "goes on, --fresh starts over"};
  fs::remove(file, ignored);
}

Outcome pretrain_and_train(const MasterOptions& options, const Log& log) {
  check(options);
  return Pretraining(options, log).run();
}

}  // namespace dl::cluster
