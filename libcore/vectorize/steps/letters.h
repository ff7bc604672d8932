// Capital and small letters of texts in UTF-8, one for one, whatever the
// locale.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_LETTERS_H_
#define DL_LIBCORE_VECTORIZE_STEPS_LETTERS_H_

#include <cwctype>
#include <string>
#include <string_view>

namespace dl::vectorize {

wint_t small_letter(wint_t letter);
wint_t capital_letter(wint_t letter);
// Appends the text with each letter changed; bytes that are no UTF-8 stay.
void change_letters(std::string_view text, wint_t (*change)(wint_t),
                    std::string& to);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_LETTERS_H_
