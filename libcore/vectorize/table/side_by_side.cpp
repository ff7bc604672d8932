#include "libcore/vectorize/table/side_by_side.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace dl::vectorize {
namespace {

class SideBySide : public Vectorizer {
 public:
  explicit SideBySide(std::vector<std::unique_ptr<Vectorizer>> parts)
      : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      const data::Field field = part->field();
      require(field.dtype == tensor::DType::kF32 && field.shape.rank() == 1,
              "vectorizers side by side that make no row of numbers");
      columns_ += field.shape[0];
      bytes_.push_back(static_cast<std::size_t>(field.shape[0]) *
                       sizeof(float));
    }
  }

  data::Field field() const override {
    return {tensor::DType::kF32, {columns_}};
  }

  std::unique_ptr<Workspace> workspace() const override {
    return std::make_unique<Workspace>();  // all that numbers want
  }

  bool sees_in_order() const override {
    return std::ranges::any_of(
        parts_, [](const auto& part) { return part->sees_in_order(); });
  }
  void complete(Record& record) override {
    for (const auto& part : parts_) part->complete(record);
  }
  std::string warning() const override {
    for (const auto& part : parts_)
      if (std::string text = part->warning(); !text.empty()) return text;
    return "";
  }

  void put(const Record& record, std::int64_t, Workspace* workspace,
           std::span<std::byte> out) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i]->put(record, 0, workspace, out.first(bytes_[i]));
      out = out.subspan(bytes_[i]);
    }
  }

  void describe(data::About& about, bool of_labels) const override {
    for (const auto& part : parts_) {
      data::About own;
      part->describe(own, of_labels);
      for (auto [to, from] : {std::pair{&about.columns, &own.columns},
                              std::pair{&about.targets, &own.targets}})
        to->insert(to->end(), from->begin(), from->end());
    }
  }

 private:
  std::vector<std::unique_ptr<Vectorizer>> parts_;
  std::vector<std::size_t> bytes_;  // of each part
  std::int64_t columns_ = 0;
};

}  // namespace

std::unique_ptr<Vectorizer> side_by_side(
    std::vector<std::unique_ptr<Vectorizer>> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  return std::make_unique<SideBySide>(std::move(parts));
}

}  // namespace dl::vectorize
