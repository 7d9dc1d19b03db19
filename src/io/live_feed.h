// What pages have to know about a running simulation: its scene, rows of numbers over time, and its status. One thread writes, another reads.
//
// The writer never waits: while the reader copies a row, new ones are kept aside. Memory is limited. Old rows are thinned evenly in time, so that a page that is opened
// late sees the whole motion; the latest are all there, unless the reader is slower than the writer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace liedyn {

class LiveFeed {
 public:
  // ---- the simulation

  // A scene (JSON of its state at time t), to which rows of this many numbers follow. Pages begin anew.
  void open(std::string scene, double t, std::size_t width);
  void add(double t, std::span<const float> row);
  // JSON objects: the status as it is now; the last one of all.
  void set_status(std::string status);
  void end(std::string end);
  // Rows and status that could not be handed over yet.
  void flush();

  // ---- a reader

  class Reader {
   public:
    explicit Reader(std::shared_ptr<LiveFeed> feed) : feed_(std::move(feed)) {}
    // Server-sent events since the last call: `scene`, `rows` {"times": [...], "rows": base64 of 32-bit numbers}, `status`, `end`. Empty: none.
    std::string next();

   private:
    std::shared_ptr<LiveFeed> feed_;
    long scene_ = 0, status_ = 0;
    bool ended_ = false;
    double time_ = 0;  // of the last row
  };

  // Whether all that was written has been read by somebody up to the end; for those who wait a moment before they close.
  bool end_was_read() const;

 private:
  struct Rows {
    std::vector<double> times;
    std::vector<float> data;
    void add(double t, std::span<const float> row);
    // Rows after a time, at most `most` numbers of them, go to `out`.
    void copy_after(double t, std::size_t width, std::size_t most, Rows& out) const;
  };
  bool try_hand_over();
  void keep(double t, std::span<const float> row);

  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> scene_;
  long scene_count_ = 0, status_count_ = 0;
  std::size_t width_ = 0, limit_ = 0;
  Rows history_, recent_;
  long count_ = 0, stride_ = 1;  // rows so far, and every which is in the history
  std::string status_, end_;
  bool end_was_read_ = false;
  // Of the writer alone.
  Rows waiting_;
  std::optional<std::string> waiting_status_;
};

}  // namespace liedyn
