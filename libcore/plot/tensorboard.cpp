// The events of a run.

#include "libcore/plot/tensorboard.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "libcore/nn/config/config.h"
#include "libcore/nn/model/model.h"
#include "libcore/plot/filters.h"
#include "libcore/plot/values.h"

namespace dl::plot {
namespace {

// A larger checkpoint takes long to read, again and again.
constexpr std::uintmax_t kMostCheckpoint = std::uintmax_t{256} << 20;

// The newest one; "": there is none.
std::string newest_checkpoint(const std::string& folder) {
  std::string newest;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("checkpoint-") && name.ends_with(".safetensors") &&
        name > newest && entry.file_size(ignored) <= kMostCheckpoint)
      newest = name;
  return newest;
}

}  // namespace

std::string event_file_name(double begin) {
  char name[64];
  std::snprintf(name, sizeof name, "events.out.tfevents.%010.0f.dl-plot",
                std::floor(begin));
  return name;
}

RunEvents::RunEvents(const Run& run, std::size_t most, Log log)
    : most_(most), log_(std::move(log)), records_(run.history().begin) {}

std::string RunEvents::more(const Run& run) {
  const History& history = run.history();
  if (!std::exchange(begun_, true)) {
    records_.version();
    const Json network = part(run.configuration(), "network");
    if (network.is_object()) try {
        records_.graph(nn::parse_network(dump_json(network), "run.json"));
      } catch (const Error&) {
        // It is of a newer version, or edited.
      }
    if (!run.configuration().is_null()) records_.hparams_start(run.settings());
  }
  add_commits(history);
  add_epochs(history);
  add_exchanges(history);
  add_summaries(history);
  add_filters(run);
  return records_.take();
}

std::string RunEvents::end(const Run& run) {
  if (!run.configuration().is_null())
    records_.hparams_end(!run.history().report.is_null(),
                         run.history().seconds);
  return records_.take();
}

// A setback takes some away, and others take their places.
void RunEvents::add_commits(const History& history) {
  const auto& all = history.commits;
  commits_ = std::min(commits_, all.size());
  const std::size_t at_once =
      std::max<std::size_t>(1, (all.size() - commits_) / most_);
  while (commits_ < all.size()) {
    double loss = 0, staleness = 0;
    const std::size_t end = std::min(all.size(), commits_ + at_once);
    const auto n = static_cast<double>(end - commits_);
    for (; commits_ < end; ++commits_) {
      batches_ += static_cast<double>(all[commits_].count);
      loss += all[commits_].loss / n;
      staleness += all[commits_].staleness / n;
    }
    const double seconds = all[end - 1].seconds;
    records_.scalar("batch/loss", batches_, seconds, loss);
    records_.scalar("batch/staleness", batches_, seconds, staleness);
  }
}

void RunEvents::add_epochs(const History& history) {
  epochs_ = std::min(epochs_, history.epochs.size());
  for (; epochs_ < history.epochs.size(); ++epochs_) {
    const Epoch& one = history.epochs[epochs_];
    records_.scalar("epoch/loss", static_cast<double>(one.epoch), one.seconds,
                    one.loss);
  }
  held_out_ = std::min(held_out_, history.held_out.size());
  for (; held_out_ < history.held_out.size(); ++held_out_) {
    const HeldOut& one = history.held_out[held_out_];
    for (const auto& [key, value] : one.metrics)
      records_.scalar("held_out/" + key, static_cast<double>(one.epoch),
                      one.seconds, value);
  }
}

// Steps grow in a tag: several of an epoch are told apart by their time.
void RunEvents::add_exchanges(const History& history) {
  exchanges_ = std::min(exchanges_, history.exchanges.size());
  for (; exchanges_ < history.exchanges.size(); ++exchanges_) {
    const Exchange& one = history.exchanges[exchanges_];
    for (const auto& [key, value] : one.values)
      records_.scalar("exchange/" + key + "/" + history.workers[one.worker],
                      std::floor(one.seconds), one.seconds, value);
  }
  rounds_ = std::min(rounds_, history.rounds.size());
  for (; rounds_ < history.rounds.size(); ++rounds_) {
    const Round& one = history.rounds[rounds_];
    for (const auto& [key, value] : one.values)
      records_.scalar("round/" + key, rounds_seen_, one.seconds, value);
    ++rounds_seen_;
  }
}

void RunEvents::add_summaries(const History& history) {
  summaries_ = std::min(summaries_, history.summaries.size());
  for (; summaries_ < history.summaries.size(); ++summaries_) {
    const Summary& one = history.summaries[summaries_];
    const auto scalar = [&](const std::string& tag, double value) {
      records_.scalar(tag, one.batches, one.seconds, value);
    };
    const auto histogram = [&](const std::string& tag, const auto& spread) {
      records_.histogram(tag, one.batches, one.seconds, spread);
    };
    for (const auto& [name, layer] : one.layers) {
      scalar("norm/" + name, layer.parameters.norm);
      scalar("change/" + name, layer.change.norm);
      scalar("learning_rate/" + name, layer.learning_rate);
      histogram("parameters/" + name, layer.parameters);
      histogram("change/" + name, layer.change);
      histogram("gradients/" + name, layer.gradients);
      histogram("activations/" + name, layer.activations);
    }
  }
}

void RunEvents::add_filters(const Run& run) {
  const std::string checkpoint = newest_checkpoint(run.folder());
  if (checkpoint.empty() || checkpoint == checkpoint_) return;
  checkpoint_ = checkpoint;
  try {
    const nn::Model model =
        nn::open_model(run.folder() + "/" + checkpoint, log_);
    if (const auto picture = filters_of(model))
      records_.image("filters/" + picture->name, batches_,
                     run.history().seconds, *picture);
  } catch (const Error&) {
    // Its master has removed it meanwhile, or it is damaged.
  }
}

}  // namespace dl::plot
