// peer-encode - how fast a device codes the residual of sharing
//
//   peer-encode --device NAME --elements N
//       writes a line of JSON: the median seconds of a copy of N floats, and of
//       coding as many of which one in a thousand reaches the threshold.
//
// Both read N floats and write N, so that the times would be equal if coding
// went by memory alone.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/cli/tool.h"
#include "libcore/device/open.h"

namespace {

using dl::tensor::DType;

constexpr dl::cli::ToolInfo kTool = {
    .name = "peer-encode",
    .summary = "Say how long a device takes to code a residual.",
    .usage = "peer-encode --device NAME --elements N",
    .examples = "peer-encode --device cuda:0 --elements 100000000",
};
constexpr int kTurns = 25;
constexpr float kThreshold = 3.2905F;  // one normal number in 1000 is beyond

struct Args {
  std::string device = "cpu";
  std::int64_t elements = 100'000'000;
};

double median_seconds(dl::device::Device& device,
                      const std::function<void()>& prepare,
                      const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < kTurns; ++i) {
    prepare();
    device.finish();
    const auto begin = Clock::now();
    work();
    device.finish();
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::ranges::sort(seconds);
  return seconds[kTurns / 2];
}

void run(const Args& a) {
  if (a.elements < 1)
    throw dl::Error{dl::Code::kUsage, "--elements: want 1 or more"};
  const auto device = dl::device::open_device(a.device);
  const auto source = device->allocate({a.elements}),
             residual = device->allocate({a.elements});
  const auto places = device->allocate({a.elements}, DType::kI32),
             count = device->allocate({2}, DType::kI32);
  device->normal(source->view(), 0, 1, 1, 1, 0);
  const auto renew = [&] { device->copy(residual->view(), source->view()); };
  const double copy = median_seconds(
      *device, [] {}, renew);
  const double encode = median_seconds(*device, renew, [&] {
    device->threshold_encode(places->view(), count->view(), residual->view(),
                             kThreshold);
  });
  dl::tensor::Tensor ends(DType::kI32, {2});
  device->download(ends, count->view());
  std::cout << dl::dump_json({{"copy_seconds", copy},
                              {"encode_seconds", encode},
                              {"quanta", ends.as<std::int32_t>()[1]}})
            << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  return dl::cli::run_tool(
      kTool, argc, argv,
      [&](dl::cli::Options& opt) {
        opt.add("device", &args.device, "NAME", "what it computes on");
        opt.add("elements", &args.elements, "N", "of the residual");
      },
      [&] { run(args); });
}
