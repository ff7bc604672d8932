#include "libcore/vectorize/steps/formula.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/error_of.h"

namespace dl::vectorize::formula_test {
namespace {

// The result as a record has it, of a row with these columns.
std::string result(const std::string& text,
                   const std::map<std::string, std::string>& row = {}) {
  StepColumns columns;
  const Formula formula(text, columns);
  std::vector<std::string_view> cells(columns.slots());
  for (const StepColumns::Taken& taken : columns.taken())
    cells[taken.slot] = row.at(taken.name);
  Scratch scratch;
  return std::string(
      text_of(formula.run(cells, scratch), formula.type(), scratch));
}

std::string refusal(const std::string& text) {
  return error_of([&] {
    StepColumns columns;
    (void)Formula(text, columns);
  });
}

}  // namespace

TEST_CASE("operators bind as in arithmetic") {
  CHECK(result("1 + 2 * 3 - 4 / 8") == "6.5");
  CHECK(result("-2 ^ 2") == "-4");
  CHECK(result("2 ^ -1 ^ 2") == "0.5");
  CHECK(result("(1 + 2) * 3") == "9");
  CHECK(result("10 - 4 - 3") == "3");
  CHECK(result("-7 % 3") == "2");
  CHECK(result("7 % -3") == "-2");
  CHECK(result("1 + 1 == 2 and not 3 < 2 or false") == "true");
  CHECK(result("2 in (1, 2, 3)") == "true");
  CHECK(result("2 not in (1, 3)") == "true");
  CHECK(result("1 <> 2") == "true");
  CHECK(result("0.1 + 0.2") == "0.30000000000000004");
}

TEST_CASE("texts of the input are what a formula wants of them") {
  CHECK(result("a + 1", {{"a", " 2.5 "}}) == "3.5");
  CHECK(result("a == 'x'", {{"a", "x"}}) == "true");
  CHECK(result("a == 1", {{"a", "1.0"}}) == "true");
  CHECK(result("a == b", {{"a", "1.0"}, {"b", "1"}}) == "true");
  CHECK(result("a < b", {{"a", "10"}, {"b", "9"}}) == "false");
  CHECK(result("a < b", {{"a", "10x"}, {"b", "9"}}) == "true");
  CHECK(result("not a", {{"a", "True"}}) == "false");
  CHECK(result("year(a) + `b c`", {{"a", "2024-02-29"}, {"b c", "1"}}) ==
        "2025");
  CHECK(error_of([] {
          (void)result("a + 1", {{"a", "x"}});
        }) == "65: column 'a': want a number, got 'x'");
  CHECK(error_of([] {
          (void)result("day(a)", {{"a", "2024-13-01"}});
        }) == "65: column 'a': want a date, as 2024-12-31, got '2024-13-01'");
}

TEST_CASE("number and date take any text") {
  CHECK(result("number('12') + 1") == "13");
  CHECK(result("number(extract(a, '[0-9]+$')) * 2", {{"a", "n 21"}}) == "42");
  CHECK(result("number(extract(a, '[0-9]+$'))", {{"a", "n"}}) == "");
  CHECK(result("number(trim(a))", {{"a", " 1e3 "}}) == "1000");
  CHECK(result("number(text(1.5))") == "1.5");
  CHECK(result("number(3 > 2) + number(3 < 2)") == "1");
  CHECK(result("date(concat(y, '-0', m, '-05'))",
               {{"y", "2024"}, {"m", "2"}}) == "2024-02-05");
  CHECK(result("year(date(replace(a, '/', '-')))", {{"a", "2024/02/05"}}) ==
        "2024");
  CHECK(result("date(trim(a))", {{"a", " "}}) == "");
  CHECK(error_of([] {
          (void)result("number(trim(a))", {{"a", "x"}});
        }) == "65: number(): want a number, got 'x'");
  CHECK(error_of([] {
          (void)result("date(trim(a))", {{"a", "5.1."}});
        }) == "65: date(): want a date, as 2024-12-31, got '5.1.'");
  CHECK(refusal("number('x')") == "78: number(): want a number, got 'x'");
  CHECK(refusal("number(date('2024-01-01'))") ==
        "78: 'number' wants a number, got a date");
  CHECK(refusal("trim(a) + 1") ==
        "78: '+' wants a number, got a text; number() makes one of it");
  CHECK(refusal("day(trim(a))") ==
        "78: 'day' wants a date, got a text; date() makes one of it");
}

TEST_CASE("a missing value makes the result missing, by SQL's logic of three") {
  CHECK(result("a + 1", {{"a", ""}}) == "");
  CHECK(result("a > 1", {{"a", ""}}) == "");
  CHECK(result("a > 1 and false", {{"a", ""}}) == "false");
  CHECK(result("a > 1 or true", {{"a", ""}}) == "true");
  CHECK(result("a > 1 or false", {{"a", ""}}) == "");
  CHECK(result("not (a > 1)", {{"a", ""}}) == "");
  CHECK(result("if(a > 1, 2, 3)", {{"a", ""}}) == "3");
  CHECK(result("is_missing(a)", {{"a", ""}}) == "true");
  CHECK(result("coalesce(a, 5)", {{"a", ""}}) == "5");
  CHECK(result("min(a, 5, 7)", {{"a", ""}}) == "5");
  CHECK(result("concat(a, 'x')", {{"a", ""}}) == "");
  CHECK(result("1 / 0") == "");
  CHECK(result("log(-1)") == "");
  CHECK(result("if(is_number(a), number(a), 0)", {{"a", "x"}}) == "0");
}

TEST_CASE("functions of numbers, texts and dates") {
  CHECK(result("round(2.5) + round(3.5)") == "6");
  CHECK(result("round(1.25, 1)") == "1.2");
  CHECK(result("round(1234, -2)") == "1200");
  CHECK(result("floor(-1.5) + ceil(1.2)") == "0");
  CHECK(result("upper('straße é')") == "STRAßE É");
  CHECK(result("lower('ÀB')") == "àb");
  CHECK(result("length('né')") == "2");
  CHECK(result("substring('héllo', 2, 3)") == "éll");
  CHECK(result("substring('abc', 2)") == "bc");
  CHECK(result("substring('abc', 0, 2)") == "a");
  CHECK(result("substring('abc', 9, 2)") == "");
  CHECK(result("replace('a-b-c', '-', '')") == "abc");
  CHECK(result("concat('a', 1.5, date('2024-01-02'))") == "a1.52024-01-02");
  CHECK(result("trim('  a b ')") == "a b");
  CHECK(result("extract('room 17b', '[0-9]+')") == "17");
  CHECK(result("extract('a', '[0-9]')") == "");
  CHECK(result("matches('a1', '^a')") == "true");
  CHECK(result("date('2024-03-01') - date('2024-02-28')") == "2");
  CHECK(result("date('2024-02-28') + 2") == "2024-03-01");
  CHECK(result("date('2024-02-28') + 0.5") == "2024-02-28 12:00:00");
  CHECK(result("weekday(date('2024-01-01'))") == "0");
  CHECK(result("date('2024-01-01') < '2024-01-02'") == "true");
  CHECK(result("max(date('2024-01-01'), date('2023-01-01'))") == "2024-01-01");
  CHECK(result("'it''s'") == "it's");
}

TEST_CASE("a wrong formula is refused with its place and a remedy") {
  CHECK(refusal("1 +") ==
        "78: character 4: want a number, a name, a 'text' or '(', got the end");
  CHECK(refusal("(1") == "78: character 3: want ')', got the end");
  CHECK(refusal("1 2") ==
        "78: character 3: want an operator, or the end, got '2'");
  CHECK(refusal("'a").find("the quote is not closed") != std::string::npos);
  CHECK(refusal("a $ b").find("stand in backquotes") != std::string::npos);
  CHECK(refusal("3rd + 1").find("'3rd' is no number") != std::string::npos);
  CHECK(refusal("sqr(2)") ==
        "78: character 1: there is no function 'sqr'; did you mean 'sqrt'?");
  CHECK(refusal("abs('x')") ==
        "78: 'abs' wants a number, got a text; number() makes one of it");
  CHECK(refusal("abs(1, 2)") == "78: abs() takes (x), got 2 of them");
  CHECK(refusal("lower(1)") ==
        "78: 'lower' wants a text, got a number; text() makes one of it");
  CHECK(refusal("if(true, 1, 'a')") == "78: 'if' has a number and a text");
  CHECK(refusal("1 and true").find("wants true or false") != std::string::npos);
  CHECK(refusal("matches('a', '(')").find("no regular expression") !=
        std::string::npos);
  CHECK(refusal(std::string(5000, '(')) == "78: it has too many parentheses");
  CHECK(refusal("2" + std::string(10000, '^')).find("78: ") == 0);
}

}  // namespace dl::vectorize::formula_test
