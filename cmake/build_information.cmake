# liedyn_build_information(target): what `liedyn --version` prints besides the version. As a script (cmake -P, at every build)
# this file writes the commit: compiling anew with each commit must not touch more than one small file.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  execute_process(COMMAND git --no-optional-locks describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit unknown)
  endif()
  file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define LIEDYN_COMMIT \"@commit@\"\n" @ONLY)  # left alone if it is the same
  return()
endif()

function(liedyn_build_information target)
  set(header ${PROJECT_BINARY_DIR}/generated/commit.h)
  add_custom_target(liedyn_commit BYPRODUCTS ${header} COMMENT ""
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADER=${header} -P ${PROJECT_SOURCE_DIR}/cmake/build_information.cmake)
  add_dependencies(${target} liedyn_commit)

  set(libraries)
  foreach(package IN LISTS liedyn_packages ITEMS CLI11)
    foreach(version ${package}_VERSION ${package}_VERSION_STRING)
      if(${version})
        list(APPEND libraries "${package} ${${version}}")
        break()
      endif()
    endforeach()
  endforeach()
  list(JOIN libraries ", " libraries)

  string(TOUPPER "${CMAKE_BUILD_TYPE}" kind)
  get_target_property(processor liedyn_options INTERFACE_COMPILE_OPTIONS)
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${kind}}")
  if(processor)
    list(JOIN processor " " processor)
    string(APPEND compiler " ${processor}")
  endif()
  string(REGEX REPLACE " +" " " compiler "${compiler}")
  set_source_files_properties(cli/build_information.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated COMPILE_DEFINITIONS
    "LIEDYN_COMPILER=\"${compiler}\";LIEDYN_LIBRARIES=\"${libraries}\"")
endfunction()
