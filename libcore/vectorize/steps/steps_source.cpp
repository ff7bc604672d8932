#include "libcore/vectorize/steps/steps_source.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"

namespace dl::vectorize {

// Steps at work on one row after the other.
class StepRun {
 public:
  // Gives on what comes of a row, which may be nothing, or several.
  using Out = std::function<void(Record&& record)>;

  // names: of chain.made_names().
  StepRun(StepChain chain, const RecordColumns::Names& names, Out out)
      : chain_(std::move(chain)),
        out_(std::move(out)),
        names_(own_copy(names)) {
    for (const StepColumns::Taken& taken : chain_.columns_.taken())
      if (chain_.needed_[taken.slot]) {
        taken_.emplace_back(taken.name);
        slots_.push_back(taken.slot);
      }
    std::erase_if(chain_.steps_, [](const auto& s) { return !s.is_used; });
    left_out_.resize(chain_.steps_.size());
    for (std::size_t i = chain_.steps_.size() + 1; i-- > 0;)
      next_.push_back([this, i](Row&& row) { give(std::move(row), i); });
    std::ranges::reverse(next_);
    for (StepChain::BoundStep& bound : chain_.steps_) try {
        bound.step->start(chain_.columns_.slots());
      } catch (Error& e) {
        e.add_context(bound.place);
        throw;
      }
  }
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  void take(Record&& record) {
    row_.cells.assign(chain_.columns_.slots(), {});
    row_.numbers.assign(chain_.columns_.slots(),
                        std::numeric_limits<double>::quiet_NaN());
    row_.unwritten.clear();
    for (std::size_t i = 0; i < taken_.size(); ++i)
      row_.cells[slots_[i]] = taken_[i].of(record);
    row_.record = std::move(record);
    give(std::move(row_), 0);
  }

  void finish() {
    for (std::size_t i = 0; i < chain_.steps_.size(); ++i)
      chain_.steps_[i].step->finish(next_[i + 1]);
  }

  const StepChain& chain() const { return chain_; }
  // Rows, by each step.
  const std::vector<std::int64_t>& left_out() const { return left_out_; }

 private:
  // Gives a row to step i, or out.
  void give(Row&& row, std::size_t i) {
    ++given_;
    if (i == chain_.steps_.size()) return put(std::move(row));
    StepChain::BoundStep& bound = chain_.steps_[i];
    if (!row.unwritten.empty() && !bound.step->takes_numbers()) row.write();
    try {
      // Counts the row as left out until it is given on.
      const bool leaves_out = bound.step->only_leaves_out();
      if (leaves_out) ++left_out_[i];
      const std::int64_t before = given_;
      bound.step->take(std::move(row), next_[i + 1]);
      if (leaves_out && given_ != before) --left_out_[i];
    } catch (const Error& e) {
      if (e.code() != Code::kData) throw;
      // A step that throws has not taken the row.
      row.record.problem = std::string(e.what()) + " (" + bound.name + ")";
      out_(std::move(row.record));
    }
  }

  void put(Row&& row) {
    values_.clear();
    numbers_.clear();
    for (const std::size_t slot : chain_.slots_) {
      values_.push_back(row.cells[slot]);
      if (!row.numbers.empty()) numbers_.push_back(row.numbers[slot]);
    }
    if (chain_.wants_place_ && row.record.input)
      values_.push_back(row.record.columns.keep(
          place_of(*row.record.input, row.record.line)));
    row.record.columns.rearrange(names_, values_, numbers_);
    row.record.is_sparse = false;
    out_(std::move(row.record));
  }

  StepChain chain_;
  Out out_;
  std::vector<ColumnOfRecords> taken_;
  std::vector<std::size_t> slots_;  // where a row has them
  RecordColumns::Names names_;
  std::vector<Step::Next> next_;  // to step i
  Row row_;                       // memory of the next one
  std::vector<std::string_view> values_;
  std::vector<double> numbers_;
  std::vector<std::int64_t> left_out_;
  std::int64_t given_ = 0;  // rows, to any step
};

// Runs of the same steps, which make one record of a row or none, for several
// threads: one of them at work on a run at a time.
class StepRuns {
 public:
  struct Run {
    Run(const StepChain& chain, const RecordColumns::Names& names)
        : run(chain.again(), names, [this](Record&& record) {
            *made = std::move(record);
            any = true;
          }) {}
    Record* made = nullptr;  // the place of what is made of a row
    bool any = false;
    StepRun run;
  };

  StepRuns(StepChain chain, RecordColumns::Names names)
      : chain_(std::move(chain)), names_(std::move(names)) {}

  std::unique_ptr<Run> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto run = std::move(idle_.back());
        idle_.pop_back();
        return run;
      }
    }
    return std::make_unique<Run>(chain_, names_);
  }
  void put_back(std::unique_ptr<Run> run) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(run));
  }
  // Rows that all runs that were put back left out, by each step.
  std::vector<std::int64_t> left_out() {
    const std::lock_guard lock(mutex_);
    std::vector<std::int64_t> sums;
    for (const auto& idle : idle_) {
      sums.resize(idle->run.left_out().size());
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += idle->run.left_out()[i];
    }
    return sums;
  }

 private:
  const StepChain chain_;
  const RecordColumns::Names names_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Run>> idle_;
};

class StepRows : public RecordSource::Rows {
 public:
  StepRows(std::unique_ptr<Rows> rows, std::shared_ptr<StepRuns> runs)
      : rows_(std::move(rows)), runs_(std::move(runs)), run_(runs_->take()) {}
  ~StepRows() override { runs_->put_back(std::move(run_)); }
  StepRows(const StepRows&) = delete;
  StepRows& operator=(const StepRows&) = delete;

  bool next(Record& record) override {
    while (rows_->next(record)) {
      if (!record.problem.empty()) return true;
      run_->any = false;
      run_->made = &record;
      run_->run.take(std::move(record));
      if (run_->any) return true;
    }
    return false;
  }
  std::size_t bytes() const override { return rows_->bytes(); }

 private:
  std::unique_ptr<Rows> rows_;
  std::shared_ptr<StepRuns> runs_;
  std::unique_ptr<StepRuns::Run> run_;
};

class StepsSource : public RecordSource {
 public:
  StepsSource(StepChain chain, std::unique_ptr<RecordSource> source)
      : names_(std::make_shared<const ColumnNames>(chain.made_names())),
        runs_(std::make_shared<StepRuns>(chain.again(), names_)),
        run_(std::move(chain), names_,
             [this](Record&& record) { made_.push_back(std::move(record)); }),
        source_(std::move(source)) {
    const std::vector<std::string> there = source_->columns();
    for (const StepColumns::Taken& added : run_.chain().added())
      if (std::ranges::find(there, added.name) != there.end())
        bad_data(added.by + ": the table has a column " +
                 in_quotes(added.name) + " already; drop or rename it first");
  }

  bool next(Record& record) override {
    while (made_.empty()) {
      if (ended_) return false;
      Record own;
      if (!source_->next(own)) {
        ended_ = true;
        run_.finish();
      } else if (!own.problem.empty()) {
        made_.push_back(std::move(own));
      } else {
        run_.take(std::move(own));
      }
    }
    record = std::move(made_.front());
    made_.pop_front();
    return true;
  }

  bool gives_rows() const override {
    return source_->gives_rows() && run_.chain().is_row_wise();
  }
  std::unique_ptr<Rows> next_rows(std::int64_t most) override {
    auto rows = source_->next_rows(most);
    if (!rows) return nullptr;
    return std::make_unique<StepRows>(std::move(rows), runs_);
  }

  PassedOver passed_over() const override { return source_->passed_over(); }
  std::vector<std::string> columns() const override {
    return run_.chain().names();
  }
  std::string left_out() const override {
    std::vector<std::int64_t> sums = runs_->left_out();
    sums.resize(run_.left_out().size());
    std::string text;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (const std::int64_t rows = sums[i] + run_.left_out()[i]; rows > 0)
        text += (text.empty() ? "" : ", ") + counted(rows, "row") + " by " +
                run_.chain().step_name(i);
    return text.empty() ? "" : "left out: " + text;
  }

 private:
  RecordColumns::Names names_;
  std::shared_ptr<StepRuns> runs_;  // of next_rows()
  std::deque<Record> made_;
  StepRun run_;  // of next()
  std::unique_ptr<RecordSource> source_;
  bool ended_ = false;
};

std::unique_ptr<RecordSource> StepChain::over(
    std::unique_ptr<RecordSource> source) && {
  return std::make_unique<StepsSource>(std::move(*this), std::move(source));
}

}  // namespace dl::vectorize
