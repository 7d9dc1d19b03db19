// A record of what was calculated, in order: each entry is a number that depends on at most two earlier ones, with its two partial derivatives. Derivatives go
// through it forwards, from parameters to all that depends on them, or backwards, from one result to all that it depends on.
//
// A run is recorded in pieces. The beginning (numbers that follow from the parameters) stays; behind it stands one step at a time, which is forgotten when the next
// one begins:
//
//   0 | beginning ... | numbers of the state at the start of the step | what the step calculates ...
//
// Number 0 is every constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace liedyn {

class Tape {
 public:
  using Id = std::int32_t;
  enum class Sweep { Forwards, Backwards };

  // Forwards: with respect to how many parameters.
  explicit Tape(Sweep sweep, std::size_t directions = 0);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // The tape that numbers of this thread record on while this object lives.
  class Use {
   public:
    explicit Use(Tape& tape) : before_(current_) { current_ = &tape; }
    ~Use() { current_ = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Tape* before_;
  };
  static Tape& current() { return *current_; }

  Sweep sweep() const { return sweep_; }
  std::size_t directions() const { return directions_; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - entries_.data()); }

  // d = da a' + db b'
  Id push(Id a, double da, Id b = 0, double db = 0) {
    if (next_ == end_) grow();
    *next_ = {a, b, da, db};
    return static_cast<Id>(next_++ - entries_.data());
  }

  // A number that does not depend on any other. Forwards: with derivative 1 in this direction (-1: none).
  Id independent(int direction = -1);

  // Numbers that depend on `inputs` by a linear map that the caller applies, and whose transpose he applies when the tape is read backwards; both may be called any
  // number of times. Forwards it is asked for several columns at once, the numbers of which stand side by side: in[i * columns + k]. Returns the first of `outputs`
  // consecutive numbers.
  using LinearMap = std::function<void(const double* in, double* out)>;
  using ColumnsMap = std::function<void(const double* in, double* out, std::size_t columns)>;
  Id call(std::span<const Id> inputs, std::size_t outputs, const ColumnsMap& forwards, LinearMap backwards);

  // Whatever stands on the tape now is its beginning.
  void end_beginning();
  std::size_t beginning() const { return beginning_; }
  // The end of a step: forgets all but the beginning, and gives these numbers new places behind it. Forwards they keep their derivatives; numbers without become
  // constants.
  void restart(std::span<Id* const> kept);

  // Forwards: derivatives of a number, one per direction.
  void derivatives(Id id, double* out);

  // Backwards: weights of numbers on what is to be differentiated, for all numbers on the tape; zero at first.
  class Weights {
   public:
    double& operator[](Id id);
    double of(Id id) const {
      return static_cast<std::size_t>(id) < w_.size() ? w_[static_cast<std::size_t>(id)] : 0;
    }

   private:
    friend class Tape;
    std::vector<double> w_;
  };
  // Through what stands behind the beginning. Weights of numbers there are spent; those of the state and of the beginning remain.
  void backwards(Weights& weights, std::size_t state_numbers) const;
  // Through the beginning, at last: weights of its independent numbers remain.
  void backwards_through_beginning(Weights& weights) const;

  // The number of bytes of the longest record so far, with its matrices.
  std::size_t most_bytes() const { return most_bytes_; }

 private:
  struct Entry {
    Id a, b;
    double da, db;
  };
  struct Call {
    std::size_t place;  // of its first output
    std::vector<Id> inputs;
    std::size_t outputs;
    LinearMap backwards;
  };
  static constexpr std::size_t kBlock = 8;  // directions that go forwards together

  void grow();
  void go_forwards();
  template <std::size_t Width>
  static void go_forwards(const Entry* entries, std::size_t begin, std::size_t end, double* slopes);
  void backwards(Weights& weights, std::size_t from, std::size_t to) const;

  static thread_local constinit Tape* current_;

  Sweep sweep_;
  std::size_t directions_, width_;
  std::vector<Entry> entries_;
  Entry *next_, *end_;
  std::vector<Call> calls_;
  std::size_t calls_of_beginning_ = 0, beginning_ = 1;
  // Forwards: per block of directions, `width_` derivatives per number; known up to here.
  std::vector<std::vector<double>> slopes_;
  std::size_t known_ = 1;
  std::vector<double> in_, out_;  // of calls and restarts
  std::size_t most_bytes_ = 0;
};

}  // namespace liedyn
