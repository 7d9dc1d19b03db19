// Messages between the processes of one study.
#pragma once

#include <memory>
#include <string>

namespace liedyn {

// All functions are called by one thread.
class MessagePort {
 public:
  virtual ~MessagePort() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Returns at once; messages to one rank arrive in their order.
  virtual void send(int to, const std::string& message) = 0;
  // False: there is no message now.
  virtual bool receive(int& from, std::string& message) = 0;
  // Ends all communication. With `lost`: some ranks do not answer, and are not waited for.
  void finish(bool lost) {
    if (!finished_) close(lost);
    finished_ = true;
  }
  bool finished() const { return finished_; }

 protected:
  virtual void close(bool lost) = 0;

 private:
  bool finished_ = false;
};

// MPI, from a shared object that is loaded only here, so that the program does without MPI otherwise. Throws InputError if it is not installed.
std::unique_ptr<MessagePort> open_mpi();

}  // namespace liedyn
