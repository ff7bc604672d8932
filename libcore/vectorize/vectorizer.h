// Vectorizers: from columns of a record to one tensor of an example.
//
// Each type is a constant of a file of its own, which holds all that is to be
// known of it: keys, words, and how it works; vectorizers.inc names them all.
//
// To add one: its file, its line in vectorizers.inc, a test; scripts/generate
// then writes its part of dl-recipe(5).

#ifndef DL_LIBCORE_VECTORIZE_VECTORIZER_H_
#define DL_LIBCORE_VECTORIZE_VECTORIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/vectorize/learner.h"
#include "libcore/vectorize/recipe/keys.h"
#include "libcore/vectorize/record.h"

namespace dl::vectorize {

class Vectorizer {
 public:
  // Buffers that a thread keeps from one record to the next.
  struct Workspace {
    virtual ~Workspace() = default;
    std::int64_t filled = 0;  // missing values that put() filled in
    // Size of the picture that put() read, upright; 0 if it reads none.
    std::int64_t width = 0, height = 0;
  };

  virtual ~Vectorizer() = default;

  // Type and shape of the tensor of an example.
  virtual data::Field field() const = 0;

  // Called with every record of the input, in order, by one thread at a time,
  // before put(): for a number that follows from the order, as that of a class
  // does.  put() is given it.
  // Throws Error: kData, without the record's name.
  virtual std::int64_t see(const Record& record) {
    static_cast<void>(record);
    return 0;
  }
  // Whether see() or complete() goes by the order; else several threads may
  // call them, in any.
  virtual bool sees_in_order() const { return false; }

  // Called as see(), before it: adds to the record all that put() takes of the
  // records before.  Throws Error: as see().
  virtual void complete(Record& record) { static_cast<void>(record); }

  virtual std::unique_ptr<Workspace> workspace() const { return nullptr; }

  // Writes the tensor of a record, decoded, field()'s bytes.  Several threads
  // call it at the same time, each with a workspace of its own, which may be
  // null where workspace() gives null. Throws Error: kData, what is wrong,
  // without the record's name.
  virtual void put(const Record& record, std::int64_t seen,
                   Workspace* workspace, std::span<std::byte> out) const = 0;

  // Stored form of the example that put() wrote last with this workspace, where
  // field() has an encoding.
  virtual std::span<const std::byte> encoded(const Workspace* workspace) const {
    static_cast<void>(workspace);
    return {};
  }

  // Names of classes, targets or columns, as far as they are known.  Not while
  // see() runs.
  virtual void describe(data::About& about, bool of_labels) const {
    static_cast<void>(about);
    static_cast<void>(of_labels);
  }
  // A sentence that the user should be warned by, at the end; or "".
  virtual std::string warning() const { return ""; }
};

struct VectorizerType {
  std::string_view name;   // "image"
  std::string_view words;  // its purpose, as dl-recipe(5) has it
  std::vector<RecipeKey> keys;
  // Ends of the names of files that it reads, as Suffixes; none: any.
  std::span<const std::string_view> suffixes = {};
  // classes: names that are known from elsewhere, as from a model; or none.
  std::unique_ptr<Vectorizer> (*make)(const RecipeSettings& settings,
                                      const std::vector<std::string>& classes) =
      nullptr;
  // Gives the one that learns for these settings, null where they lack nothing;
  // or none.
  std::unique_ptr<Learner> (*fit)(const RecipeSettings& settings) = nullptr;
};

// All of them, in the order of dl-recipe(5).
std::span<const VectorizerType* const> vectorizer_types();
// Null if there is none.
const VectorizerType* find_vectorizer(std::string_view name);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_VECTORIZER_H_
