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
  cmake/FindSuiteSparse.cmake DESTINATION ${config_directory})

install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/liedyn)
if(TARGET liedyn_cli)
  install(TARGETS liedyn_cli)
endif()
if(TARGET liedyn_python)
  set(python_directory ${CMAKE_INSTALL_LIBDIR}/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
  install(DIRECTORY python/liedyn DESTINATION ${python_directory} PATTERN __pycache__ EXCLUDE)
  install(TARGETS liedyn_python DESTINATION ${python_directory}/liedyn)
endif()
