#include "libcore/cluster/protocol/mass_ledger.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dl::cluster {

namespace {

using exchange::Mass;

constexpr std::pair<const char*, Mass MassLedger::*> kColumns[] = {
    {"sent", &MassLedger::sent},
    {"returned", &MassLedger::returned},
    {"dropped", &MassLedger::dropped},
    {"clipped", &MassLedger::clipped},
    {"residual", &MassLedger::residual}};

// Sums of finite updates may not be finite.
double finite(double value) {
  constexpr double kLargest = 1e300;
  return std::isnan(value) ? 0 : std::clamp(value, -kLargest, kLargest);
}

}  // namespace

void MassLedger::add(const MassLedger& other) {
  given += other.given;
  for (const auto& [name, column] : kColumns)
    (this->*column).add(other.*column);
}

Json MassLedger::to_json() const {
  Json json = {{"given", finite(given)}};
  for (const auto& [name, column] : kColumns)
    json[name] = {finite((this->*column).sum), finite((this->*column).size)};
  return json;
}

MassLedger MassLedger::from_json(const JsonView& json) {
  json.only({"given", "sent", "returned", "dropped", "clipped", "residual"});
  MassLedger ledger;
  ledger.given = json.at("given").number();
  for (const auto& [name, column] : kColumns) {
    const JsonView pair = json.at(name);
    if (pair.size() != 2) pair.fail("a sum and a size");
    const Mass mass{pair.at(0).number(), pair.at(1).number()};
    if (!(mass.size >= 0)) pair.fail("a size >= 0");
    ledger.*column = mass;
  }
  return ledger;
}

}  // namespace dl::cluster
