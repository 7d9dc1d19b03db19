// A list of kinds by name that a program may add to until it is first read. From then on it never changes, so that any number of threads
// may read it and keep pointers into it.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/base/error.h"

namespace liedyn {

template <class Listed>
class Registry {
 public:
  // `what` is for messages: "force". `name` is the name of one of the kinds.
  Registry(std::string what, std::vector<Listed> built_in, const std::string& (*name)(const Listed&))
      : what_(std::move(what)), list_(std::move(built_in)), name_(name) {}

  // The list, from now on as it is.
  const std::vector<Listed>& all() {
    if (!read_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      read_.store(true, std::memory_order_release);
    }
    return list_;
  }

  // Throws InputError if the name is taken, or if the list has been read.
  void add(Listed listed) {
    const std::lock_guard lock(mutex_);
    const std::string path = fmt::format("{} '{}'", what_, name_(listed));
    if (read_.load(std::memory_order_acquire))
      throw InputError(path, "registered too late: the lists of kinds are in use",
                       "register before the first model is read or built");
    for (const Listed& known : list_)
      if (name_(known) == name_(listed)) throw InputError(path, "this name is taken", "choose another name");
    list_.push_back(std::move(listed));
  }

 private:
  std::string what_;
  std::vector<Listed> list_;
  const std::string& (*name_)(const Listed&);
  std::mutex mutex_;
  std::atomic<bool> read_ = false;
};

}  // namespace liedyn
