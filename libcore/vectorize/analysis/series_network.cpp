#include "libcore/vectorize/analysis/series_network.h"

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/vectorize/series/series_settings.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kHiddenUnits = 100;
constexpr double kDropout = 0.3;  // series are short

Json node_of(const std::string& name, const std::string& type, const Json& from,
             const Json& settings = Json::object()) {
  Json all = {{"name", name}, {"type", type}, {"from", from}};
  all.update(settings);
  return all;
}

class WindowNetwork {
 public:
  explicit WindowNetwork(const data::Metadata& metadata)
      : metadata_(metadata),
        settings_(series_settings(metadata.recipe.at("series"))) {
    const Json& labels = metadata.recipe.at("tensors").at("labels");
    if (labels.is_object() && labels.value("type", "") == "number")
      targets_ = labels.at("from").get<std::vector<std::string>>();
    take_inputs();
  }

  Json network(const Json& output) {
    const bool holds_last = finds_targets();
    if (holds_last) add_changes();
    for (const auto& [name, rank] : inputs_) {
      if (holds_last && name == past_ && columns() == target_count()) continue;
      if (rank > 1) nodes_.push_back(node_of(name + "-flat", "flatten", name));
      seen_.push_back(rank > 1 ? name + "-flat" : name);
    }
    const std::string seen = seen_.size() == 1 ? seen_[0] : std::string("seen");
    if (seen_.size() > 1) nodes_.push_back(node_of("seen", "merge", seen_));
    nodes_.push_back(
        node_of("hidden", "dense", seen,
                {{"units", kHiddenUnits}, {"activation", "relu"}}));
    nodes_.push_back(
        node_of("dropout", "dropout", "hidden", {{"rate", kDropout}}));
    if (output.at("loss") == "mean_squared_error")
      add_sum(seen, output.at("units"), holds_last);
    else
      nodes_.push_back(node_of("class", "output", "dropout", output));
    return {{"inputs", list_},
            {"nodes", nodes_},
            {"outputs", nodes_.back().at("name")}};
  }

 private:
  struct Input {
    std::string name;
    int rank;
  };

  void take_inputs() {
    for (const auto& [name, field] : metadata_.schema) {
      if (!name.starts_with("features")) continue;
      const auto slash = name.find('/');
      const std::string own =
          slash == std::string::npos ? name : name.substr(slash + 1);
      if (own == "features" || own == "past") past_ = own;
      Json shape = Json::array();
      for (int i = 0; i < field.shape.rank(); ++i)
        shape.push_back(field.shape[i]);
      list_.push_back({{"name", own}, {"shape", shape}});
      inputs_.push_back({own, field.shape.rank()});
    }
  }

  std::vector<std::string> names() const {
    return past_ == "past" ? metadata_.part("past").columns : metadata_.columns;
  }
  std::int64_t columns() const { return std::ssize(names()); }
  std::int64_t target_count() const { return std::ssize(targets_); }

  // Whether the window has what is predicted, in neighboring columns; last
  // differences say nothing of the next ones.
  bool finds_targets() {
    const std::vector<std::string> all = names();
    const auto found =
        std::search(all.begin(), all.end(), targets_.begin(), targets_.end());
    first_ = found - all.begin();
    return !targets_.empty() && found != all.end() && settings_.horizon > 0 &&
           settings_.difference == 0;
  }

  // The last numbers, and the targets of the window as changes from them.
  void add_changes() {
    const Json range = {{"begin", first_}, {"end", first_ + target_count()}};
    nodes_.push_back(node_of("own", "subset", past_, range));
    nodes_.push_back(node_of("last", "last_step", "own"));
    nodes_.push_back(
        node_of("level", "repeat", "last", {{"n", settings_.window}}));
    nodes_.push_back(node_of("change", "subtract", {"own", "level"}));
    nodes_.push_back(node_of("changes", "flatten", "change"));
    seen_.emplace_back("changes");
    nodes_.push_back(
        node_of("held", "repeat", "last", {{"n", settings_.horizon}}));
    nodes_.push_back(node_of("naive", "flatten", "held"));
  }

  void add_sum(const std::string& seen, const Json& units, bool holds_last) {
    const Json zero = {{"units", units}, {"weight_init", "zero"}};
    nodes_.push_back(node_of("curve", "dense", "dropout", zero));
    nodes_.push_back(node_of("line", "dense", seen, zero));
    Json parts = {"line", "curve"};
    if (holds_last) parts.push_back("naive");
    nodes_.push_back(node_of("sum", "add", parts));
    nodes_.push_back(
        node_of("forecast", "loss", "sum",
                {{"units", units}, {"loss", "mean_squared_error"}}));
  }

  const data::Metadata& metadata_;
  SeriesSettings settings_;
  std::vector<std::string> targets_;
  std::string past_;
  std::vector<Input> inputs_;
  std::ptrdiff_t first_ = 0;  // column of the targets
  std::vector<std::string> seen_;
  Json list_ = Json::array(), nodes_ = Json::array();
};

}  // namespace

bool is_of_series(const data::Metadata& metadata) {
  return metadata.recipe.is_object() && metadata.recipe.contains("series");
}

Json series_network(const data::Metadata& metadata, const Json& output) {
  return WindowNetwork(metadata).network(output);
}

}  // namespace dl::vectorize
