#include "libcore/vectorize/source/ledger.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/failpoint.h"
#include "libcore/io/digest.h"
#include "libcore/io/hex.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/source/ledger_file.h"

namespace dl::vectorize {
namespace {

constexpr std::size_t kTold = 3;  // names in a sentence

// The name that an input has wherever the program is started.
std::string whole_name(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::int64_t ns_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// "3 inputs ...: 'a', 'b', ..."
std::string told(const std::vector<std::string>& names, std::size_t count,
                 const std::string& what) {
  std::string text =
      std::to_string(count) + (count == 1 ? " input " : " inputs ") + what;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? ": " : ", ") + in_quotes(names[i]);
  return count > names.size() ? text + ", ..." : text;
}

// Without what may differ from one run to the next.
Json lasting(Json recipe) {
  recipe.erase("libraries");
  return recipe;
}

}  // namespace

struct Ledger::State {
  LedgerFile file;
  LedgerBy by;
  std::string output;
  // New inputs, in their order.
  std::vector<std::pair<std::string, LedgerEntry>> fresh;
  std::vector<std::string> changed;  // the first of them
  std::size_t changes = 0;
  std::vector<std::string> gone;
  std::set<std::string> elsewhere;  // digests that have another name now
  std::int64_t begun = -1;  // size of the file before begin(); -1: it ended

  bool is_known(const std::string& name, LedgerEntry& now);
  void look_for_gone();
  std::string lines(const data::Metadata& metadata, std::int64_t bytes,
                    const std::string& digest);
};

Ledger::Ledger(const std::string& path, LedgerBy by, std::string output)
    : state_(new State{
          LedgerFile(path, by), by, std::move(output), {}, {}, 0, {}, {}}) {}

Ledger::~Ledger() try {
  if (state_->begun >= 0) state_->file.cut(state_->begun);
} catch (const Error&) {
  // The next run takes it back.
}

void Ledger::begin() {
  State& s = *state_;
  s.begun = s.file.size();
  std::string text;
  if (s.begun == 0)
    text += dump_json({{"ledger", 1}, {"by", word_of(s.by)}}) + "\n";
  s.file.append(text + dump_json({{"begun", whole_name(s.output)}}) + "\n");
}

// An input under another name is known by its contents, and so is one that was
// only touched.
bool Ledger::State::is_known(const std::string& name, LedgerEntry& now) {
  const auto known = file.entries.find(name);
  const bool is_there = known != file.entries.end();
  if (is_there) known->second.seen = true;
  if (is_there && known->second.bytes == now.bytes &&
      known->second.time == now.time)
    return true;
  if (by == LedgerBy::kDigest) {
    now.digest = digest_of_file(name, now.bytes);
    if (!file.digests.insert(now.digest).second) {
      elsewhere.insert(now.digest);
      return true;
    }
  }
  if (is_there && ++changes <= kTold) changed.push_back(name);
  return false;
}

bool Ledger::take(const std::string& path) {
  State& s = *state_;
  struct stat status {};
  // There is nothing to enter of what cannot be read.
  if (!is_utf8(path) || ::stat(path.c_str(), &status) != 0 ||
      !S_ISREG(status.st_mode))
    return true;
  LedgerEntry now{status.st_size, ns_of(status.st_mtim)};
  const std::string name = whole_name(path);
  if (!is_utf8(name))
    throw Error{Code::kNoInput,
                in_quotes(name) +
                    " has a name that is not UTF-8 text, which a ledger cannot "
                    "have; rename its folders"};
  if (s.is_known(name, now)) return false;
  if (s.fresh.empty() && ::stat(s.output.c_str(), &status) == 0)
    throw Error{Code::kCantCreate,
                "there are new inputs, as " + in_quotes(path) + ", and " +
                    in_quotes(s.output) +
                    " is there already; write them to another file, as "
                    "new-$(date +%F-%H%M%S).dls"};
  now.seen = true;
  s.file.entries[name] = now;
  s.fresh.emplace_back(name, std::move(now));
  return true;
}

std::int64_t Ledger::taken() const {
  return static_cast<std::int64_t>(state_->fresh.size());
}

const std::vector<std::string>& Ledger::classes() const {
  return state_->file.classes;
}

void Ledger::check_recipe(const Json& recipe) const {
  const Json& before = state_->file.recipe;
  if (before.is_null() || lasting(before) == lasting(recipe)) return;
  throw Error{Code::kConfig, "the outputs of the ledger " +
                                 state_->file.name() +
                                 " were made by another recipe; give the "
                                 "options of before, or another --ledger"};
}

// Finds inputs that are not there any more, and were not told before.
void Ledger::State::look_for_gone() {
  gone.clear();
  struct stat status {};
  for (const auto& [name, entry] : file.entries)
    if (!entry.seen && !entry.gone && !elsewhere.contains(entry.digest) &&
        ::stat(name.c_str(), &status) != 0 && errno == ENOENT)
      gone.push_back(name);
  std::ranges::sort(gone);
}

std::vector<std::string> Ledger::remarks() {
  State& s = *state_;
  std::vector<std::string> sentences;
  if (s.changes > 0)
    sentences.push_back(told(s.changed, s.changes,
                             "changed and taken again; examples of before "
                             "stay"));
  s.look_for_gone();
  if (!s.gone.empty())
    sentences.push_back(told(
        {s.gone.begin(), s.gone.begin() + static_cast<std::ptrdiff_t>(
                                              std::min(kTold, s.gone.size()))},
        s.gone.size(), "no longer there; examples of before stay"));
  return sentences;
}

std::string Ledger::State::lines(const data::Metadata& metadata,
                                 std::int64_t bytes,
                                 const std::string& digest) {
  look_for_gone();
  std::string text;
  const auto add = [&](const Json& line) { text += dump_json(line) + "\n"; };
  add({{"output", whole_name(output)},
       {"bytes", bytes},
       {"digest", digest},
       {"inputs", fresh.size() + gone.size()},
       {"classes", metadata.classes},
       {"recipe", lasting(metadata.recipe)}});
  for (const auto& [name, entry] : fresh) {
    Json line = {{"name", name}, {"bytes", entry.bytes}, {"time", entry.time}};
    if (!entry.digest.empty()) line["digest"] = entry.digest;
    add(line);
  }
  for (const std::string& name : gone) add({{"gone", name}});
  return text;
}

// Hands the stream on; the inputs are entered around its close().
class Ledger::EnteringSink : public io::Sink {
 public:
  EnteringSink(State& state, std::unique_ptr<io::Sink> sink,
               std::function<data::Metadata()> metadata)
      : Sink(sink->name()),
        state_(state),
        sink_(std::move(sink)),
        metadata_(std::move(metadata)) {}

  void write(std::span<const std::byte> bytes) override {
    failpoint("ledger.output");
    digest_.add(bytes);
    bytes_ += static_cast<std::int64_t>(bytes.size());
    sink_->write(bytes);
  }

  void close() override {
    if (closed_) return;
    const std::int64_t before = state_.file.size();
    const std::string text =
        state_.lines(metadata_(), bytes_, io::hex(digest_.value()));
    failpoint("ledger.begin");
    state_.file.append(text);
    failpoint("ledger.entered");
    try {
      sink_->close();
    } catch (...) {
      state_.file.cut(before);
      throw;
    }
    closed_ = true;
    state_.begun = -1;
    failpoint("ledger.renamed");
    state_.file.append(dump_json({{"in_place", whole_name(state_.output)}}) +
                       "\n");
    failpoint("ledger.end");
  }

 private:
  State& state_;
  std::unique_ptr<io::Sink> sink_;
  std::function<data::Metadata()> metadata_;
  io::Digest digest_;
  std::int64_t bytes_ = 0;
  bool closed_ = false;
};

// Classes that no stream has are none yet.
void Ledger::enter_without_output(data::Metadata metadata) {
  metadata.classes.clear();
  state_->file.append(state_->lines(metadata, 0, "") +
                      dump_json({{"in_place", whole_name(state_->output)}}) +
                      "\n");
  state_->begun = -1;
}

std::unique_ptr<io::Sink> Ledger::entering(
    std::unique_ptr<io::Sink> sink, std::function<data::Metadata()> metadata) {
  return std::make_unique<EnteringSink>(*state_, std::move(sink),
                                        std::move(metadata));
}

}  // namespace dl::vectorize
