// Sharing where a device keeps parameters and residual in its memory: what is
// sent and what is left are the host's, to the bit, and nothing but coded
// updates crosses the bus.  On the emulation of CUDA's libraries or, if
// DL_TEST_DEVICE says so, on a GPU; on the cpu as well, whose memory stands for
// a device's.

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/philox.h"
#include "libcore/cluster/worker/update_coder.h"
#include "libcore/device/open.h"
#include "libcore/exchange/codec/device_quanta.h"
#include "libcore/exchange/residual/device_residual.h"
#include "tests/unit/cluster/worker/play.h"

namespace dl::cluster::device_sharing_test {

using namespace dl::cluster::test;
using namespace dl::exchange;
using dl::tensor::Tensor;
using dl::tensor::View;
using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

namespace {

std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
#ifdef DL_EMULATED_PLUGIN
  const char* const gpu = std::getenv("DL_TEST_DEVICE");
  if (gpu == nullptr) ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  names.emplace_back(gpu ? gpu : "cuda:0");
#endif
  return names;
}

// A vector on a device.
class There {
 public:
  There(dl::device::Device& device, std::size_t elements)
      : device_(device),
        buffer_(device.allocate({static_cast<std::int64_t>(elements)})) {}
  View put(const Floats& values) {
    Tensor here(dl::tensor::DType::kF32, view().shape);
    std::ranges::copy(values, here.as<float>().begin());
    device_.upload(view(), here);
    return view();
  }
  View view() const { return buffer_->view(); }

 private:
  dl::device::Device& device_;
  std::unique_ptr<dl::tensor::Buffer> buffer_;
};

Floats get(dl::device::Device& device, View view) {
  Tensor here(dl::tensor::DType::kF32, {0});
  device.download(here, view);
  return {here.as<float>().begin(), here.as<float>().end()};
}

Floats random_update(dl::Philox& random, std::size_t n, double size) {
  Floats update(n);
  for (float& x : update) {
    const double u = random.uniform() - 0.5;
    x = static_cast<float>(size * u * u * u);
  }
  return update;
}

const std::vector<std::size_t> kTensors = {600, 40, 9000, 300};
constexpr std::size_t kElements = 9940;

struct Way {
  const char* threshold;
  bool per_tensor = true;
  std::int64_t warmup = 0;
};

void send_alike(dl::device::Device& device, const Way& way) {
  INFO(way.threshold << (way.per_tensor ? " each" : "") << way.warmup);
  SharingSettings settings;
  settings.threshold = ThresholdRule::parse(way.threshold);
  settings.per_tensor = way.per_tensor;
  settings.warmup = way.warmup;
  settings.clip_multiple = 2;
  UpdateCoder here(settings, kTensors, 0), there(settings, kTensors, device);
  There update(device, kElements), ahead(device, kElements);
  const Floats parameters(kElements, 0.25F);
  There of_network(device, kElements);
  of_network.put(parameters);
  REQUIRE_FALSE(there.by_pieces());
  dl::Philox random(3, 1);
  for (int step = 0; step < 25; ++step) {
    CAPTURE(step);
    const double rate = step < 12 ? 0.1 : 0.05;
    for (UpdateCoder* coder : {&here, &there})
      coder->follow(std::vector<double>(kTensors.size(), rate));
    const Floats values = random_update(random, kElements, rate);
    update.put(values);
    if (step % 6 == 4) {
      here.keep(values);
      there.keep(update.view());
      continue;
    }
    Bytes one, other;
    const std::int64_t quanta = here.encode(values, 1, one);
    REQUIRE(there.encode(update.view(), 1, other) == quanta);
    REQUIRE(one == other);
    REQUIRE(here.threshold() == there.threshold());
    if (step % 5 == 3)
      for (UpdateCoder* coder : {&here, &there}) coder->give_back(one);
    Bytes theirs;
    Floats others = random_update(random, kElements, 1);
    encode_threshold(others, 0.05F, theirs);
    for (UpdateCoder* coder : {&here, &there}) coder->hear(theirs, 2);
    CHECK(here.residual_quantiles() == there.residual_quantiles());
    Floats to(kElements);
    here.step_ahead(parameters, 1, 0.5, 2, to);
    there.step_ahead(of_network.view(), 1, 0.5, 2, ahead.view());
    const Floats got = get(device, ahead.view());
    for (std::size_t i = 0; i < kElements; ++i)
      REQUIRE(got[i] == Approx(to[i]).margin(1e-7));
    if (step == 20)
      for (UpdateCoder* coder : {&here, &there}) coder->forget();
  }
  CHECK(here.residual_norm() == Approx(there.residual_norm()));
  const MassLedger a = here.ledger(), b = there.ledger();
  CHECK(a.given == Approx(b.given));
  CHECK(a.sent.size == b.sent.size);
  CHECK(a.returned.size == b.returned.size);
  CHECK(a.clipped.sum == Approx(b.clipped.sum).margin(1e-6 * a.clipped.size));
  CHECK(a.clipped.size == Approx(b.clipped.size));
  CHECK(a.clipped.size > 0);
  CHECK(a.residual.size == Approx(b.residual.size));
  Bytes rest_here, rest_there;  // of what is left, nothing new
  here.encode(std::span<const float>{}, 1, rest_here);
  there.encode(View{}, 1, rest_there);
  CHECK(rest_here == rest_there);
}

}  // namespace

TEST_CASE("a residual on a device sends what the host's does") {
  for (const std::string& name : devices()) {
    CAPTURE(name);
    const auto device = dl::device::open_device(name);
    for (const Way& way :
         {Way{"adaptive"}, Way{"adaptive:1e-3"}, Way{"fixed:2e-3", false},
          Way{"target:0.05", true, 6}, Way{"quantile:0.01"},
          Way{"quantile:0.01", false}})
      send_alike(*device, way);
  }
}

TEST_CASE("a residual on a device keeps the host's values, by any turns") {
  for (const std::string& name : devices())
    for (const std::int64_t places : {1, 100, 7000, 1 << 20}) {
      if (places == 1 && name != "cpu") continue;  // a wait for each element
      CAPTURE(name, places);
      const auto device = dl::device::open_device(name);
      ThresholdEncoder here(kTensors);
      DeviceResidual there(kTensors, *device, places);
      There update(*device, kElements);
      dl::Philox random(9, 1);
      const Floats thresholds = {0.01F, 0.002F, 0.003F, 1e-6F};
      for (int step = 0; step < 3; ++step) {
        const Floats values = random_update(random, kElements, 0.1);
        Bytes one, other;
        here.encode(values, thresholds, one);
        there.add(update.put(values));
        there.encode(thresholds, other);
        REQUIRE(one == other);
        REQUIRE(std::ranges::equal(here.quanta(), there.quanta()));
      }
      const Floats kept = get(*device, there.view());
      REQUIRE(std::memcmp(kept.data(), here.residual().data(),
                          sizeof(float) * kElements) == 0);
      // A dense one, of every element.
      Bytes one, other;
      const Floats least(kTensors.size(), 1e-30F);
      here.encode(std::span<const float>{}, least, one);
      there.encode(least, other);
      REQUIRE(one == other);
    }
}

TEST_CASE("updates are applied on a device as on the host") {
  for (const std::string& name : devices()) {
    CAPTURE(name);
    const auto device = dl::device::open_device(name);
    dl::Philox random(4, 1);
    ThresholdEncoder encoder(kTensors);
    Floats here = random_update(random, kElements, 1);
    There there(*device, kElements);
    there.put(here);
    DeviceQuanta quanta(*device);
    for (const float size : {1e-4F, 1e-2F, 1.0F}) {
      const Floats thresholds = {size, 2 * size, size / 3, size};
      Bytes message;
      encoder.encode(random_update(random, kElements, 0.5), thresholds,
                     message);
      decode_threshold(message, -0.3F, here);
      quanta.decode(message, -0.3F, there.view());
      REQUIRE(get(*device, there.view()) == here);
      // Nothing changes by what is damaged.
      CHECK_THROWS_AS(
          quanta.decode(std::span(message).first(message.size() - 1), 1,
                        there.view()),
          dl::Error);
      CHECK_THROWS_AS(quanta.decode(message, 1, there.view().at(0, {9})),
                      dl::Error);
      REQUIRE(get(*device, there.view()) == here);
    }
  }
}

#ifdef DL_EMULATED_PLUGIN

namespace {

constexpr const char* kWide = R"({
  "seed": 5, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.05},
  "layers": [
    {"type": "dense", "units": 150, "activation": "tanh"},
    {"type": "dense", "units": 150, "activation": "tanh"},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}]})";
constexpr std::size_t kWideParameters =
    3 * 150 + 150 + 150 * 150 + 150 + 150 * 2 + 2;

// Nothing that is done every few seconds is done again.
struct StandingClock : dl::Clock {
  double seconds() override { return 1000; }
};

std::size_t bus_bytes() {
  void* const plugin = ::dlopen(DL_EMULATED_PLUGIN, RTLD_NOLOAD | RTLD_NOW);
  REQUIRE(plugin != nullptr);
  void* const found = ::dlsym(plugin, "emulated_bus_bytes");
  REQUIRE(found != nullptr);
  ::dlclose(plugin);
  return reinterpret_cast<std::size_t (*)()>(found)();
}

}  // namespace

TEST_CASE("of a step of sharing on a device, coded updates cross the bus") {
  const std::string device = devices().back();
  if (std::getenv("DL_TEST_DEVICE") != nullptr)
    return;  // a GPU's bus is not counted
  StandingClock clock;
  for (const std::int64_t beside : {1, 2}) {
    CAPTURE(beside);
    Play play(Mode::kSharing, {device, kWide, kWideParameters, &clock});
    play.settings.sharing = {};
    play.settings.sharing.threshold = ThresholdRule::parse("adaptive");
    play.welcome();
    play.hear_as<Ready>();
    dl::Philox random(8, 1);
    State state;
    for (std::size_t i = 0; i < kWideParameters; ++i)
      state.parameters.push_back(static_cast<float>(0.2 * random.normal()));
    play.parameters = state.parameters;
    play.say(state.to_message());
    std::uint64_t sequence = 0;
    std::size_t before = 0, applied = 0;
    constexpr std::int64_t kEpochs = 4, kBatches = 5;
    for (std::int64_t i = 0; i < kEpochs * kBatches; ++i) {
      CAPTURE(i);
      const std::int64_t epoch = i / kBatches;
      if (i % kBatches == 0)
        play.task(static_cast<std::uint64_t>(epoch) + 1, 0, kBatches, sequence,
                  epoch, beside);
      const Update update = play.hear_as<Update>();
      const std::size_t now = bus_bytes();
      // The first threshold is found in samples of the first four.
      if (i > 4) {
        const std::size_t places = static_cast<std::size_t>(update.quanta) +
                                   (beside > 1 ? 3 : 1) * applied;
        CHECK(now - before <= 4 * places + 4096);
        CHECK(now - before < 4 * kWideParameters / 4);
      }
      before = now;
      if (i % kBatches == kBatches - 1) play.hear_as<TaskDone>();
      applied = static_cast<std::size_t>(update.quanta);
      // In front of the answer, which the worker waits for.
      if (beside > 1) {
        Apply other;
        other.sequence = ++sequence;
        other.scale = 0.5F;
        Floats theirs = random_update(random, kWideParameters, 1);
        applied += static_cast<std::size_t>(
            encode_threshold(theirs, 0.122F, other.payload));
        decode_threshold(other.payload, -0.5F, play.parameters);
        play.say(other.to_message());
      }
      play.apply_own(++sequence, update);
    }
    // To the last bit.
    play.say(Check{kEpochs - 1, sequence, play.digest(), 0}.to_message());
    const Digest answer = play.hear_as<Digest>();
    CHECK(answer.digest == play.digest());
    CHECK(answer.mass.residual.size > 0);
  }
}

#endif

}  // namespace dl::cluster::device_sharing_test
