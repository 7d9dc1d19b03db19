# `cpack` makes Debian packages of the components of cmake/install.cmake: liedyn (program and models), liedyn-dev (headers and
# libraries), python3-liedyn and liedyn-mpi. `./dev package` builds what they need with the preset `package`.
if(NOT PROJECT_IS_TOP_LEVEL OR SKBUILD)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Liedyn developers <noreply@liedyn.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program dev)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME liedyn)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS python3-liedyn)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program liedyn and the shipped models.\n Plots and reproduced figures need the package python3-liedyn.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME liedyn-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libeigen3-dev, libfmt-dev, libhdf5-dev, libmetis-dev, libnlopt-dev, libspectra-dev, libsuitesparse-dev, liburdfdom-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake, g++")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static libraries and CMake files: find_package(liedyn) gives liedyn::liedyn.")

if(TARGET liedyn_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-liedyn)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  # The compiled module belongs to one minor version of Python, and the models are those of the program.
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "liedyn (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), python3-numpy, python3-matplotlib")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-pandas)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python packages liedyn and liedyn_reproduce, the figures of the papers.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
endif()

if(TARGET liedyn_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME liedyn-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "liedyn (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "Studies on several computers: liedyn sweep --engine mpi.")
endif()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} RENAME copyright COMPONENT ${component})
endforeach()

# A package that was compiled for the machine that made it would end with an illegal instruction on others.
if(LIEDYN_NATIVE)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/refuse_package.cmake @ONLY
    CONTENT "message(FATAL_ERROR \"This build is for the processor of this machine only (LIEDYN_NATIVE is ON).\\nUse ./dev package, or the preset 'package'.\")\n")
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/refuse_package.cmake)
endif()
include(CPack)
