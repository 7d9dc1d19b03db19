// The readers of everything that a user feeds in, as functions of bytes. What a reader refuses is fine, with the exceptions that it promises; a crash, any other exception,
// a leak or a hang is a defect. Two programs call them: fuzz_test (GCC, corpus and random changes, part of ./dev test) and fuzz_libfuzzer (clang, guided by coverage,
// ./dev fuzz).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liedyn::fuzz {

struct Target {
  const char* name;
  // True: the input was accepted. False: refused by one of the promised exceptions. Other exceptions leave it.
  bool (*read)(std::string_view bytes);
  std::vector<std::string> (*seeds)();
  // Only where it is named: a library behind the reader has known defects that nobody here can repair.
  bool by_name = false;
};

const std::vector<Target>& targets();

}  // namespace liedyn::fuzz
