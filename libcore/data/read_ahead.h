// Records of a stream, the next ones read and unpacked by a thread of their own
// while the caller works on one.
//
// Only what is there is read ahead.  Where the next record comes when the last
// one has been answered, as in a dialog, the caller reads it itself: it is
// not handed from thread to thread first.

#ifndef DL_LIBCORE_DATA_READ_AHEAD_H_
#define DL_LIBCORE_DATA_READ_AHEAD_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "libcore/data/examples.h"
#include "libcore/data/format/dataset.h"

namespace dl::data {

// Used by one thread.
class ReadAhead {
 public:
  // Called on each record, in order; not always on the same thread.
  using Prepare = std::function<void(DataSet& set)>;

  // The reader is not to be touched until read() has given its last record or
  // thrown, except for its name.
  // Throws Error: kIo, the process has no descriptor left.
  ReadAhead(Examples& reader, Prepare prepare);
  // Waits for the record that is being unpacked, but not for input.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // As Examples::read(); errors, prepare's too, come in the place of their
  // record.
  bool read(DataSet& set);

 private:
  struct Item {
    DataSet set;
    std::size_t bytes = 0;
    bool last = false;  // there is no record: the end, or
    std::exception_ptr error;
  };

  Item fetch();
  void work();
  void start();

  Examples& reader_;
  Prepare prepare_;
  int stop_fd_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::size_t bytes_ = 0;  // of what is ready
  // The reader is the thread's while it reads, else the caller's.
  bool reading_ = false;
  bool ended_ = false, stop_ = false;
  std::thread thread_;  // once there is something for it to do
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_READ_AHEAD_H_
