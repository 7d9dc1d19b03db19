# SuiteSparse::KLU and SuiteSparse::CAMD. Debian's SuiteSparse 5 comes without CMake files.
find_path(SuiteSparse_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(components KLU CAMD)
foreach(component IN LISTS components)
  string(TOLOWER ${component} library)
  find_library(SuiteSparse_${component}_LIBRARY ${library})
  mark_as_advanced(SuiteSparse_${component}_LIBRARY)
endforeach()
mark_as_advanced(SuiteSparse_INCLUDE_DIR)

include(${CMAKE_CURRENT_LIST_DIR}/header_version.cmake)
header_version(SuiteSparse_VERSION ${SuiteSparse_INCLUDE_DIR}/SuiteSparse_config.h
  SUITESPARSE_MAIN_VERSION SUITESPARSE_SUB_VERSION SUITESPARSE_SUBSUB_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse
  REQUIRED_VARS SuiteSparse_KLU_LIBRARY SuiteSparse_CAMD_LIBRARY SuiteSparse_INCLUDE_DIR VERSION_VAR SuiteSparse_VERSION)

foreach(component IN LISTS components)
  if(SuiteSparse_FOUND AND NOT TARGET SuiteSparse::${component})
    add_library(SuiteSparse::${component} UNKNOWN IMPORTED)
    set_target_properties(SuiteSparse::${component} PROPERTIES
      IMPORTED_LOCATION ${SuiteSparse_${component}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SuiteSparse_INCLUDE_DIR})
  endif()
endforeach()
