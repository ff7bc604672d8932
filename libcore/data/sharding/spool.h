// Rows in buckets that may be larger than memory.
//
// Rows wait in a buffer for each bucket; a full buffer goes to the end of one
// temporary file, which has no name from the moment it is open, so that no
// exit of the process leaves it behind.  Little data never touch the disk.

#ifndef DL_LIBCORE_DATA_SHARDING_SPOOL_H_
#define DL_LIBCORE_DATA_SHARDING_SPOOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dl::data {

class Spool {
 public:
  // `beside`: a path in the folder that gets the file.  About `memory` bytes
  // are used, and never less than one row a bucket.
  Spool(std::string beside, std::size_t buckets, std::uint64_t memory);
  ~Spool();

  // row: of one byte to 1 GiB.  Throws Error: kCantCreate, kIo.
  void add(std::size_t bucket, std::uint64_t key,
           std::span<const std::byte> row);

  // Gives the rows of a bucket once, sorted by key (equal keys in the order of
  // add()) or as added.  One Reader at a time; no add() after the first.
  class Reader {
   public:
    Reader(Spool& spool, std::size_t bucket, bool sorted);
    ~Reader();
    // The next row, valid until the next call; empty at the end.
    std::span<const std::byte> next();

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How many buckets to use for data of unknown size and rows of about this size.
std::size_t bucket_count(std::size_t row_bytes, std::uint64_t memory);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_SPOOL_H_
