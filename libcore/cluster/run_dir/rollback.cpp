// dl-run(5) has the table of fields.

#include "libcore/cluster/run_dir/rollback.h"

#include <cstring>
#include <span>
#include <string>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/heads.h"

namespace dl::cluster {

namespace {

[[noreturn]] void fail(const LogEntry& entry, const std::string& why) {
  throw Error{Code::kData,
              "setback " + std::to_string(entry.sequence) + " " + why};
}

void append_counted(std::vector<std::byte>& out,
                    std::span<const float> values) {
  exchange::append(out, std::uint64_t{values.size()});
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<float> take_floats(const LogEntry& entry,
                               exchange::HeadReader& reader) {
  const auto count = reader.get<std::uint64_t>();
  if (count > entry.payload.size() / sizeof(float))
    fail(entry, "has impossible sizes");
  const auto bytes = reader.take(sizeof(float) * count);
  std::vector<float> values(count);
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::vector<std::byte> encode_setback(const RunState& state) {
  const std::string text = dump_json(state.to_json());
  std::vector<std::byte> out;
  exchange::append(out, std::uint64_t{text.size()});
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
  append_counted(out, state.parameters);
  append_counted(out, state.statistics);
  append_counted(out, state.updater_state);
  append_counted(out,
                 state.fasgd ? state.fasgd->state() : std::vector<float>());
  append_counted(out, state.velocity);
  append_counted(out, state.residual);
  return out;
}

void apply_setback(const LogEntry& entry, RunState& state) {
  exchange::HeadReader reader(entry.payload);
  const auto length = reader.get<std::uint64_t>();
  if (length > entry.payload.size()) fail(entry, "has impossible sizes");
  const auto bytes = reader.take(length);
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  RunState next;
  const Json json = parse_json(text, "setback", Code::kData);
  next.restore(JsonView(json, Code::kData, "setback"));
  next.parameters = take_floats(entry, reader);
  next.statistics = take_floats(entry, reader);
  next.updater_state = take_floats(entry, reader);
  const std::vector<float> fasgd = take_floats(entry, reader);
  next.velocity = take_floats(entry, reader);
  next.residual = take_floats(entry, reader);
  if (next.parameters.size() != state.parameters.size() ||
      next.statistics.size() != state.statistics.size() ||
      next.version != entry.sequence)
    fail(entry, "does not fit the run");
  if (!fasgd.empty()) next.fasgd.emplace(next.parameters.size()).restore(fasgd);
  next.constrain = state.constrain;
  next.updater = state.updater;
  state = std::move(next);
}

}  // namespace dl::cluster
