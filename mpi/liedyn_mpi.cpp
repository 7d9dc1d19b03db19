// liedyn_mpi.so: messages between the processes of a study, through MPI.
#include <mpi.h>

#include <list>
#include <string>

#include "liedyn/io/mpi_functions.h"

namespace {

constexpr int kTag = 1;

// What is on its way: the message must stay until it has gone.
struct Sent {
  std::string data;
  MPI_Request request;
};
std::list<Sent> on_the_way;
MPI_Message matched = MPI_MESSAGE_NULL;

void forget_sent() {
  on_the_way.remove_if([](Sent& one) {
    int done = 0;
    return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
  });
}

bool start(int* rank, int* size) {
  int provided = 0;
  // Cases are run by other threads; all calls of MPI are made by this one.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED)
    return false;
  // A rank that has died is found by its silence, not by the end of the whole job.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  return true;
}

void send(int to, const char* data, std::int64_t size) {
  forget_sent();
  on_the_way.push_back({std::string(data, static_cast<std::size_t>(size)), MPI_REQUEST_NULL});
  Sent& one = on_the_way.back();
  if (MPI_Isend(one.data.data(), static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD, &one.request) !=
      MPI_SUCCESS)
    on_the_way.pop_back();
}

bool probe(int* from, std::int64_t* size) {
  forget_sent();
  int found = 0, count = 0;
  MPI_Status status;
  if (MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &matched, &status) != MPI_SUCCESS ||
      found == 0)
    return false;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *size = count;
  return true;
}

void receive(int /*from*/, char* data, std::int64_t size) {
  MPI_Mrecv(data, static_cast<int>(size), MPI_BYTE, &matched, MPI_STATUS_IGNORE);
}

void finish(bool lost) {
  if (lost) return;  // ranks that do not answer would be waited for without end
  for (Sent& one : on_the_way) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  on_the_way.clear();
  MPI_Finalize();
}

constexpr liedyn::MpiFunctions kFunctions = {
    liedyn::MpiFunctions::kVersion, &start, &send, &probe, &receive, &finish};

}  // namespace

extern "C" __attribute__((visibility("default"))) const liedyn::MpiFunctions* liedyn_mpi() {
  return &kFunctions;
}
