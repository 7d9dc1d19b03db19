#include "liedyn/io/message_port.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/mpi_functions.h"

namespace liedyn {
namespace {

class MpiPort : public MessagePort {
 public:
  explicit MpiPort(const MpiFunctions& mpi) : mpi_(mpi) {
    if (!mpi_.start(&rank_, &size_))
      throw InputError("--engine mpi", "MPI cannot be initialised", "start it with mpirun or srun");
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, const std::string& message) override {
    mpi_.send(to, message.data(), static_cast<std::int64_t>(message.size()));
  }
  bool receive(int& from, std::string& message) override {
    std::int64_t size = 0;
    if (!mpi_.probe(&from, &size)) return false;
    message.resize(static_cast<std::size_t>(size));
    mpi_.receive(from, message.data(), size);
    return true;
  }

 private:
  void close(bool lost) override { mpi_.finish(lost); }

  const MpiFunctions& mpi_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<MessagePort> open_mpi() {
  const auto file = find_library("liedyn_mpi.so");
  const std::string hint = "install the package liedyn-mpi, or build with libopenmpi-dev installed";
  if (!file) throw InputError("--engine mpi", "this installation has no support of MPI", hint);
  // The components of MPI libraries look for symbols of the library itself: global.
  void* handle = dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* text = dlerror();
    throw InputError(
        "--engine mpi",
        fmt::format("{} cannot be loaded: {}", file->string(), text != nullptr ? text : "unknown error"),
        "install the package openmpi-bin");
  }
  const auto entry = reinterpret_cast<MpiEntry>(dlsym(handle, kMpiEntry));
  if (entry == nullptr || entry()->version != MpiFunctions::kVersion)
    throw InputError("--engine mpi",
                     fmt::format("{} belongs to another version of the program", file->string()), hint);
  return std::make_unique<MpiPort>(*entry());
}

}  // namespace liedyn
