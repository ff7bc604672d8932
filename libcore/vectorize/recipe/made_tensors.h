// The tensors of a recipe at work: each with the vectorizer that makes it.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_MADE_TENSORS_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_MADE_TENSORS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/recipe/recipe.h"
#include "libcore/vectorize/recipe/recipe_reader.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/vectorizer.h"

namespace dl::vectorize {

struct MadeTensor {
  std::string name;
  std::unique_ptr<Vectorizer> vectorizer;
  std::size_t bytes = 0;  // of an example
  std::string from = {};  // its column, where it takes one

  // The file of an example that it takes, for messages: "'cat/1.mask.png'".
  std::string file_of(const Record& record) const;
};

class MadeTensors {
 public:
  // One for each tensor; null where the vectorizer wants none.
  using Workspaces = std::vector<std::unique_ptr<Vectorizer::Workspace>>;

  // Throws Error: kConfig, "'r.json': tensors.features: ...".
  MadeTensors(const Recipe& recipe, const RecipeOptions& options);

  const std::vector<MadeTensor>& all() const { return tensors_; }
  // The schema of the stream, with "index" where that is wanted.
  const Schema& schema() const { return start_.schema; }
  Workspaces workspaces() const;
  std::size_t bytes() const;  // of an example
  bool see_in_order() const;

  // Metadata with all that is known: not while see() runs.
  data::Metadata described() const;
  // As they are known before the first record.
  data::Metadata at_start() const;
  std::string warning() const;

  // Adds a number for each tensor, by Vectorizer::see(); an error becomes the
  // record's problem.
  void see(Record& record, std::vector<std::int64_t>& seen) const;
  // The memory of each tensor in a set.
  std::vector<std::span<std::byte>> places(data::DataSet& set) const;
  // Writes example n.  seen: the record's, by see().
  // Throws Error: kData.
  void put(const Record& record, std::span<const std::int64_t> seen,
           const Workspaces& workspaces, std::int64_t n,
           std::span<const std::span<std::byte>> places) const;
  // Missing values that put() filled in last.
  static std::int64_t filled(const Workspaces& workspaces);

 private:
  void make(const RecipeTensor& tensor, RecipeFrom from);
  std::vector<std::string> known_classes(const std::string& tensor) const;
  void check_masks(const Record& record, const Workspaces& workspaces) const;

  Json recipe_;
  RecipeOptions options_;
  std::vector<MadeTensor> tensors_;
  bool has_pictures_ = false;
  data::Metadata start_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_MADE_TENSORS_H_
