// The description of a data set for people.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>

#include "libcore/base/display.h"
#include "libcore/base/number_format.h"
#include "libcore/data/sharding/inspect.h"

namespace dl::data {
namespace {

constexpr std::size_t kMostColumns = 20;  // whose statistics are listed

std::string text(const char* format, const auto&... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

// "tensor" in the first column of every line.
std::string line(const std::string& name, const std::string& value) {
  const std::string what = displayed(name);
  return what + std::string(what.size() < 15 ? 16 - what.size() : 1, ' ') +
         displayed(value) + "\n";
}

std::string class_lines(const std::string& what, const Json& classes) {
  if (classes.empty()) return "";
  const std::string counted = classes.at(0).contains("steps")    ? "steps"
                              : classes.at(0).contains("pixels") ? "pixels"
                                                                 : "examples";
  std::string out =
      line(what, std::to_string(classes.size()) +
                     (counted == "examples" ? "" : ", counted in " + counted));
  for (const Json& entry : classes) {
    std::string name = std::to_string(entry.at("label").get<std::int64_t>());
    if (entry.contains("name"))
      name += " " + entry.at("name").get<std::string>();
    out += line("  " + name,
                std::to_string(entry.at(counted).get<std::int64_t>()));
  }
  return out;
}

// names: of the columns, if they are as many.
std::string statistics_lines(const std::string& what, const Json& json,
                             const Json& names) {
  const Statistics s =
      Statistics::from_json(JsonView(json, Code::kBug, "statistics"));
  const std::vector<double> deviation = s.deviation();
  std::string out =
      line(what,
           "of " + dl::counted(s.examples, "example") + ", " +
               dl::counted(static_cast<std::int64_t>(s.mean.size()), "column"));
  out += text("  %-14s%13s %13s %13s %13s\n", "column", "mean", "deviation",
              "min", "max");
  for (std::size_t c = 0; c < std::min(s.mean.size(), kMostColumns); ++c) {
    const std::string name = names.size() == s.mean.size()
                                 ? displayed(names.at(c).get<std::string>())
                                 : std::to_string(c);
    const bool any = s.count > 0;
    const std::size_t pad = name.size() < 14 ? 14 - name.size() : 1;
    out += "  " + name + std::string(pad, ' ') +
           text("%13.6g %13.6g %13.6g %13.6g\n", s.mean[c], deviation[c],
                any ? s.min[c] : 0, any ? s.max[c] : 0);
  }
  if (s.mean.size() > kMostColumns)
    out += "  and " + std::to_string(s.mean.size() - kMostColumns) +
           " more; --json has them all\n";
  return out;
}

std::string provenance_lines(const Json& steps) {
  std::string out;
  for (const Json& step : steps) {
    std::string made = step.at("tool").get<std::string>() + " " +
                       step.at("version").get<std::string>() + ":";
    for (const Json& argument : step.at("arguments"))
      made += " " + argument.get<std::string>();
    if (step.contains("seed"))
      made += " (seed " + std::to_string(step.at("seed").get<std::uint64_t>()) +
              ")";
    out += line(out.empty() ? "made by" : "", made);
  }
  return out;
}

// Describes the tensors with one name; of: "/digit", or "".
std::string part_lines(const Json& json, const std::string& of) {
  std::string out;
  if (json.contains("targets" + of))
    out += line("targets" + of, json.at("targets" + of).dump());
  out += class_lines("classes" + of, json.value("classes" + of, Json::array()));
  const auto statistics = [&](const std::string& key, const std::string& names,
                              const std::string& what) {
    if (json.contains(key + of))
      out += statistics_lines(what + of, json.at(key + of),
                              json.value(names + of, Json()));
  };
  statistics("statistics", "columns", "statistics");
  statistics("label_statistics", "targets", "of labels");
  return out;
}

// The names of tensors, each after its slash, and "" for those without.
std::set<std::string> suffixes(const Json& schema) {
  std::set<std::string> all{""};
  for (const auto& item : schema.items())
    if (const auto slash = item.key().find('/'); slash != std::string::npos)
      all.insert(item.key().substr(slash));
  return all;
}

}  // namespace

std::string describe_text(const Json& json) {
  const auto number = [&](const char* key) {
    return json.at(key).get<std::int64_t>();
  };
  const auto inputs = static_cast<std::int64_t>(json.at("inputs").size());
  std::string out =
      line("examples", std::to_string(number("examples")) + " in " +
                           dl::counted(number("records"), "record") + " of " +
                           dl::counted(inputs, "input"));
  out += line("bytes", std::to_string(number("bytes")) + ", unpacked " +
                           std::to_string(number("unpacked_bytes")));
  if (json.contains("set"))
    out +=
        line("shard",
             std::to_string(json["set"]["shard"].get<std::int64_t>()) + " of " +
                 dl::counted(json["set"]["of"].get<std::int64_t>(), "shard") +
                 ", set " + json["set"]["id"].get<std::string>());
  for (const Json& path : json.value("missing", Json::array()))
    out += line("missing", path.get<std::string>());
  for (const auto& [name, field] : json.at("schema").items())
    out += line(name, field.at("dtype").get<std::string>() + " " +
                          field.at("shape").dump() +
                          (field.contains("encoding")
                               ? ", " + field.at("encoding").get<std::string>()
                               : ""));
  for (const std::string& of : suffixes(json.at("schema")))
    out += part_lines(json, of);
  if (json.contains("recipe"))
    out += line("recipe", displayed(dump_json(json.at("recipe"))));
  if (json.contains("provenance"))
    out += provenance_lines(json.at("provenance"));
  return out;
}

}  // namespace dl::data
