# Installation in four components, which are also the packages of cmake/package.cmake: `program` with the shipped models, which sit
# where programs look for them, `dev` for find_package(liedyn), which gives liedyn::liedyn, `python`, and `mpi`.
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY LIEDYN_FOLDERS)
list(TRANSFORM folders PREPEND liedyn_)
install(TARGETS liedyn liedyn_options ${folders} EXPORT liedyn-targets
  ARCHIVE COMPONENT dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
if(NOT LIEDYN_NATIVE)
  # The archives were compiled for the first processors of the architecture. A user who compiles for a newer one would otherwise have
  # another alignment of Eigen's types, and another way to free their memory.
  target_compile_definitions(liedyn_options INTERFACE $<INSTALL_INTERFACE:EIGEN_MAX_ALIGN_BYTES=16>)
endif()

set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/liedyn)
install(EXPORT liedyn-targets NAMESPACE liedyn:: DESTINATION ${config_directory} COMPONENT dev)
configure_file(cmake/liedyn-config.cmake.in liedyn-config.cmake @ONLY)
write_basic_package_version_file(liedyn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/liedyn-config.cmake ${PROJECT_BINARY_DIR}/liedyn-config-version.cmake
  cmake/FindSuiteSparse.cmake cmake/FindMETIS.cmake cmake/header_version.cmake DESTINATION ${config_directory} COMPONENT dev)

# A wheel has places of its own for programs and data; scikit-build-core names them.
set(program_directory ${CMAKE_INSTALL_BINDIR})
set(data_directory ${CMAKE_INSTALL_DATADIR})
if(SKBUILD)
  set(program_directory ${SKBUILD_SCRIPTS_DIR})
  set(data_directory ${SKBUILD_DATA_DIR}/share)
endif()
install(DIRECTORY models DESTINATION ${data_directory}/liedyn COMPONENT program)
if(TARGET liedyn_cli)
  install(TARGETS liedyn_cli DESTINATION ${program_directory} COMPONENT program)
  # bash-completion looks for the script of a program here when its name is first typed. The program itself writes it.
  set(completion ${PROJECT_BINARY_DIR}/completion/liedyn)
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/completion\")
    execute_process(COMMAND \"$<TARGET_FILE:liedyn_cli>\" completion bash OUTPUT_FILE \"${completion}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(FILES ${completion} DESTINATION ${data_directory}/bash-completion/completions COMPONENT program)
endif()
if(TARGET liedyn_mpi AND NOT SKBUILD)
  install(TARGETS liedyn_mpi DESTINATION lib/liedyn COMPONENT mpi)
endif()
foreach(format mjcf sdf meshes)
  if(TARGET liedyn_${format} AND NOT SKBUILD)
    install(TARGETS liedyn_${format} DESTINATION lib/liedyn COMPONENT robots)
  endif()
endforeach()
if(TARGET liedyn_python)
  # The directory below the prefix where this interpreter looks for packages, if it looks there at all.
  execute_process(COMMAND ${Python_EXECUTABLE} -c
    "import sys; print(*[p for p in sys.path if p.startswith(sys.argv[1] + '/lib') and p.endswith('-packages')][:1])" ${CMAKE_INSTALL_PREFIX}
    OUTPUT_VARIABLE python_directory OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(python_directory)
    cmake_path(RELATIVE_PATH python_directory BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  else()
    set(python_directory lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
  endif()
  set(LIEDYN_PYTHON_DIRECTORY ${python_directory} CACHE STRING "Where the Python package is installed, below the prefix")
  set(python_directory ${LIEDYN_PYTHON_DIRECTORY})
  if(SKBUILD)
    set(python_directory ${SKBUILD_PLATLIB_DIR})
  endif()
  install(DIRECTORY python/liedyn python/liedyn_reproduce DESTINATION ${python_directory} COMPONENT python PATTERN __pycache__ EXCLUDE)
  install(TARGETS liedyn_python DESTINATION ${python_directory}/liedyn COMPONENT python)
endif()

# The installation is tried from outside: another project builds against it and simulates, and the program finds its models.
if(LIEDYN_TESTS)
  set(trial ${PROJECT_BINARY_DIR}/install_trial)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${trial}/prefix)
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installation)
  add_test(NAME install_consumer COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tests/install ${trial}/build --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_PREFIX_PATH=${trial}/prefix -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
    --test-command consumer ${PROJECT_SOURCE_DIR}/models/heavy_top/model.json)
  set_tests_properties(install_consumer PROPERTIES FIXTURES_REQUIRED installation FIXTURES_SETUP consumer TIMEOUT 300)
  # Programs in C++, each of which compares itself with a closed form, and a plugin.
  add_test(NAME install_examples COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/examples/cpp ${trial}/examples --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_PREFIX_PATH=${trial}/prefix -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
    --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure)
  set_tests_properties(install_examples PROPERTIES FIXTURES_REQUIRED installation FIXTURES_SETUP examples TIMEOUT 600)
  if(TARGET liedyn_cli)
    # z = -(m/c) ln cosh(t sqrt(g c/m)) of examples/cpp/own_force.cpp
    add_test(NAME install_plugin COMMAND ${trial}/prefix/bin/liedyn run ${PROJECT_SOURCE_DIR}/examples/cpp/falling_sphere.json
      --plugin ${trial}/examples/libdrag.so --json)
    set_tests_properties(install_plugin PROPERTIES FIXTURES_REQUIRED "installation;examples" TIMEOUT 60
      PASS_REGULAR_EXPRESSION "-30\\.2289680219")
    if(TARGET liedyn_python)   # the example of the gallery that needs this plugin
      add_test(NAME install_gallery COMMAND Python::Interpreter -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/python/tests/test_gallery.py -k force_in_cpp)
      set_tests_properties(install_gallery PROPERTIES FIXTURES_REQUIRED "installation;examples" TIMEOUT 120 ENVIRONMENT
        "PYTHONPATH=${PROJECT_BINARY_DIR}/python;MPLBACKEND=Agg;PYTHONDONTWRITEBYTECODE=1;PATH=${PROJECT_BINARY_DIR}/bin:$ENV{PATH};LIEDYN_PLUGIN=${trial}/examples/libdrag.so")
    endif()
    add_test(NAME install_plugin_of_another_version COMMAND ${trial}/prefix/bin/liedyn list elements --plugin ${trial}/build/libother_version.so)
    add_test(NAME install_no_plugin COMMAND ${trial}/prefix/bin/liedyn list elements --plugin ${trial}/build/libno_plugin.so)
    set_tests_properties(install_plugin_of_another_version PROPERTIES PASS_REGULAR_EXPRESSION
      "libother_version.so: was compiled for version 0.0.1, but this is ${PROJECT_VERSION}")
    set_tests_properties(install_no_plugin PROPERTIES PASS_REGULAR_EXPRESSION "libno_plugin.so: is not a Liedyn plugin")
    set_tests_properties(install_plugin_of_another_version install_no_plugin PROPERTIES FIXTURES_REQUIRED "installation;consumer" TIMEOUT 60)
    add_test(NAME install_models COMMAND ${trial}/prefix/bin/liedyn list models)
    set_tests_properties(install_models PROPERTIES FIXTURES_REQUIRED installation PASS_REGULAR_EXPRESSION heavy_top TIMEOUT 60)
    add_test(NAME install_doctor COMMAND ${trial}/prefix/bin/liedyn doctor WORKING_DIRECTORY ${trial})
    set_tests_properties(install_doctor PROPERTIES FIXTURES_REQUIRED installation PASS_REGULAR_EXPRESSION "All that is needed works" TIMEOUT 60)
  endif()
endif()
