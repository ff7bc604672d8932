// Arithmetic of a functional model of Keras 3 on one value: -x, x ** 2, 1 / x.

#include "libcore/convert/import/keras/arithmetic.h"

#include <cmath>

#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

constexpr int kMostPower = 16;

// x multiplied by itself, by the bits of the exponent.
Flow power_of(Site& site, const Flow& value, int exponent,
              const std::string& part) {
  if (exponent == 1) return value;
  const std::string own = part + std::to_string(exponent);
  const Flow half = power_of(site, value, exponent / 2, part);
  const bool odd = exponent % 2 == 1;
  const Flow square =
      site.add(odd ? own + "_even" : own, {{"type", "multiply"}}, {half, half});
  return odd ? site.add(own, {{"type", "multiply"}}, {square, value}) : square;
}

Flow power(Site& site) {
  const auto number = site.call().number;
  if (!number || site.call().number_first || *number < 1 ||
      *number > kMostPower || *number != std::floor(*number))
    site.refuse("it is no power of a whole number from 1 to " +
                std::to_string(kMostPower) + ", which would be needed");
  return power_of(site, site.only(), static_cast<int>(*number), "power");
}

Flow square(Site& site) { return power_of(site, site.only(), 2, "power"); }

Flow negative(Site& site) { return linear(site, site.only(), -1, 0); }

Flow absolute(Site& site) {
  const Flow& value = site.only();
  const Flow other =
      site.add("negative", {{"type", "scale"}, {"factor", -1}}, {value});
  return site.add("", {{"type", "max"}}, {value, other});
}

Flow one_over(Site& site) { return reciprocal(site, site.only()); }

}  // namespace

Flow linear(Site& site, Flow flow, double factor, double amount) {
  if (factor != 1)
    flow = site.add(amount == 0 ? "" : "factor",
                    {{"type", "scale"}, {"factor", factor}}, {flow});
  if (amount != 0)
    flow = site.add("", {{"type", "shift"}, {"amount", amount}}, {flow});
  return flow;
}

// x / (1e-30 + x^2), as local_response_norm computes it of single channels.
Flow reciprocal(Site& site, const Flow& value) {
  const tensor::Shape shape = site.shape(value);
  const Flow row = site.add(
      "numbers", {{"type", "reshape"}, {"shape", {1, shape.elements(), 1}}},
      {value});
  const Flow inverse = site.add("inverse",
                                {{"type", "local_response_norm"},
                                 {"k", 1e-30},
                                 {"window", 1},
                                 {"alpha", 1},
                                 {"beta", 1}},
                                {row});
  return site.add("reciprocal",
                  {{"type", "reshape"}, {"shape", sizes_of(shape)}}, {inverse});
}

std::vector<Class> arithmetic_classes() {
  return {{"Negative", negative}, {"Power", power},  {"Square", square},
          {"Absolute", absolute}, {"Abs", absolute}, {"Reciprocal", one_over}};
}

}  // namespace dl::convert::keras
