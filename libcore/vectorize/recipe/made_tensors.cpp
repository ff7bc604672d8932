#include "libcore/vectorize/recipe/made_tensors.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/table/side_by_side.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// Metadata of a tensor "labels", or "labels/NAME".
data::About& about(data::Metadata& metadata, const std::string& tensor) {
  const std::size_t slash = tensor.find('/');
  return slash == std::string::npos ? metadata
                                    : metadata.parts[tensor.substr(slash + 1)];
}

// One of another size may be a pixel off.
bool have_same_proportions(const Vectorizer::Workspace& a,
                           const Vectorizer::Workspace& b) {
  if (a.width == b.width || a.height == b.height)
    return a.width == b.width && a.height == b.height;
  const std::int64_t most = std::max({a.width, a.height, b.width, b.height});
  return std::abs(a.width * b.height - a.height * b.width) <= most;
}

std::string size_of(const Vectorizer::Workspace& picture) {
  return std::to_string(picture.width) + "x" + std::to_string(picture.height);
}

}  // namespace

std::string MadeTensor::file_of(const Record& record) const {
  const auto key = record.columns.place("key");
  for (const std::string& suffix : split(from, ';'))
    if (key && record.columns.contains(suffix))
      return in_quotes(std::string(record.columns.value(*key)) + "." + suffix);
  return in_quotes(from);
}

MadeTensors::MadeTensors(const Recipe& recipe, const RecipeOptions& options)
    : recipe_(recipe.to_json()), options_(options) {
  for (const RecipeTensor& tensor : recipe.tensors)
    if (options.labels || !tensor.name.starts_with("labels"))
      make(tensor, recipe.from);
  start_ = described();
  start_.classes.clear();  // they may grow
  for (auto& [name, part] : start_.parts) part.classes.clear();
}

void MadeTensors::make(const RecipeTensor& tensor, RecipeFrom from) {
  std::vector<std::unique_ptr<Vectorizer>> parts;
  parts.reserve(tensor.parts.size());
  for (const RecipePart& part : tensor.parts) try {
      parts.push_back(
          part.type->make(part.settings(from), known_classes(tensor.name)));
    } catch (Error& e) {
      e.add_context(part.place);
      throw;
    }
  has_pictures_ = has_pictures_ || tensor.parts[0].type->name == "image";
  MadeTensor made{tensor.name, side_by_side(std::move(parts))};
  const Json column = tensor.parts[0].settings().json().at("from");
  if (column.is_string()) made.from = column;
  const data::Field field = made.vectorizer->field();
  made.bytes = static_cast<std::size_t>(field.shape.elements()) *
               tensor::size_of(field.dtype);
  tensors_.push_back(std::move(made));
}

std::vector<std::string> MadeTensors::known_classes(
    const std::string& tensor) const {
  const auto found = options_.classes.find(tensor);
  return found == options_.classes.end() ? std::vector<std::string>{}
                                         : found->second;
}

data::Metadata MadeTensors::described() const {
  data::Metadata metadata;
  for (const MadeTensor& tensor : tensors_) {
    metadata.schema[tensor.name] = tensor.vectorizer->field();
    tensor.vectorizer->describe(about(metadata, tensor.name),
                                tensor.name.starts_with("labels"));
  }
  if (options_.index) metadata.schema["index"] = kIndexField;
  metadata.recipe = recipe_;
  return metadata;
}

data::Metadata MadeTensors::at_start() const {
  data::Metadata metadata = start_;
  for (const MadeTensor& tensor : tensors_)
    if (const auto classes = known_classes(tensor.name); !classes.empty())
      about(metadata, tensor.name).classes = classes;
  return metadata;
}

std::string MadeTensors::warning() const {
  for (const MadeTensor& tensor : tensors_)
    if (std::string text = tensor.vectorizer->warning(); !text.empty())
      return text;
  return "";
}

MadeTensors::Workspaces MadeTensors::workspaces() const {
  Workspaces all;
  all.reserve(tensors_.size());
  for (const MadeTensor& tensor : tensors_)
    all.push_back(tensor.vectorizer->workspace());
  return all;
}

std::size_t MadeTensors::bytes() const {
  std::size_t bytes = 0;
  for (const MadeTensor& tensor : tensors_) bytes += tensor.bytes;
  return bytes;
}

bool MadeTensors::see_in_order() const {
  return std::ranges::any_of(tensors_, [](const MadeTensor& tensor) {
    return tensor.vectorizer->sees_in_order();
  });
}

void MadeTensors::see(Record& record, std::vector<std::int64_t>& seen) const {
  for (const MadeTensor& tensor : tensors_) {
    std::int64_t number = 0;
    if (record.problem.empty()) try {
        tensor.vectorizer->complete(record);
        number = tensor.vectorizer->see(record);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        record.problem = e.what();
      }
    seen.push_back(number);
  }
}

std::vector<std::span<std::byte>> MadeTensors::places(
    data::DataSet& set) const {
  std::vector<std::span<std::byte>> all;
  all.reserve(tensors_.size());
  for (const MadeTensor& tensor : tensors_)
    all.push_back(set.tensors.at(tensor.name).bytes());
  return all;
}

void MadeTensors::put(const Record& record, std::span<const std::int64_t> seen,
                      const Workspaces& workspaces, std::int64_t n,
                      std::span<const std::span<std::byte>> places) const {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const MadeTensor& tensor = tensors_[t];
    if (workspaces[t]) workspaces[t]->filled = 0;
    const auto out = places[t].subspan(
        static_cast<std::size_t>(n) * tensor.bytes, tensor.bytes);
    tensor.vectorizer->put(record, seen[t], workspaces[t].get(), out);
  }
  if (has_pictures_) check_masks(record, workspaces);
}

std::int64_t MadeTensors::filled(const Workspaces& workspaces) {
  std::int64_t filled = 0;
  for (const auto& workspace : workspaces)
    if (workspace) filled += workspace->filled;
  return filled;
}

// A picture among the labels belongs to the one of the features, pixel by
// pixel; turned, or of other proportions, it is of another one.
void MadeTensors::check_masks(const Record& record,
                              const Workspaces& workspaces) const {
  std::size_t picture = tensors_.size();
  const auto is_picture = [&](std::size_t t, const char* kind) {
    return workspaces[t] && workspaces[t]->width > 0 &&
           tensors_[t].name.starts_with(kind);
  };
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (!is_picture(t, "features")) continue;
    if (picture < tensors_.size()) return;  // of several, nobody knows which
    picture = t;
  }
  if (picture == tensors_.size()) return;
  const Vectorizer::Workspace& own = *workspaces[picture];
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (!is_picture(t, "labels")) continue;
    const Vectorizer::Workspace& mask = *workspaces[t];
    if (!have_same_proportions(own, mask))
      bad_data(tensors_[t].file_of(record) + " of " + tensors_[t].name +
               " is " + size_of(mask) + " upright, and " +
               tensors_[picture].file_of(record) + " of " +
               tensors_[picture].name + " is " + size_of(own) +
               ": want the same proportions, turned alike by EXIF");
  }
}

}  // namespace dl::vectorize
