#include "libcore/vectorize/recipe/recipe.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/image/decode.h"
#include "libcore/vectorize/series/series_settings.h"
#include "libcore/vectorize/source/encoding.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kRecipeVersion = 1;

constexpr std::string_view kDecimals[] = {".", ","};
constexpr RecipeKey kEncodingKey = {
    .name = "encoding",
    .kind = KeyKind::kEncoding,
    .doc =
        "The encoding of the text, UTF-8 by default: one that *iconv -l* "
        "lists, as latin1, windows-1252 or utf-16le. A file that begins "
        "with a byte order mark is read as that says, whatever this says."};
constexpr RecipeKey kNaOfSourceKey = {
    .name = "na",
    .kind = KeyKind::kWords,
    .doc =
        "Texts that count as a missing value in all columns, for steps and "
        "vectorizers: they become an empty one."};

const std::vector<SourceType>& sources() {
  static const std::vector<SourceType> all = {
      {.name = "files",
       .words =
           "A record for each file: of folders with all below them, in byte "
           "order of the names, of tar archives in their order, and of files. "
           "Columns: *path* below the folder or in the archive, *folder*, the "
           "name of the folder that holds the file, *name* of the file, and "
           "*bytes*, its contents; *folder* is empty for a file that lies "
           "beside folders at the top. Hidden files are passed over, and in "
           "folders and archives those whose names end as no picture's.",
       .open = open_files},
      {.name = "webdataset",
       .words =
           "A record for each example of archives (or folders) in the manner "
           "of WebDataset: files that stand together and have one path up to "
           "the first dot of their names. Columns: *key*, that path, and one "
           "for each suffix, such as *jpg* and *cls*, in lower case; of an "
           "object in a .json file *json.a* for its key a. Where a *from* may "
           "be one of several columns it lists them, as jpg;png.",
       .open = [](Inputs inputs,
                  Suffixes) { return open_webdataset(std::move(inputs)); }},
      {.name = "csv",
       .words =
           "A record for each row of CSV files, or of standard input. "
           "Columns: those of the file, called as its header has it, else by "
           "their numbers from 1, in any order; and *file:line*, the place of "
           "the row. A file that lacks a column of the recipe is refused, more "
           "columns are passed over.",
       .keys = {{"delimiter", KeyKind::kDelimiter, "\",\"",
                 "The character that separates fields, or \\\\t."},
                {.name = "decimal",
                 .kind = KeyKind::kOneOf,
                 .doc = "The decimal separator, . by default: with a comma "
                        "1.234,5 is 1234.5.",
                 .words = kDecimals},
                {.name = "decimal_of",
                 .kind = KeyKind::kTexts,
                 .doc = "With a decimal comma: the columns that have it, where "
                        "they are not all."},
                {.name = "thousands_of",
                 .kind = KeyKind::kTexts,
                 .doc = "The columns whose numbers have a comma between "
                        "thousands: 1,234.5 is 1234.5."},
                kEncodingKey,
                kNaOfSourceKey,
                {"header", KeyKind::kBoolean, "true",
                 "Whether the first row of each file names the columns."}},
       .open_with = open_csv_source},
      {.name = "fixed",
       .words =
           "A record for each line of files, or of standard input, whose "
           "columns are so many characters wide, without the blanks around "
           "them. Columns: as *names*, else the first line of each file, has "
           "them; and *file:line*, the place of the line. What a line that "
           "ends before lacks is empty.",
       .keys = {{.name = "widths",
                 .kind = KeyKind::kIntegers,
                 .fallback = "",
                 .doc = "The width of each column, in characters.",
                 .low = 1,
                 .high = 65536},
                {.name = "names",
                 .kind = KeyKind::kTexts,
                 .doc = "The names of the columns, where the files have none."},
                kEncodingKey,
                kNaOfSourceKey},
       .open_with = open_fixed_width},
      {.name = "arff",
       .words =
           "A record for each row of ARFF files, the format of Weka, or of "
           "standard input: full and sparse ones. Columns: the attributes; and "
           "*file:line*, the place of the row. ? is an empty text; a word that "
           "is none of a nominal attribute's makes a bad record. Weights of "
           "rows and relational attributes are refused.",
       .keys = {kEncodingKey},
       .open_with = open_arff},
      {.name = "jsonl",
       .words =
           "A record for each line of JSON Lines, or of standard input, that "
           "is an object. Columns: its keys, *a.b* for the key b of an object "
           "within it; null, and a key that is not there, is an empty text, "
           "and true, numbers and arrays "
           "are as JSON has them; and *file:line*, the place of the line.",
       .open_with = open_json_lines},
      {.name = "sqlite",
       .words =
           "A record for each row that a query gives from files of SQLite, "
           "which are only read. Columns: those of the query, of which NULL "
           "is an empty text; and *file:line*, the place of the row.",
       .keys = {{.name = "query", .doc = "The query, in SQL."},
                {.name = "table",
                 .doc = "In its place: the table, or view, whose rows are "
                        "taken."}},
       .open_with = open_sqlite}};
  return all;
}

bool is_tensor(const std::string& name) {
  if (name == "id") return true;
  if (displayed(name) != name) return false;  // control characters
  const std::size_t slash = std::min(name.find('/'), name.size());
  const std::string kind = name.substr(0, slash);
  return (kind == "features" || kind == "labels") && slash + 1 != name.size();
}

enum class Wanted { kAll, kLabels, kNoLabels };

std::vector<WantedColumn> wanted_of(const Recipe& recipe, Wanted which) {
  std::vector<WantedColumn> wanted;
  for (const char* key : {"time", "key"})
    if (which != Wanted::kLabels && recipe.series.is_object() &&
        recipe.series.contains(key))
      wanted.push_back({recipe.series[key], recipe.name + ": series"});
  for (const RecipeTensor& tensor : recipe.tensors) {
    const bool is_label = tensor.name.starts_with("labels");
    if (which != Wanted::kAll && is_label != (which == Wanted::kLabels))
      continue;
    for (const RecipePart& part : tensor.parts) {
      const Json from = part.settings().json().at("from");
      if (from.is_array())
        for (const Json& one : from) wanted.push_back({one, part.place});
      else
        wanted.push_back({from, part.place});
    }
  }
  return wanted;
}

// Finds every mistake.
class RecipeCheck {
 public:
  RecipeCheck(const Json& json, std::string recipe_name)
      : name_(std::move(recipe_name)) {
    if (!json.is_object()) {
      add("", "want an object, got " + clipped(dump_json(json)));
      return;
    }
    for (const auto& [name, value] : json.items()) take(name, value);
    for (const char* name : {"source", "tensors"})
      if (!json.contains(name)) add(name, "missing");
    if (problems.empty()) check_series();
    if (problems.empty()) check_chain();
  }

  Recipe recipe;
  std::vector<std::string> problems;

 private:
  void add(const std::string& path, const std::string& what) {
    problems.push_back(path.empty() ? what : path + ": " + what);
  }

  void take(const std::string& name, const Json& value) {
    if (name == "version") {
      if (value != kRecipeVersion)
        add(name, "want " + std::to_string(kRecipeVersion) + ", got " +
                      clipped(dump_json(value)));
    } else if (name == "source") {
      take_source(value);
    } else if (name == "steps") {
      take_steps(value);
    } else if (name == "tensors") {
      take_tensors(value);
    } else if (name == "series") {
      take_series(value);
    } else if (name == "libraries") {
      if (!value.is_object()) return add(name, "want an object");
      recipe.libraries = value;
    } else if (name != "fit") {  // which merging alone reads
      add(displayed(name),
          "unknown key; the keys of a recipe are version, source, steps, "
          "series, tensors, libraries, fit");
    }
  }

  // The type that an object with a key "type" names.
  template <typename Types, typename NameOf>
  std::string type_of(const Json& object, const std::string& path,
                      const Types& types, const NameOf& name_of) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& type : types) {
      names.emplace_back(name_of(type));
      all += (all.empty() ? "" : ", ") + names.back();
    }
    const bool given = object.is_object() && object.contains("type");
    const Json type = given ? object.at("type") : Json();
    if (type.is_string() &&
        std::ranges::find(names, type.get<std::string>()) != names.end())
      return type.get<std::string>();
    const std::string near =
        type.is_string() ? nearest(type.get<std::string>(), names) : "";
    add(path + ".type",
        (given ? "want one of " : "missing; want one of ") + all +
            (given ? ", got " + clipped(dump_json(type)) : "") +
            (near.empty() ? "" : "; did you mean '" + near + "'?"));
    return "";
  }

  // Whether the keys are right.
  bool check(const Json& object, std::span<const RecipeKey> keys,
             const std::string& path) {
    const std::size_t before = problems.size();
    Json own = object;
    own.erase("type");
    check_keys(own, keys, path, problems);
    return problems.size() == before;
  }

  // Whether something can come of keys that are right each by itself.
  // beside: others make a row of numbers with it.
  void check_work(const RecipePart& part, const std::string& path,
                  bool beside) try {
    const RecipeSettings settings = part.settings();
    if (part.type->fit != nullptr && part.type->fit(settings)) return;
    const data::Field field = part.type->make(settings, {})->field();
    if (beside &&
        (field.dtype != tensor::DType::kF32 || field.shape.rank() != 1))
      add(path,
          "an array of vectorizers makes one row of numbers: want number, "
          "date, bins, and category with \"encode\": \"one_hot\" or "
          "\"hashed\"");
  } catch (const Error& e) {
    if (e.code() != Code::kConfig) throw;
    add(path, e.what());
  }

  void take_source(const Json& value) {
    const std::string type = type_of(value, "source", sources(),
                                     [](const auto& t) { return t.name; });
    for (const SourceType& known : sources())
      if (known.name == type) {
        if (check(value, known.keys, "source")) check_source(value, type);
        recipe.source = &known;
        if (value.is_object()) recipe.source_given = value;
      }
  }

  // Keys that do not fit each other.
  void check_source(const Json& value, const std::string& type) {
    if (type == "sqlite" && value.contains("query") == value.contains("table"))
      add("source", "want either \"query\" or \"table\"");
    if (type == "fixed" && value.contains("names") &&
        value.at("names").size() != value.at("widths").size())
      add("source", "want a name for each of " +
                        std::to_string(value.at("widths").size()) + " widths");
    if (value.contains("decimal_of") && value.value("decimal", Json()) != ",")
      add("source", "decimal_of is for \"decimal\": \",\"");
    if (!value.contains("thousands_of") ||
        value.value("decimal", Json()) != ",")
      return;
    if (!value.contains("decimal_of"))
      return add("source",
                 "thousands_of wants \"decimal_of\", the columns that have a "
                 "decimal comma");
    for (const Json& column : value.at("thousands_of"))
      if (std::ranges::count(value.at("decimal_of"), column) > 0)
        add("source", "decimal_of and thousands_of both have " +
                          in_quotes(column.get<std::string>()));
  }

  void take_series(const Json& value) {
    if (!value.is_object()) return add("series", "want an object");
    if (!check(value, series_keys(), "series")) return;
    recipe.series = value;
    try {
      (void)series_settings(value);
    } catch (const Error& e) {
      if (e.code() != Code::kConfig) throw;
      add("series", e.what());
    }
  }

  // A missing number that stays one is for series alone, which are of tables.
  void check_series() {
    const bool is_series = !recipe.series.is_null();
    if (is_series && recipe.source != nullptr && !recipe.is_of_tables())
      add("series", "a series is of a table: want csv or jsonl");
    for (const RecipeTensor& tensor : recipe.tensors)
      for (const RecipePart& part : tensor.parts)
        if (!is_series && part.given.value("missing", Json()) == "keep")
          add("tensors." + displayed(tensor.name),
              "\"missing\": \"keep\" is for a recipe with series");
        else if (is_series && part.given.value("missing", Json()) == "previous")
          add("tensors." + displayed(tensor.name),
              "\"missing\": \"previous\" is not for series: want \"keep\", and "
              "\"gaps\": \"previous\" of the series");
  }

  // The type of a step is the key that no other one has.
  void take_steps(const Json& value) {
    if (!value.is_array()) return add("steps", "want an array");
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string path = "steps[" + std::to_string(i) + "]";
      const StepType* type = step_type_of(value[i], path);
      if (type == nullptr) continue;
      check_keys(value[i], type->keys, path, problems);
      recipe.steps.push_back({type, value[i], name_ + ": " + path});
    }
  }

  const StepType* step_type_of(const Json& step, const std::string& path) {
    std::string all;
    std::vector<std::string> names;
    for (const StepType* type : step_types()) {
      if (step.is_object() && step.contains(std::string(type->name)))
        return type;
      names.emplace_back(type->name);
      all += (all.empty() ? "" : ", ") + names.back();
    }
    std::string near;
    for (const auto& [key, value] : step.items())
      if (near.empty() && step.is_object()) near = nearest(key, names);
    add(path, "want an object with one of the keys " + all +
                  (near.empty() ? "" : "; did you mean '" + near + "'?"));
    return nullptr;
  }

  // Whether the columns are there that steps and vectorizers take.
  void check_chain() try {
    if (recipe.steps.empty()) return;
    if (!recipe.is_of_tables())
      return add("steps", "want a source of tables: csv, jsonl or sqlite");
    (void)StepChain(recipe.steps, wanted_of(recipe, Wanted::kAll));
  } catch (const Error& e) {
    if (e.code() != Code::kConfig) throw;
    std::string_view what = e.what();
    if (what.starts_with(name_ + ": ")) what.remove_prefix(name_.size() + 2);
    problems.emplace_back(what);
  }

  void take_part(RecipeTensor& to, const Json& value, const std::string& path,
                 bool beside) {
    const std::string type =
        type_of(value, path, vectorizer_types(),
                [](const VectorizerType* t) { return t->name; });
    const VectorizerType* known = find_vectorizer(type);
    if (known == nullptr) return;
    const bool is_right = check(value, known->keys, path);
    if ((to.name == "id") != (type == "id"))
      add(path + ".type", "id is the type of the tensor id alone");
    to.parts.push_back({known, value, name_ + ": " + path});
    if (is_right) check_work(to.parts.back(), path, beside);
  }

  void take_tensors(const Json& value) {
    if (!value.is_object() || value.empty())
      return add("tensors", "want an object of one tensor or more");
    bool has_features = false;
    for (const auto& [name, tensor] : value.items()) {
      has_features = has_features || name.starts_with("features");
      const std::string path = "tensors." + displayed(name);
      if (!is_tensor(name)) {
        add(path, "want features, features/NAME, labels, labels/NAME or id");
        continue;
      }
      RecipeTensor& made = recipe.tensors.emplace_back();
      made.name = name;
      if (!tensor.is_array() || tensor.empty()) {
        take_part(made, tensor, path, false);
        continue;
      }
      for (std::size_t i = 0; i < tensor.size(); ++i)
        take_part(made, tensor[i], path + "[" + std::to_string(i) + "]",
                  tensor.size() > 1);
    }
    if (!has_features) add("tensors", "want features, or features/NAME");
  }

  std::string name_;
};

}  // namespace

std::span<const SourceType> source_types() { return sources(); }

Recipe Recipe::from_json(const Json& json, const std::string& name, Code code) {
  RecipeCheck reading(json, name);
  std::string text;
  for (const std::string& problem : reading.problems)
    text += (text.empty() ? "" : "\n") + name + ": " + problem;
  if (!text.empty()) throw Error{code, text};
  reading.recipe.name = name;
  return std::move(reading.recipe);
}

Json Recipe::to_json(bool with_classes) const {
  Json all = Json::object();
  bool has_image = false;
  for (const RecipeTensor& tensor : tensors) {
    Json own = Json::array();
    for (const RecipePart& part : tensor.parts) {
      Json json = part.settings().json();
      json["type"] = part.type->name;
      // A row of columns names these, and metadata have no classes then.
      const bool is_row = json.value("encode", Json()) == "one_hot";
      if (tensor.name.starts_with("labels") && !is_row && !with_classes)
        json.erase("classes");
      has_image = has_image || part.type->name == "image";
      own.push_back(json);
    }
    all[tensor.name] = own.size() == 1 ? own[0] : own;
  }
  Json of_source = RecipeSettings(source_given, source->keys).json();
  of_source["type"] = source->name;
  Json json = {
      {"version", kRecipeVersion}, {"source", of_source}, {"tensors", all}};
  if (!series.is_null())
    json["series"] = RecipeSettings(series, series_keys()).json();
  for (const RecipeStep& step : steps)
    json["steps"].push_back(step.settings().json());
  if (has_image) json["libraries"] = decoder_versions();
  return json;
}

std::vector<std::string> Recipe::doubts() const {
  std::vector<std::string> sentences;
  const auto now = decoder_versions();
  for (const auto& [library, version] : libraries.items()) {
    const auto own = now.find(library);
    if (own == now.end() || version == own->second) continue;
    sentences.push_back("the recipe was used with " + displayed(library) + " " +
                        clipped(version.is_string() ? version.get<std::string>()
                                                    : dump_json(version)) +
                        ", this program has " + own->second +
                        ": pixels may differ");
  }
  return sentences;
}

namespace {

// The source, of text in that encoding where one is given.
Json source_of(const Recipe& recipe, const std::string& encoding) {
  Json given = recipe.source_given;
  if (encoding.empty()) return given;
  check_encoding(encoding);
  if (std::ranges::find(recipe.source->keys, "encoding", &RecipeKey::name) ==
      recipe.source->keys.end())
    bad_usage("--encoding is for tables of text, and the recipe's source is " +
              in_quotes(recipe.source->name));
  given["encoding"] = encoding;
  return given;
}

}  // namespace

std::unique_ptr<RecordSource> Recipe::open(Inputs inputs, bool labels,
                                           const std::string& table) const {
  inputs.wanted = wanted_of(*this, labels ? Wanted::kAll : Wanted::kNoLabels);
  const Json given = source_of(*this, inputs.encoding);
  inputs.mark_wins = inputs.encoding.empty();
  if (is_of_tables()) {
    const RecipeSettings settings(given, source->keys);
    if (steps.empty()) return source->open_with(std::move(inputs), settings);
    StepChain chain(steps, inputs.wanted,
                    labels ? std::vector<WantedColumn>{}
                           : wanted_of(*this, Wanted::kLabels));
    inputs.wanted = chain.taken();
    return std::move(chain).over(
        source->open_with(std::move(inputs), settings));
  }
  const std::vector<WantedColumn> wanted = inputs.wanted;
  if (table.empty() && source->open == open_files)
    check_columns(wanted, columns_of_files(), "a file", Code::kConfig);
  auto records = source->open(std::move(inputs), suffixes());
  return table.empty() ? std::move(records)
                       : with_table(std::move(records), table, wanted);
}

std::span<const std::string_view> Recipe::suffixes() const {
  for (const RecipeTensor& tensor : tensors)
    for (const RecipePart& part : tensor.parts)
      if (!part.type->suffixes.empty()) return part.type->suffixes;
  return {};
}

}  // namespace dl::vectorize
