// Upload and normalization of one input on a lane.

#include "libcore/nn/lane/lane_input.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"

namespace dl::nn {

using tensor::Shape;
using tensor::Tensor;
using tensor::View;

Share share_of(int lane, int lanes, std::int64_t total) {
  const std::int64_t each = total / lanes, more = total % lanes;
  return {lane * each + std::min<std::int64_t>(lane, more),
          each + (lane < more ? 1 : 0), total};
}

const Tensor& take_rows(Tensor& staged, const Tensor& all, Share rows,
                        const Shape& row) {
  if (rows.first == 0 && all.shape() == row.with_first(rows.count)) return all;
  staged.resize(all.dtype(), row.with_first(rows.count));
  const auto bytes =
      static_cast<std::size_t>(row.elements()) * tensor::size_of(all.dtype());
  std::memcpy(staged.bytes().data(),
              all.bytes().data() + static_cast<std::size_t>(rows.first) * bytes,
              static_cast<std::size_t>(rows.count) * bytes);
  return staged;
}

namespace {

View upload(device::Device& device, Memory& memory,
            const std::vector<double>& values) {
  Tensor host(tensor::DType::kF64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), host.as<double>().begin());
  const View view = memory.allocate(host.shape());
  device.upload(view, host);
  return view;
}

}  // namespace

Scale::Scale(device::Device& device, Memory& memory,
             const data::Normalizer& from) {
  if (from.changes_nothing()) return;
  shift = upload(device, memory, from.shift);
  scale = upload(device, memory, from.scale);
}

LaneInput::LaneInput(device::Device& device, Memory& memory,
                     const ValueSpec& form, const data::Normalizer& normalizer,
                     std::int64_t max_batch)
    : device_(&device), form_(form), scale_(device, memory, normalizer) {
  if (form.tokens && !scale_.empty())
    throw Error{Code::kConfig,
                "an input of token numbers may not be normalized; want "
                "--normalize none"};
  if (form.steps) mask_room_ = memory.allocate({max_batch, form.shape[0]});
  if (!normalizer.mixes()) return;
  const std::int64_t columns = normalizer.columns(),
                     outputs = normalizer.outputs();
  if (outputs != form.shape.back())
    throw Error{Code::kConfig,
                "the normalizer makes " + std::to_string(outputs) +
                    " columns, the input is " + form.shape.to_string()};
  matrix_ =
      upload(device, memory, normalizer.matrix).reshaped({outputs, columns});
  unmixed_room_ =
      memory.allocate({max_batch * form.shape.elements() / outputs, columns});
}

// Row by row of columns: shifted and scaled, then times the matrix.
void LaneInput::load_mixed(const Tensor& values, Share rows, View to) {
  const std::int64_t outputs = matrix_.shape[0], columns = matrix_.shape[1];
  const std::int64_t each = form_.shape.elements() / outputs;
  const Shape example{each, columns};
  const Tensor& own = take_rows(staged_, values, rows, example);
  const View unmixed = unmixed_room_.at(0, {rows.count * each, columns});
  device_->upload_scaled(unmixed.reshaped(own.shape()), own, scale_.shift,
                         scale_.scale);
  // Columns that go together nearly cancel.
  device_->exact_matmul(to.reshaped({rows.count * each, outputs}), unmixed,
                        false, matrix_, true);
}

void LaneInput::load(const Part& part, Share rows, View to) {
  if (mixes())
    load_mixed(*part.values, rows, to);
  else
    load_columns(*part.values, rows, to);
  load_mask(part, rows);
}

void LaneInput::load_columns(const Tensor& values, Share rows, View to) {
  // The normalizer's columns are those of the data as it was gathered, which
  // may have been flat rows or images.
  Shape row = values.shape().without_first();
  const std::int64_t columns = scale_.shift.elements();
  const bool by_column = !scale_.empty() && columns > 1;
  if (by_column && columns != (row.rank() > 0 ? row.back() : 1))
    row = form_.shape;
  if (by_column && columns != row.back())
    throw Error{Code::kData, "the normalizer has " + std::to_string(columns) +
                                 " columns, the examples are " +
                                 row.to_string()};
  const Tensor& own = take_rows(staged_, values, rows, row);
  const View seen = to.reshaped(own.shape());
  if (scale_.empty())
    device_->upload(seen, own);
  else
    device_->upload_scaled(seen, own, scale_.shift, scale_.scale);
}

void LaneInput::load_mask(const Part& part, Share rows) {
  mask_ = {};
  if (part.mask == nullptr || mask_room_.empty()) return;
  const Shape steps{form_.shape[0]};
  mask_ = mask_room_.at(0, steps.with_first(rows.count));
  const Tensor& given = take_rows(staged_mask_, *part.mask, rows, steps);
  // A step counts or does not, whatever number says so.
  counted_.resize(tensor::DType::kU8, mask_.shape);
  for (std::int64_t i = 0; i < mask_.elements(); ++i)
    counted_.as<std::uint8_t>()[static_cast<std::size_t>(i)] =
        given.value(i) != 0 ? 1 : 0;
  device_->upload(mask_, counted_);
}

}  // namespace dl::nn
