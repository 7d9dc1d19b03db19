# Compiler settings: `liedyn_options` is what every user of the libraries must share (the processor decides the alignment
# of Eigen's types), `liedyn_compile_options(target)` adds what only our own code is compiled with.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

find_program(CCACHE ccache)
if(CCACHE AND PROJECT_IS_TOP_LEVEL)
  # Without the sloppiness ccache keeps nothing that was compiled with a precompiled header; with the base directory
  # all clones of the repository share what it keeps.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${CCACHE})
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
endif()

add_library(liedyn_options INTERFACE)
set_target_properties(liedyn_options PROPERTIES EXPORT_NAME options)
target_compile_features(liedyn_options INTERFACE cxx_std_20)
if(LIEDYN_NATIVE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    target_compile_options(liedyn_options INTERFACE -mcpu=native)
  else()
    # Without AVX-512: blocks of 3x3 and 6x6 do not fill its registers, and GCC 12 warns inside its own header for it
    # (docs/decisions.md).
    target_compile_options(liedyn_options INTERFACE -march=native -mno-avx512f)
  endif()
endif()

function(liedyn_compile_options target)
  target_compile_options(${target} PRIVATE -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  # Clang counts changes of sign among conversions, GCC does not: an int as the index of a std::vector is no loss. Nor does GCC mind a local variable with the name of a static
  # member.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion$<SEMICOLON>-Wno-shadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms inside std::string, as for `"text" + string` (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # And inside the intrinsics of x86-64 where Eigen loads matrices of 3x3 and 3x4 (GCC 12 to 14).
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endfunction()

# liedyn_optimize(target LEVEL): less than -O3 where no inner loop is compiled. Half of the time of a build is optimisation.
function(liedyn_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# liedyn_unity(target SIZE): up to SIZE sources as one, which halves their time: most of it goes to the same headers and
# templates again and again. A small change takes longer to compile. Names in unnamed namespaces must therefore differ within a folder.
function(liedyn_unity target size)
  if(LIEDYN_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # A class of one source that holds one of its unnamed namespace: harmless, as only that source defines it.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# Compiled once for the libraries (by liedyn_base) and once for the tests (by liedyn_test_main).
set(liedyn_common_headers <Eigen/Dense> <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <cmath> <functional> <memory>
  <optional> <span> <string> <string_view> <variant> <vector>)
