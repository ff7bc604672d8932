#include "tests/unit/cluster/master/simulated_worker.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "libcore/cluster/tree/pieces.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/io/digest.h"

namespace simulation {

std::vector<float> step_of(const std::vector<float>& parameters,
                           std::int64_t epoch, std::int64_t batch) {
  std::vector<float> step(parameters.size());
  const auto at = static_cast<std::size_t>(batch + 7 * epoch) % step.size();
  step[at] = kStep * (parameters[(at + 1) % step.size()] > 0 ? -1 : 1);
  return step;
}

dl::nn::NetworkConfig network() {
  return dl::nn::parse_network(
      R"({"input": {"shape": [4]},
          "updater": {"type": "nesterov", "learning_rate": 0.5, "momentum": 0.5},
          "layers": [{"type": "output", "units": 8, "activation": "identity",
                      "loss": "mean_squared_error"}]})",
      "the test's network");
}

Worker::Worker() = default;
Worker::Worker(const Worker&) = default;
Worker& Worker::operator=(const Worker&) = default;
Worker::~Worker() = default;

void Worker::apply(Apply apply) {
  if (apply.sequence <= version) return;
  if (apply.origin == number) {
    const auto mine = std::ranges::find(pending, apply.batch, &Pending::batch);
    if (mine == pending.end()) throw std::logic_error("not an update of ours");
    apply.payload = mine->payload;
    pending.erase(mine);
  }
  if (apply.sequence != version + 1) throw std::logic_error("a gap");
  if (!apply.payload.empty())
    dl::exchange::decode_threshold(apply.payload, -apply.scale, parameters);
  version = apply.sequence;
  replica_run = run;
}

void Worker::take(const Message& message, Mode mode) {
  switch (message.type) {
    case MessageType::kWelcome: {
      const Welcome welcome = Welcome::from_message(message);
      run = welcome.run;
      number = welcome.worker;
      Ready ready;
      if (known) ready.run = replica_run;
      ready.version = version;
      out.push_back(ready.to_message());
      break;
    }
    case MessageType::kRejoin:
      told_to_rejoin = true;
      break;
    case MessageType::kRefuse:
      refused = Refuse::from_message(message).code;
      break;
    case MessageType::kState: {
      State state = State::from_message(message);
      replica_run = run;
      tasks.clear();
      pending.clear();
      done = 0;
      if (mode == Mode::kSharing && state.parameters.empty()) {
        if (state.version != version) throw std::logic_error("not caught up");
        break;
      }
      version = state.version;
      ++states;
      known = true;
      if (mode == Mode::kAveraging)
        keeper->take(std::move(state));
      else if (mode == Mode::kSync)
        in_step->take(std::move(state));
      else
        parameters = std::move(state.parameters);
      break;
    }
    case MessageType::kRound:
      if (mode == Mode::kSync) {
        const Round round = Round::from_message(message);
        in_step->take(round);
        version = std::max(version, round.version);
      } else {
        keeper->take(Round::from_message(message));
      }
      break;
    case MessageType::kTask:
      if (!known) throw std::logic_error("a task without state");
      tasks.push_back(Task::from_message(message));
      break;
    case MessageType::kApply:
      apply(Apply::from_message(message));
      break;
    case MessageType::kStale: {
      const Stale stale = Stale::from_message(message);
      if (!tasks.empty() && tasks.front().lease == stale.lease) done = 0;
      std::erase_if(tasks,
                    [&](const Task& t) { return t.lease == stale.lease; });
      std::erase_if(pending, [&](const Pending& p) {
        return p.lease == stale.lease && p.batch == stale.batch;
      });
      break;
    }
    case MessageType::kCut:
      for (Task& task : tasks)
        if (task.lease == Cut::from_message(message).lease) {
          cut = task.lease;
          task.count = 1;
        }
      break;
    case MessageType::kCheck: {
      if (mute) break;
      const Check check = Check::from_message(message);
      if (check.sequence != version) throw std::logic_error("a check too late");
      Digest answer;
      answer.sequence = check.sequence;
      answer.digest = dl::io::digest(std::as_bytes(std::span(parameters)));
      if (check.updater_of == number) answer.updater_state = {1.0F};
      answer.statistics = statistics;
      out.push_back(answer.to_message());
      break;
    }
    case MessageType::kStatistics:
      statistics = Statistics::from_message(message).values;
      break;
    case MessageType::kStop:
      stop = Stop::from_message(message).code;
      break;
    default:
      break;
  }
}

// One mini-batch's worth (averaging and evaluation: one task's).
void Worker::work(Mode mode, const dl::data::Epoch& order) {
  if (tasks.empty() || pending.size() >= in_flight) return;
  const Task task = tasks.front();
  // The feed may bring it later.
  const bool here = mode == Mode::kAveraging ? keeper->has(task.version)
                    : mode == Mode::kSync    ? in_step->has(task.version)
                                             : version >= task.version;
  if (!here) return;
  ++progress;
  if (task.kind == TaskKind::kEvaluate) {
    TaskDone answer;
    answer.lease = task.lease;
    answer.fence = task.fence;
    answer.examples = order.examples(task.first, task.count);
    const auto evaluation = dl::eval::make_evaluation("regression", {1, {}});
    for (std::int64_t i = 0; i < task.count; ++i) {
      dl::tensor::Tensor x(dl::tensor::DType::kF32, {1, 1});
      dl::tensor::Tensor y(dl::tensor::DType::kF32, {1, 1});
      x.as<float>()[0] = static_cast<float>(task.first + i);
      evaluation->add(x, y, nullptr);
    }
    answer.evaluations.push_back(evaluation->to_json());
    out.push_back(answer.to_message());
    tasks.pop_front();
  } else if (mode == Mode::kAveraging) {
    average(task, order);
  } else if (mode == Mode::kSync) {
    find_gradient(task, order);
  } else {
    share(task, order);
  }
}

void Worker::average(const Task& task, const dl::data::Epoch& order) {
  tasks.pop_front();
  const auto start = keeper->begin(task);
  if (const auto difference = keeper->take_difference())
    out.push_back(difference->to_message());
  if (!start) return;  // the master has taken it back
  if (start->afresh > task.iteration)
    throw std::logic_error("updater state of a later step");
  const auto copy = [](std::span<const float> v) {
    return std::vector<float>(v.begin(), v.end());
  };
  std::vector<float> replica = copy(start->parameters);
  std::vector<float> running = copy(start->statistics);
  std::vector<float> momentum = copy(start->updater_state);
  momentum.resize(kParameters);
  double loss_sum = 0;
  for (std::int64_t i = task.first; i < task.first + task.count; ++i) {
    const auto step = step_of(replica, task.epoch, i);
    for (std::size_t j = 0; j < step.size(); ++j) {
      momentum[j] = 0.5F * momentum[j] + step[j];
      replica[j] -= momentum[j];
    }
    running[0] = 0.5F * running[0] + static_cast<float>(i);
    loss_sum += static_cast<double>(order.examples(i, 1)) * loss(task.version);
  }
  const bool bad = std::exchange(poison, false);
  if (bad && progress % 2 == 0) {
    const Fault fault{task.lease, task.fence, task.first, "it is not finite"};
    out.push_back(fault.to_message());
    return;
  }
  if (const float size = std::exchange(exaggerates, 0); size > 0)
    replica[0] = size;
  auto result = keeper->finish(task, replica, running, momentum);
  if (!result) throw std::logic_error("a replica that is not finite");
  result->examples = order.examples(task.first, task.count);
  result->loss_sum = loss_sum;
  if (task.lease == cut) result->count = task.count;
  if (bad) result->statistics[1] = NAN;
  out.push_back(result->to_message());
}

void Worker::find_gradient(const Task& task, const dl::data::Epoch& order) {
  tasks.pop_front();
  try {
    if (!in_step->begin(task)) return;  // the master has taken it back
  } catch (const OutOfStep&) {
    out_of_step = true;
    return;
  }
  std::vector<float> gradient =
      step_of({shared->begin(), shared->end()}, task.epoch, task.first);
  if (const float size = std::exchange(exaggerates, 0); size > 0)
    gradient[0] = size;
  if (std::exchange(poison, false)) {
    const Fault fault{task.lease, task.fence, task.first, "it is not finite"};
    return out.push_back(fault.to_message());
  }
  const auto running = in_step->statistics();
  gradient.insert(gradient.end(), running.begin(), running.end());
  gradient[kParameters] = 0.5F * running[0] + static_cast<float>(task.first);
  Part part;
  part.round = task.slot.round;
  part.parties = task.slot.parties;
  part.slots = task.slot.slots;
  part.slot = task.slot.index;
  part.count = {task.lease, task.fence, order.examples(task.first, task.count),
                0};
  part.count.loss_sum =
      static_cast<double>(part.count.examples) * loss(task.version);
  for (const Piece& piece : pieces_of(gradient.size(), part.slots)) {
    part.first = static_cast<std::int64_t>(piece.first);
    const auto begin = gradient.begin() + part.first;
    part.values.assign(begin, begin + static_cast<std::ptrdiff_t>(piece.count));
    out.push_back(part.to_message());
  }
}

void Worker::share(const Task& task, const dl::data::Epoch& order) {
  Update update;
  update.lease = task.lease;
  update.fence = task.fence;
  update.batch = task.first + done;
  update.version = version;
  update.examples = order.examples(update.batch, 1);
  update.loss_sum = static_cast<double>(update.examples) * loss(version);
  update.threshold = kStep;
  const auto step = step_of(parameters, task.epoch, update.batch);
  if (const float size = std::exchange(exaggerates, 0); size > 0) {
    std::vector<float> lie(kParameters, size);
    update.threshold = size;
    update.quanta = dl::exchange::encode_threshold(lie, size, update.payload);
  } else {
    for (std::size_t j = 0; j < step.size(); ++j) residual[j] += step[j];
    update.quanta =
        dl::exchange::encode_threshold(residual, kStep, update.payload);
  }
  if (poison) update.loss_sum = NAN;
  poison = false;
  pending.push_back({update.lease, update.batch, update.payload});
  out.push_back(update.to_message());
  if (++done < task.count) return;
  TaskDone answer;
  answer.lease = task.lease;
  answer.fence = task.fence;
  answer.examples = order.examples(task.first, task.count);
  answer.statistics = statistics;
  out.push_back(answer.to_message());
  tasks.pop_front();
  done = 0;
}

}  // namespace simulation
