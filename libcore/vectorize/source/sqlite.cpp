// Records of the rows that a query gives from SQLite databases, by libsqlite3.

#include <sqlite3.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

std::string quoted_table(const std::string& table) {
  std::string text = "\"";
  for (const char c : table) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

class SqliteSource : public RecordSource {
 public:
  SqliteSource(Inputs inputs, const RecipeSettings& settings)
      : inputs_(std::move(inputs)),
        query_(settings.has("query") ? settings.text("query") : ""),
        table_(settings.has("table") ? settings.text("table") : "") {
    open_next();
  }

  bool next(Record& record) override {
    for (;;) {
      if (!statement_) return false;
      const int result = sqlite3_step(statement_.get());
      if (result == SQLITE_ROW) break;
      if (result != SQLITE_DONE) fail();
      statement_.reset();  // another step would begin it again
      if (opened_ < inputs_.operands.size()) open_next();
    }
    record = {};
    record.input = name_;
    record.unit = "row";
    record.line = ++row_;
    record.columns = RecordColumns(names_);
    for (std::size_t i = 0; i + 1 < names_->size(); ++i)
      (void)record.columns.emplace((*names_)[i], text(i, record));
    (void)record.columns.emplace(kPlaceColumn, place_of(*name_, row_));
    return true;
  }

  std::vector<std::string> columns() const override {
    return {names_->all().begin(), names_->all().end() - 1};
  }

 private:
  [[noreturn]] void fail() const {
    const int code = sqlite3_errcode(database_.get());
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
      throw Error{Code::kIo,
                  *name_ +
                      " is locked by another program that writes it; run this "
                      "again when that is done, or read a copy, as sqlite3 "
                      "FILE '.backup COPY' makes one"};
    bad_data(*name_ + ": " + displayed(sqlite3_errmsg(database_.get())));
  }

  void open_next() {
    const std::string& file = inputs_.operands[opened_++];
    if (!io::names_file(file))
      bad_usage(
          "SQLite reads a database at any place of it: want a file, got " +
          in_quotes(file));
    name_ = std::make_shared<const std::string>(in_quotes(file));
    if (!std::filesystem::is_regular_file(file))
      throw Error{Code::kNoInput, "cannot open " + *name_ +
                                      ": there is no such file, or it is none"};
    statement_.reset();
    sqlite3* opened = nullptr;
    const int result =
        sqlite3_open_v2(file.c_str(), &opened,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) fail();
    // A recipe may come from anywhere: it reads this file alone.
    sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
    constexpr int kWait = 5000;  // milliseconds, for who writes it
    sqlite3_busy_timeout(opened, kWait);
    const std::string query =
        table_.empty() ? query_ : "select * from " + quoted_table(table_);
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(opened, query.c_str(), -1, &made, &rest) !=
        SQLITE_OK)
      fail();
    statement_.reset(made);
    if (made == nullptr || sqlite3_column_count(made) == 0 ||
        sqlite3_stmt_readonly(made) == 0 ||
        std::string_view(rest).find_first_not_of("; \t\r\n") !=
            std::string_view::npos)
      bad_data(*name_ + ": want one query that gives rows, got " +
               in_quotes(clipped(query)));
    row_ = 0;
    take_names();
  }

  void take_names() {
    const int count = sqlite3_column_count(statement_.get());
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(count) + 1);
    for (int i = 0; i < count; ++i)
      names.emplace_back(sqlite3_column_name(statement_.get(), i));
    names.emplace_back(kPlaceColumn);
    auto made = std::make_shared<ColumnNames>();
    for (const std::string& name : names)
      if (!made->add(name))
        bad_data(*name_ + " has two columns " + in_quotes(name) +
                 " in the query, and a recipe finds them by name: say 'as' "
                 "for one");
    names_ = std::move(made);
    check_columns(inputs_.wanted, names, *name_, Code::kData);
  }

  std::string text(std::size_t i, Record& record) const {
    const int column = static_cast<int>(i);
    switch (sqlite3_column_type(statement_.get(), column)) {
      case SQLITE_NULL:
        return "";
      case SQLITE_FLOAT: {  // of which a text has 15 digits only
        char digits[32];
        const auto end =
            std::to_chars(digits, digits + sizeof digits,
                          sqlite3_column_double(statement_.get(), column));
        return {digits, end.ptr};
      }
      case SQLITE_BLOB:
        record.problem = "column " + in_quotes((*names_)[i]) +
                         ": bytes are no text; hex() makes one of them";
        return "";
      default:
        break;
    }
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    if (bytes == nullptr) fail();
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(
                sqlite3_column_bytes(statement_.get(), column))};
  }

  Inputs inputs_;
  std::string query_, table_;
  std::size_t opened_ = 0;
  Database database_;
  Statement statement_;
  std::shared_ptr<const std::string> name_;
  RecordColumns::Names names_;  // and the place
  std::int64_t row_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> open_sqlite(Inputs inputs,
                                          const RecipeSettings& settings) {
  if (inputs.operands.empty()) bad_usage("want a file of SQLite");
  return std::make_unique<SqliteSource>(std::move(inputs), settings);
}

bool is_sqlite(const std::string& file) {
  constexpr std::string_view kStart("SQLite format 3\0", 16);
  std::array<std::byte, kStart.size()> start{};
  const auto source = io::open_source(file);
  std::size_t size = 0;
  while (size < start.size()) {
    const std::size_t n = source->read(std::span(start).subspan(size));
    if (n == 0) break;
    size += n;
  }
  return std::memcmp(start.data(), kStart.data(), kStart.size()) == 0;
}

}  // namespace dl::vectorize
