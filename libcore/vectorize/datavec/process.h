// A TransformProcess that is being read: the columns by now, and the steps of
// ours so far.

#ifndef DL_LIBCORE_VECTORIZE_DATAVEC_PROCESS_H_
#define DL_LIBCORE_VECTORIZE_DATAVEC_PROCESS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/json.h"

namespace dl::vectorize::datavec {

enum class ColumnKind { kInteger, kReal, kText, kCategory, kTime, kTruth };

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kText;
  std::vector<std::string> states = {};  // of a category
  Json bounds = Json::object();          // its metadata
  bool is_raw = true;                    // a text of the input
};

// An object with its class, "RemoveColumnsTransform".
struct Named {
  std::string name;
  JsonView of;
};
// Throws Error: kData, it has no class.
Named named(const JsonView& object);

class Process {
 public:
  std::vector<Column> columns;
  Json steps = Json::array();
  std::vector<std::string> notes;

  // Throws Error: kData, there is none.
  Column& column(const std::string& name);
  std::size_t place(const std::string& name);
  void step(Json step) { steps.push_back(std::move(step)); }
  // The column becomes, or is made, what a formula says.
  void let(const std::string& name, const std::string& be, ColumnKind kind);
  void note(const std::string& text);
};

// The column, and a text or number, as formulas have them.
std::string in_formula(std::string_view column);
std::string text_literal(std::string_view text);
std::string constant(const Json& value);
// A value that is an object of its own: {"DoubleWritable": {"value": 1}}.
Json value_of_writable(const JsonView& writable);

// A condition, as a formula of ours.
// Throws Error: kData, there is none.
std::string condition(Process& process, const JsonView& object);
// Whether a value of the column is what its metadata ask for.
std::string is_valid(const Column& column);

// Throws Error: kData, there is no such step of ours.
void take_transform(Process& process, const JsonView& object);
void take_filter(Process& process, const JsonView& object);
void take_reducer(Process& process, const JsonView& object);

}  // namespace dl::vectorize::datavec

#endif  // DL_LIBCORE_VECTORIZE_DATAVEC_PROCESS_H_
