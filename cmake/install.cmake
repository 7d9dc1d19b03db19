# Installation: find_package(liedyn) gives liedyn::liedyn; programs and shipped models sit where programs look for them.
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY LIEDYN_FOLDERS)
list(TRANSFORM folders PREPEND liedyn_)
install(TARGETS liedyn liedyn_options ${folders} EXPORT liedyn-targets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/liedyn)

set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/liedyn)
install(EXPORT liedyn-targets NAMESPACE liedyn:: DESTINATION ${config_directory})
configure_file(cmake/liedyn-config.cmake.in liedyn-config.cmake @ONLY)
write_basic_package_version_file(liedyn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/liedyn-config.cmake ${PROJECT_BINARY_DIR}/liedyn-config-version.cmake
  cmake/FindSuiteSparse.cmake cmake/FindMETIS.cmake DESTINATION ${config_directory})

install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/liedyn)
if(TARGET liedyn_cli)
  install(TARGETS liedyn_cli)
endif()
if(TARGET liedyn_python)
  set(python_directory ${CMAKE_INSTALL_LIBDIR}/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
  install(DIRECTORY python/liedyn DESTINATION ${python_directory} PATTERN __pycache__ EXCLUDE)
  install(TARGETS liedyn_python DESTINATION ${python_directory}/liedyn)
endif()

# The installation is tried from outside: another project builds against it, and the program finds its models.
if(LIEDYN_TESTS)
  set(trial ${PROJECT_BINARY_DIR}/install_trial)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${trial}/prefix)
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installation)
  add_test(NAME install_consumer COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tests/install ${trial}/build --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_PREFIX_PATH=${trial}/prefix -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
    --test-command consumer)
  set_tests_properties(install_consumer PROPERTIES FIXTURES_REQUIRED installation TIMEOUT 120)
  if(TARGET liedyn_cli)
    add_test(NAME install_models COMMAND ${trial}/prefix/bin/liedyn list models)
    set_tests_properties(install_models PROPERTIES FIXTURES_REQUIRED installation PASS_REGULAR_EXPRESSION heavy_top TIMEOUT 60)
  endif()
endif()
