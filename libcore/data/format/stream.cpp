// Reading and writing of DataSet streams.

#include "libcore/data/format/stream.h"

#include <string_view>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/data/format/end_mark.h"
#include "libcore/data/format/record.h"
#include "libcore/io/digest.h"
#include "libcore/io/zstd.h"

namespace dl::data {

struct RecordPacker::State {
  const Metadata& metadata;
  std::string name;
  io::FrameCompressor compressor;
  std::vector<std::byte> blob;

  PackedRecord pack(const std::map<std::string, std::string>& text,
                    const DataSet& set) {
    encode_record(text, set, blob);
    if (blob.size() > kMaxRecordBytes)
      throw Error{Code::kData,
                  name + ": a record of " + std::to_string(blob.size()) +
                      " bytes is too large; use fewer examples a record"};
    return {compressor.compress(blob), set.examples()};
  }
  PackedRecord pack(const DataSet& set) {
    try {
      metadata.check(set);
    } catch (Error& e) {
      e.add_context(name);
      throw;
    }
    return pack({}, set);
  }
};

RecordPacker::RecordPacker(const Metadata& metadata, std::string name)
    : state_(new State{metadata, std::move(name), {}, {}}) {}
RecordPacker::~RecordPacker() = default;
PackedRecord RecordPacker::pack(const DataSet& set) {
  return state_->pack(set);
}

struct StreamWriter::State {
  std::unique_ptr<io::Sink> sink;
  Metadata metadata;
  RecordPacker::State packer;
  EndMark mark;
  io::Digest digest;
  std::int64_t examples = 0;

  explicit State(std::unique_ptr<io::Sink> target)
      : sink(std::move(target)), packer{metadata, sink->name(), {}, {}} {}

  void append(const PackedRecord& record) {
    sink->write(record.frame);
    digest.add(record.frame);
    mark.records.push_back(
        {mark.bytes, static_cast<std::uint64_t>(record.examples)});
    mark.bytes += record.frame.size();
    examples += record.examples;
  }
};

StreamWriter::StreamWriter(std::unique_ptr<io::Sink> sink)
    : state_(std::make_unique<State>(std::move(sink))) {}
StreamWriter::~StreamWriter() = default;

void StreamWriter::write_metadata(const Metadata& metadata) {
  require(!metadata.schema.empty(), "a DataSet stream is given no schema");
  state_->metadata.update(metadata);
  try {
    state_->append(state_->packer.pack(metadata.to_strings(), {}));
  } catch (Error& e) {
    if (e.code() == Code::kData) e.add_context(state_->sink->name());
    throw;
  }
}

void StreamWriter::write(const DataSet& set) {
  State& s = *state_;
  require(!s.metadata.schema.empty(), "data before their metadata");
  s.append(s.packer.pack(set));
}

void StreamWriter::write(const PackedRecord& record) {
  require(!state_->metadata.schema.empty(), "data before their metadata");
  state_->append(record);
}

void StreamWriter::close() {
  State& s = *state_;
  if (!s.sink) return;
  require(!s.metadata.schema.empty(), "a DataSet stream without metadata");
  s.mark.digest = s.digest.value();
  const std::vector<std::byte> mark =
      encode_mark(s.mark, s.metadata.minor_version());
  s.sink->write(mark);
  s.mark.bytes += mark.size();
  s.sink->close();
  s.sink.reset();
}

std::int64_t StreamWriter::examples() const { return state_->examples; }
std::uint64_t StreamWriter::bytes() const { return state_->mark.bytes; }

struct StreamReader::State {
  io::FrameReader frames;
  std::string name;
  io::Frame frame;
  Form form;
  std::uint64_t most;  // bytes of a record
  Metadata metadata;   // of all parts so far
  Metadata decoded;    // the same of decoded examples, where they differ
  Metadata part;       // of this one
  EndMark seen;        // what its mark must say
  io::Digest digest;
  bool in_metadata = false;  // what is looked at
  bool in_part = false, first_part = true, pending = false, ended = false;
  std::uint64_t part_begin = 0;
  std::int64_t records = 0, examples = 0;
  DataSet next;  // if pending
  // The largest label of the part, while it has no class names yet: the label
  // that is worst.
  std::int64_t worst_label = 0, worst_record = 0;

  State(std::unique_ptr<io::Source> source, std::uint64_t limit, Form wanted)
      : frames(std::move(source), limit),
        name(frames.source().name()),
        form(wanted),
        most(limit) {
    frames.digest_into(&digest);
  }
  bool decodes() const {
    return form == Form::kDecoded && has_encoded(metadata.schema);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error{Code::kData, name + what};
  }
  std::string place() const {
    return name + ", record " + std::to_string(records);
  }

  bool fetch();
  void read_frame();
  void take_record();
  void take_metadata(const std::map<std::string, std::string>& text);
  void take_skippable();
  void watch_labels(const DataSet& set);
  void check_labels() const;
  void end_of_input();
};

// Reads on to a data record, which goes to `next`; false at the end.
bool StreamReader::State::fetch() {
  while (!ended) {
    read_frame();
    if (ended) break;
    if (frame.skippable) {
      take_skippable();
      continue;
    }
    try {
      take_record();
    } catch (Error& e) {
      if (first_part && !in_part)
        fail(" is no DataSet stream: " + std::string(e.what()));
      e.add_context(in_metadata ? name + ", metadata" : place());
      throw;
    }
    if (pending) return true;
  }
  return false;
}

void StreamReader::State::read_frame() {
  try {
    ended = !frames.next(frame);
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;
    if (frames.cut_short()) end_of_input();
    const std::string what = e.what();
    if (frame.offset > 0) throw Error{Code::kData, place() + ": " + what};
    constexpr std::string_view kNoFrame = "no zstd frame";
    fail(" is no DataSet stream" + (what.starts_with(kNoFrame)
                                        ? what.substr(kNoFrame.size())
                                        : ": " + what));
  }
  if (ended) end_of_input();
}

void StreamReader::State::end_of_input() {
  if (!in_part && !first_part && !frames.cut_short()) return;
  frames.source().close();  // a command that failed is the better reason
  if (first_part && !in_part && !frames.cut_short())
    fail(" is empty; a DataSet stream has at least an end mark");
  fail(" ends without an end mark; it was cut short");
}

void StreamReader::State::take_record() {
  in_metadata = false;
  Record record = decode_record(frame.content);
  in_metadata = record.set.tensors.empty();
  if (!in_part) {
    if (!in_metadata)
      throw Error{Code::kData, "data without metadata before them"};
    in_part = true;
    part_begin = frame.offset;
    part = {};
    seen = {};
  }
  if (in_metadata) {
    take_metadata(record.metadata);
  } else {
    decode(record.set, part.schema, most);
    part.check(record.set);
    if (form == Form::kDecoded) {
      record.set.encoded.clear();
      record.set.views.clear();
    }
    if (part.classes.empty()) watch_labels(record.set);
    next = std::move(record.set);
    pending = true;
  }
  const auto n = in_metadata ? 0 : static_cast<std::uint64_t>(next.examples());
  seen.records.push_back({frame.offset - part_begin, n});
  seen.bytes = frame.offset + frame.stored_bytes - part_begin;
}

void StreamReader::State::take_metadata(
    const std::map<std::string, std::string>& text) {
  const Metadata later = Metadata::from_strings(text);
  part.update(later);
  if (part.schema.empty())
    throw Error{Code::kData, "metadata without a schema"};
  if (first_part)
    metadata = part;
  else if (seen.records.empty())
    Metadata(metadata).join(part);  // contradictions are found at once
  if (decodes()) decoded = metadata.decoded();
}

// Class names may come after the data: then the labels are checked late.
void StreamReader::State::watch_labels(const DataSet& set) {
  const tensor::Tensor* labels = set.find("labels");
  if (!labels) return;
  tensor::visit_dtype(labels->dtype(), [&]<typename T>() {
    if constexpr (std::is_integral_v<T>)
      for (const T value : labels->as<T>())
        if (worst_label >= 0 && (value < 0 || value > worst_label)) {
          worst_label = value;
          worst_record = records;
        }
  });
}

void StreamReader::State::check_labels() const {
  const auto classes = static_cast<std::int64_t>(part.classes.size());
  if (classes > 0 && (worst_label < 0 || worst_label >= classes))
    fail(", record " + std::to_string(worst_record) + ": 'labels' has " +
         std::to_string(worst_label) + ", want 0.." +
         std::to_string(classes - 1));
}

void StreamReader::State::take_skippable() {
  std::vector<std::byte> whole(8);
  const auto size = static_cast<std::uint32_t>(frame.content.size());
  for (std::size_t i = 0; i < 4; ++i) {
    whole[i] = static_cast<std::byte>(frame.magic >> (8 * i));
    whole[4 + i] = static_cast<std::byte>(size >> (8 * i));
  }
  whole.insert(whole.end(), frame.content.begin(), frame.content.end());
  if (frame.magic != kMarkMagic) fail(" has a frame that is none of ours");
  std::uint64_t ignored = 0;
  try {
    const EndMark mark = decode_mark(whole, ignored);
    seen.digest = digest.value();
    if (!in_part || !(mark == seen))
      throw Error{Code::kData, "end mark: it does not fit the records"};
  } catch (Error& e) {
    e.add_context(name);
    throw;
  }
  if (first_part)
    metadata = part;
  else
    metadata.join(part);
  if (decodes()) decoded = metadata.decoded();
  check_labels();
  worst_label = worst_record = 0;
  digest = io::Digest();
  in_part = first_part = false;
}

StreamReader::StreamReader(std::unique_ptr<io::Source> source, Form form,
                           std::uint64_t max_record_bytes)
    : state_(
          std::make_unique<State>(std::move(source), max_record_bytes, form)) {
  state_->fetch();
}
StreamReader::~StreamReader() = default;

const Metadata& StreamReader::metadata() const {
  return state_->decodes() ? state_->decoded : state_->metadata;
}
const std::string& StreamReader::name() const { return state_->name; }
std::int64_t StreamReader::examples() const { return state_->examples; }
std::int64_t StreamReader::records() const { return state_->records; }
std::uint64_t StreamReader::bytes() const {
  return state_->frame.offset + state_->frame.stored_bytes;
}

bool StreamReader::read(DataSet& set) {
  State& s = *state_;
  if (!s.pending && !s.fetch()) return false;
  set = std::move(s.next);
  s.pending = false;
  s.records += 1;
  s.examples += set.examples();
  return true;
}

bool StreamReader::ready() const {
  return state_->pending || state_->ended || state_->frames.ready();
}

void StreamReader::stop_at(int stop) { state_->frames.source().stop_at(stop); }

void StreamReader::close() { state_->frames.source().close(); }

}  // namespace dl::data
