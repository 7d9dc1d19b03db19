# What is built on the libraries: the command line, the Python package, tests across folders, benchmarks.
# Each exists as soon as its folder holds a file.

# Only executables link this: a library must not replace malloc in somebody else's program.
add_library(liedyn_allocation_counter OBJECT src/base/allocation_counter.cpp)
target_include_directories(liedyn_allocation_counter PRIVATE ${liedyn_include_directory})
target_link_libraries(liedyn_allocation_counter PRIVATE liedyn_options)
liedyn_compile_options(liedyn_allocation_counter)

# Programs look for shipped models in share/liedyn/models above their own place, here as in an installation.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/liedyn)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/models ${PROJECT_BINARY_DIR}/share/liedyn/models SYMBOLIC)

file(GLOB cli_sources CONFIGURE_DEPENDS cli/*.cpp)
if(cli_sources)
  find_package(CLI11 REQUIRED)
  # All but main() is an object library, which the tests of damaged command lines link too.
  list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/cli/main.cpp)
  add_library(liedyn_commands OBJECT ${cli_sources})
  target_link_libraries(liedyn_commands PUBLIC liedyn CLI11::CLI11)
  liedyn_compile_options(liedyn_commands)
  liedyn_optimize(liedyn_commands 1)
  liedyn_unity(liedyn_commands 9)
  add_executable(liedyn_cli cli/main.cpp)
  set_target_properties(liedyn_cli PROPERTIES OUTPUT_NAME liedyn RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    LIEDYN_HDF5_ARCHIVE ON ENABLE_EXPORTS ON)  # plugins find the library in the program
  target_link_libraries(liedyn_cli PRIVATE liedyn_commands liedyn_allocation_counter)
  liedyn_compile_options(liedyn_cli)
  liedyn_optimize(liedyn_cli 1)
  liedyn_build_information(liedyn_commands)
  # What `liedyn explain` prints and `liedyn new` writes. The reference page is left out: it is made from the lists in the program.
  file(GLOB embedded CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    docs/errors.md docs/glossary.md docs/model_files.md docs/tutorial/*.md docs/howto/*.md docs/coming_from/*.md docs/theory/*.md cli/templates/*.json)
  liedyn_embed(liedyn_commands ${embedded})
endif()

# Messages between the processes of a study: a shared object of its own, which the program loads for --engine mpi only.
# Where only the programs of Open MPI are installed, its compiler names directories that do not exist, with which CMake ends.
find_program(LIEDYN_MPI_COMPILER NAMES mpicxx mpic++)
mark_as_advanced(LIEDYN_MPI_COMPILER)
set(without_mpi 0)
if(LIEDYN_MPI_COMPILER)
  execute_process(COMMAND ${LIEDYN_MPI_COMPILER} -E -include mpi.h -x c++ /dev/null OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE without_mpi)
endif()
if(without_mpi EQUAL 0)
  find_package(MPI COMPONENTS CXX)
endif()
if(TARGET liedyn_cli AND MPI_CXX_FOUND)
  add_library(liedyn_mpi MODULE mpi/liedyn_mpi.cpp)
  set_target_properties(liedyn_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/liedyn)
  target_include_directories(liedyn_mpi PRIVATE ${liedyn_include_directory})
  target_compile_features(liedyn_mpi PRIVATE cxx_std_20)
  target_compile_definitions(liedyn_mpi PRIVATE OMPI_SKIP_MPICXX)
  target_link_libraries(liedyn_mpi PRIVATE MPI::MPI_CXX)
  liedyn_compile_options(liedyn_mpi)
  add_dependencies(liedyn_cli liedyn_mpi)
endif()

# Readers of robots in other programs' formats by the libraries of these: shared objects of their own, loaded for such files only.
find_package(sdformat12 QUIET)
# MuJoCo's own CMake package names a directory of another package, without which CMake ends.
find_path(MUJOCO_INCLUDE_DIRECTORY mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY mujoco)
if(MUJOCO_INCLUDE_DIRECTORY AND MUJOCO_LIBRARY)
  add_library(liedyn_mujoco INTERFACE)
  target_link_libraries(liedyn_mujoco INTERFACE ${MUJOCO_LIBRARY})
  target_include_directories(liedyn_mujoco SYSTEM INTERFACE ${MUJOCO_INCLUDE_DIRECTORY})
endif()
function(liedyn_robot_format name library)
  if(TARGET ${library})
    add_library(liedyn_${name} MODULE formats/${name}.cpp)
    set_target_properties(liedyn_${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/liedyn)
    target_include_directories(liedyn_${name} PRIVATE ${liedyn_include_directory})
    target_compile_features(liedyn_${name} PRIVATE cxx_std_20)
    target_link_libraries(liedyn_${name} PRIVATE ${library} Eigen3::Eigen nlohmann_json::nlohmann_json)
    liedyn_compile_options(liedyn_${name})
    liedyn_optimize(liedyn_${name} 1)
  endif()
endfunction()
liedyn_robot_format(mjcf liedyn_mujoco)
find_package(assimp QUIET)
liedyn_robot_format(meshes assimp::assimp)
liedyn_robot_format(sdf sdformat12::sdformat12)

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp)
if(LIEDYN_PYTHON)
  set(PYBIND11_FINDPYTHON ON)
  find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(pybind11 REQUIRED)
  # The package in the build tree: links to the Python files, next to the compiled module.
  set(package ${PROJECT_BINARY_DIR}/python/liedyn)
  file(MAKE_DIRECTORY ${package})
  file(GLOB old_links ${package}/*)
  foreach(link IN LISTS old_links)
    if(IS_SYMLINK ${link})
      file(REMOVE ${link})
    endif()
  endforeach()
  file(GLOB entries CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/liedyn python/liedyn/*)
  list(REMOVE_ITEM entries __pycache__)
  foreach(entry IN LISTS entries)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/liedyn/${entry} ${package}/${entry} SYMBOLIC)
  endforeach()
  # The figures of the papers are a package of their own, which uses the other one as anybody does.
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/liedyn_reproduce ${PROJECT_BINARY_DIR}/python/liedyn_reproduce SYMBOLIC)
  if(python_sources)
    pybind11_add_module(liedyn_python NO_EXTRAS ${python_sources})
    set_target_properties(liedyn_python PROPERTIES OUTPUT_NAME _liedyn LIBRARY_OUTPUT_DIRECTORY ${package})
    target_link_libraries(liedyn_python PRIVATE liedyn)
    liedyn_compile_options(liedyn_python)
    liedyn_optimize(liedyn_python 1)
    liedyn_unity(liedyn_python 4)
    # A false alarm inside the conversions of Eigen vectors of pybind11.
    set_source_files_properties(python/src/bind_linear.cpp PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
  endif()
endif()

file(GLOB test_sources CONFIGURE_DEPENDS tests/*.cpp)
if(LIEDYN_TESTS AND test_sources)
  liedyn_test(end_to_end SOURCES ${test_sources} PACKAGES liedyn)
  get_property(folders GLOBAL PROPERTY LIEDYN_FOLDERS)
  list(JOIN folders " " folders)
  target_compile_definitions(end_to_end_test
    PRIVATE LIEDYN_SOURCE="${PROJECT_SOURCE_DIR}" LIEDYN_PROGRAM="${PROJECT_BINARY_DIR}/bin/liedyn" LIEDYN_FOLDERS="${folders}")
  # These start many programs, and the search for leaks at the end of each takes seconds.
  set_tests_properties(end_to_end PROPERTIES ENVIRONMENT_MODIFICATION ASAN_OPTIONS=set:detect_leaks=0)
  if(TARGET liedyn_cli)
    add_dependencies(end_to_end_test liedyn_cli)
  endif()
endif()

# What is registered stays in the lists of a program: a program of its own. It shares the kinds of the examples.
if(LIEDYN_TESTS)
  liedyn_test(registration SOURCES tests/registration/registration_test.cpp PACKAGES liedyn)
  target_include_directories(registration_test PRIVATE examples/cpp)
endif()

# Readers under damaged input (tests/fuzz/targets.h).
if(LIEDYN_TESTS)
  add_executable(fuzz_test tests/fuzz/fuzz_test.cpp tests/fuzz/targets.cpp)
  target_link_libraries(fuzz_test PRIVATE liedyn_commands)
  target_include_directories(fuzz_test PRIVATE cli)
  target_compile_definitions(fuzz_test PRIVATE LIEDYN_SOURCE="${PROJECT_SOURCE_DIR}")
  liedyn_compile_options(fuzz_test)
  liedyn_optimize(fuzz_test 1)
  add_test(NAME fuzz COMMAND fuzz_test)
  set_tests_properties(fuzz PROPERTIES TIMEOUT ${LIEDYN_TEST_TIMEOUT})
endif()

file(GLOB accuracy_sources CONFIGURE_DEPENDS benchmarks/accuracy/*.cpp)
if(LIEDYN_TESTS AND accuracy_sources)
  liedyn_test(accuracy SOURCES ${accuracy_sources} PACKAGES liedyn)
endif()

file(GLOB python_tests CONFIGURE_DEPENDS python/tests/*_test.py python/tests/test_*.py)
if(LIEDYN_TESTS AND LIEDYN_PYTHON AND python_tests)
  add_test(NAME python COMMAND Python::Interpreter -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/python/tests)
  set_tests_properties(python PROPERTIES TIMEOUT ${LIEDYN_TEST_TIMEOUT}
    ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;MPLBACKEND=Agg;PYTHONDONTWRITEBYTECODE=1;PATH=${PROJECT_BINARY_DIR}/bin:$ENV{PATH}")
endif()

file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/speed/*.cpp)
if(LIEDYN_BENCHMARKS AND benchmark_sources)
  find_package(benchmark REQUIRED)
  add_executable(speed_benchmark ${benchmark_sources})
  target_link_libraries(speed_benchmark PRIVATE liedyn liedyn_allocation_counter benchmark::benchmark)
  liedyn_compile_options(speed_benchmark)
  if(TARGET liedyn_cli)
    add_dependencies(speed_benchmark liedyn_cli)  # it measures how long the program takes to start
  endif()
endif()

if(LIEDYN_BENCHMARKS)
  add_executable(linear_systems EXCLUDE_FROM_ALL benchmarks/scale/linear_systems.cpp)
  target_link_libraries(linear_systems PRIVATE liedyn)
  liedyn_compile_options(linear_systems)
endif()
