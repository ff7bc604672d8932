#include "libcore/vectorize/table/date_form.h"

#include <algorithm>
#include <cctype>

namespace dl::vectorize {
namespace {

constexpr std::size_t kShortName = 3;  // "mar"
constexpr std::int64_t kNoon = 12;

bool is_of(const DatePiece& piece, std::string_view fields) {
  return piece.field != '\0' &&
         fields.find(piece.field) != std::string_view::npos;
}

std::int64_t digits_of(std::string_view text, std::size_t from) {
  return (text[from] - '0') * 10 + (text[from + 1] - '0');
}

// Seconds that a zone such as +02:00 is before UTC.
Seconds offset_of(std::string_view zone) {
  constexpr std::int64_t kMinute = 60, kHour = 3600;
  if (zone.size() < kShortName) return 0;  // Z
  const std::int64_t seconds =
      digits_of(zone, 1) * kHour +
      (zone.size() > kShortName ? digits_of(zone, zone.size() - 2) * kMinute
                                : 0);
  return zone[0] == '-' ? -seconds : seconds;
}

// The word with capitals where `like` has them: "MAR", "Mar", "mar".
std::string in_case_of(std::string_view like, std::string word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    const auto own = static_cast<unsigned char>(like[i < like.size() ? i : 1]);
    word[i] = static_cast<char>(std::isupper(own) != 0 ? std::toupper(c)
                                                       : std::tolower(c));
  }
  return word;
}

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

}  // namespace

void DateForm::see(std::string_view text, const DatePieces& pieces) {
  bool has_time = false;
  for (const DatePiece& piece : pieces.all()) {
    has_time = has_time || is_of(piece, "HI");
    const bool is_short = piece.text.size() == 1;
    if (is_of(piece, "mdj") && is_short) has_short_ = true;
    if (is_of(piece, "HI") && is_short) has_short_hour_ = true;
    if (piece.field == 'b' && piece.text.size() > kShortName)
      has_whole_name_ = true;
  }
  if (has_time && timed_ != text) timed_ = text;
}

std::string DateForm::text(Seconds time, std::string_view like) const {
  DatePieces pieces;
  (void)format_.parse(like, &pieces);
  const auto has_time = [&] {
    return std::ranges::any_of(pieces.all(), [](const DatePiece& piece) {
      return is_of(piece, "HI");
    });
  };
  if (!has_time() && !timed_.empty()) {
    pieces = {};
    (void)format_.parse(timed_, &pieces);
  }
  for (const DatePiece& piece : pieces.all())
    if (piece.field == 'z') time += offset_of(piece.text);
  CivilTime civil = civil_time(time);
  const bool is_pm = civil.hour >= kNoon;
  if (std::ranges::any_of(pieces.all(), [](const DatePiece& piece) {
        return is_of(piece, "p");
      }))
    civil.hour = civil.hour % kNoon == 0 ? kNoon : civil.hour % kNoon;
  std::string written;
  for (const DatePiece& piece : pieces.all()) put(written, piece, civil, is_pm);
  // A time that no date of the data has.
  if (const std::string iso = date_text(time);
      !has_time() && timed_.empty() && iso.find(':') != std::string::npos)
    written += iso.substr(iso.find(' '));
  return written;
}

void DateForm::put(std::string& to, const DatePiece& like,
                   const CivilTime& time, bool is_pm) const {
  const std::size_t two = has_short_ ? 1 : 2;
  switch (like.field) {
    case 'Y':
      to += padded(time.year, 4);
      break;
    case 'y':
      to += padded(time.year % 100, 2);
      break;
    case 'm':
      to += padded(time.month, two);
      break;
    case 'd':
      to += padded(time.day, two);
      break;
    case 'b': {
      std::string name(month_name(time.month));
      if (!has_whole_name_) name.resize(kShortName);
      to += in_case_of(like.text, std::move(name));
      break;
    }
    case 'j':
      to += padded(time.yearday, has_short_ ? 1 : 3);
      break;
    case 'q':
      to += std::to_string((time.month + 2) / 3);
      break;
    case 'H':
    case 'I':
      to += padded(time.hour, has_short_hour_ ? 1 : 2);
      break;
    case 'M':
      to += padded(time.minute, 2);
      break;
    case 'S':
      to += padded(time.second, 2);
      break;
    case 'f':
      to += std::string(like.text.size(), '0');
      break;
    case 'p': {
      const bool has_points = like.text.size() > 2;
      to += in_case_of(like.text, std::string(is_pm ? "p" : "a") +
                                      (has_points ? ".m." : "m"));
      break;
    }
    default:
      to += like.text;  // also of a zone
  }
}

}  // namespace dl::vectorize
