# liedyn_test(name SOURCES file... PACKAGES target...): Google Test files as one program `<name>_test`, one test of ctest.
function(liedyn_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PACKAGES")
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_PACKAGES} liedyn_test_main liedyn_allocation_counter)
  liedyn_compile_options(${name}_test)
  target_compile_options(${name}_test PRIVATE -Wno-shadow)  # a typed test repeats the names of its fixture to use them
  liedyn_optimize(${name}_test 1)  # what takes time when tests run is in the libraries
  liedyn_unity(${name}_test 6)
  target_precompile_headers(${name}_test REUSE_FROM liedyn_test_main)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${LIEDYN_TEST_TIMEOUT} ENVIRONMENT GTEST_BRIEF=1)
endfunction()

set(LIEDYN_TEST_TIMEOUT 1500 CACHE STRING "Seconds after which a test program has failed")
if(LIEDYN_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  add_library(liedyn_test_main OBJECT tests/support/main.cpp)
  target_link_libraries(liedyn_test_main PUBLIC GTest::gmock liedyn_options PRIVATE Eigen3::Eigen fmt::fmt)
  liedyn_compile_options(liedyn_test_main)
  liedyn_optimize(liedyn_test_main 1)  # and with it the precompiled header, which all tests take their level from
  target_precompile_headers(liedyn_test_main PRIVATE ${liedyn_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
endif()
