# SuiteSparse::KLU. Debian's SuiteSparse 5 comes without CMake files.
find_path(SuiteSparse_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_KLU_LIBRARY klu)
mark_as_advanced(SuiteSparse_INCLUDE_DIR SuiteSparse_KLU_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse DEFAULT_MSG SuiteSparse_KLU_LIBRARY SuiteSparse_INCLUDE_DIR)

if(SuiteSparse_FOUND AND NOT TARGET SuiteSparse::KLU)
  add_library(SuiteSparse::KLU UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::KLU PROPERTIES
    IMPORTED_LOCATION ${SuiteSparse_KLU_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SuiteSparse_INCLUDE_DIR})
endif()
