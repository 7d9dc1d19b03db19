// What the shared object liedyn_mpi.so gives to the program that loads it. Plain C types: the object needs nothing of the library.
#pragma once

#include <cstdint>

namespace liedyn {

struct MpiFunctions {
  static constexpr int kVersion = 1;
  int version;
  bool (*start)(int* rank, int* size);  // false: MPI cannot be initialised
  void (*send)(int to, const char* data, std::int64_t size);
  bool (*probe)(int* from, std::int64_t* size);  // whether a message is there
  void (*receive)(int from, char* data, std::int64_t size);
  void (*finish)(bool lost);
};
// extern "C" const MpiFunctions* liedyn_mpi();
using MpiEntry = const MpiFunctions* (*)();
inline constexpr const char* kMpiEntry = "liedyn_mpi";

}  // namespace liedyn
