// Evaluations of models with several outputs.
//
// Each is of one output, and is chosen by a text: OUTPUT=KIND, as in
// "digit=classification:top=3", or KIND where there is a single output.

#ifndef DL_LIBCORE_EVAL_OUTPUTS_H_
#define DL_LIBCORE_EVAL_OUTPUTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/eval/evaluation.h"

namespace dl::eval {

// Subjects of all outputs; of several, with its name.
using Subjects = std::vector<Subject>;

struct Choice {
  std::string output;             // "": not said
  std::string kind;               // as make_evaluation() takes it
  std::string_view name() const;  // of the kind, without its settings
};
Choice parse_choice(std::string_view text);

// Index of the subject that `text` names. Throws Error: kUsage, none, or it
// does not say which of several.
std::size_t subject_of(std::string_view text, const Subjects& subjects);

std::unique_ptr<Evaluation> make_chosen(std::string_view text,
                                        const Subjects& subjects);

// A text for each evaluation that is asked for: a KIND without its output is of
// every one that it suits; nothing asked: usual.  usual: the kind of each
// subject where nothing is said, or "" where none is.
// Throws Error: kUsage, there is no such output or kind, or it suits none.
std::vector<std::string> choose(const std::vector<std::string>& asked,
                                const std::vector<std::string>& usual,
                                const Subjects& subjects);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_OUTPUTS_H_
