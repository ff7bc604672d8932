#include "libcore/cluster/pretraining.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "libcore/cluster/master_run.h"
#include "libcore/cluster/plan.h"
#include "libcore/io/sink.h"
#include "libcore/io/source.h"
#include "libcore/nn/pretrain.h"

namespace dl::cluster {
namespace {

namespace fs = std::filesystem;

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

void write_text(const std::string& path, const std::string& text) {
  const auto sink = io::open_sink(path);
  sink->write(std::as_bytes(std::span(text)));
  sink->close();
}

// What is wrong with the network or its data is known before the first stage.
void check_whole(const MasterOptions& options) {
  for (const auto* operands : {&options.data, &options.eval_data})
    if (!std::ranges::all_of(*operands, io::names_file)) return;
  make_plan(options, "", [](Level, const std::string&) {});
}

// Where a run listens, for the next: workers come back there.
std::string same_port(const std::string& bind, const std::string& endpoint) {
  std::string wanted = bind.empty() ? "tcp://*:0" : bind;
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
  if (options.local == 0 && !endpoint.empty())
    bind_ = same_port(options_.bind, endpoint);
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
  write_text(own.net, nn::pretraining_network(network_, layers_[stage]) + "\n");
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

Outcome Pretraining::run() {
  check_whole(options_);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw Error{Code::kCantCreate,
                "cannot create '" + folder_ + "': " + error.message()};
  for (std::size_t stage = 0; stage < layers_.size(); ++stage) {
    learn(stage);
    put_together(stage + 1);
  }
  log_(Level::kInfo, "stage " + std::to_string(layers_.size() + 1) + " of " +
                         std::to_string(layers_.size() + 1) +
                         ": the network starts from what they learnt");
  Outcome outcome = train_next(options_);
  if (outcome.json.is_object()) outcome.json["pretraining"] = told_;
  return outcome;
}

}  // namespace

Outcome pretrain_and_train(const MasterOptions& options, const Log& log) {
  check(options);
  return Pretraining(options, log).run();
}

}  // namespace dl::cluster
