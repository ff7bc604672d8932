// The screen that Classification prints.

#include <ostream>

#include "libcore/base/number_format.h"
#include "libcore/eval/classification.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

constexpr std::int64_t kMaxMatrix = 20;    // classes of a printed confusion
constexpr std::int64_t kMaxClasses = 100;  // classes listed one by one

void warn_left_out(std::ostream& out, const std::vector<Counts>& counts) {
  int unguessed = 0, absent = 0;
  for (const Counts& c : counts) {
    if (c.tp + c.fp == 0) ++unguessed;
    if (c.tp + c.fn == 0) ++absent;
  }
  if (unguessed > 0)
    out << "classes never predicted, left out of precision_macro: " << unguessed
        << '\n';
  if (absent > 0)
    out << "classes without examples, left out of recall_macro: " << absent
        << '\n';
}

}  // namespace

void Classification::print(std::ostream& out) const {
  out << "classification: " << classes_ << " classes, "
      << counted(examples_, "example");
  if (classes_ == 2 && threshold_ != 0.5F)
    out << ", threshold " << shortest(threshold_);
  out << "\n\n";
  Table table;
  for (const auto& [name, value] : summary())
    if (name != "examples") table.push_back({"  " + name, readable(value)});
  eval::print(out, table);
  const std::vector<Counts> all = counts();
  out << '\n';
  warn_left_out(out, all);
  if (classes_ > kMaxClasses) {
    out << "(" << classes_ << " classes: --json lists them all)\n";
    return;
  }
  table = {{"class", "examples", "precision", "recall", "f1", "mcc"}};
  for (std::int64_t j = 0; j < classes_; ++j) {
    const Counts& c = all[static_cast<std::size_t>(j)];
    table.push_back({name_of(j), std::to_string(c.tp + c.fn),
                     readable(c.precision()), readable(c.recall()),
                     readable(c.f1()), readable(c.mcc())});
  }
  eval::print(out, table);
  print_confusion(out);
}

void Classification::print_confusion(std::ostream& out) const {
  if (classes_ > kMaxMatrix) {
    out << "\n(" << classes_ << " classes: --json has the confusion matrix)\n";
    return;
  }
  out << "\nconfusion matrix: row = actual class, column = predicted class\n";
  Table table = {{""}};
  for (std::int64_t j = 0; j < classes_; ++j) table[0].push_back(name_of(j));
  for (std::int64_t i = 0; i < classes_; ++i) {
    std::vector<std::string> row = {name_of(i)};
    for (std::int64_t j = 0; j < classes_; ++j) {
      const auto cell = confusion_.find({i, j});
      row.push_back(cell == confusion_.end() ? "0"
                                             : std::to_string(cell->second));
    }
    table.push_back(std::move(row));
  }
  eval::print(out, table);
}

}  // namespace dl::eval
