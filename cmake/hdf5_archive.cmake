# Debian's shared HDF5 can read from the web, and so brings some thirty libraries (curl, TLS, Kerberos) along: most of what a program
# needs to start. Its archive gives only what is called. Targets with the property LIEDYN_HDF5_ARCHIVE link that, where it is installed and
# does without those libraries (Debian 12: yes, 13: no); all others, and whoever uses an installation, the shared one.
find_library(LIEDYN_HDF5_ARCHIVE_FILE NAMES libhdf5.a libhdf5_serial.a PATH_SUFFIXES hdf5/serial)
find_library(LIEDYN_SZIP_ARCHIVE_FILE NAMES libsz.a)
find_library(LIEDYN_AEC_ARCHIVE_FILE NAMES libaec.a)
mark_as_advanced(LIEDYN_HDF5_ARCHIVE_FILE LIEDYN_SZIP_ARCHIVE_FILE LIEDYN_AEC_ARCHIVE_FILE)

set(liedyn_hdf5 hdf5::hdf5)
if(LIEDYN_HDF5_ARCHIVE_FILE AND LIEDYN_SZIP_ARCHIVE_FILE AND LIEDYN_AEC_ARCHIVE_FILE)
  set(archives ${LIEDYN_HDF5_ARCHIVE_FILE} ${LIEDYN_SZIP_ARCHIVE_FILE} ${LIEDYN_AEC_ARCHIVE_FILE})
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${archives} ZLIB::ZLIB m ${CMAKE_DL_LIBS})
  check_c_source_compiles("int H5Fcreate(void); int main(void) { return H5Fcreate(); }" LIEDYN_HDF5_ARCHIVE_LINKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(LIEDYN_HDF5_ARCHIVE_LINKS)
  add_library(liedyn_hdf5_archive INTERFACE IMPORTED)
  target_link_libraries(liedyn_hdf5_archive INTERFACE ${archives} ZLIB::ZLIB ${CMAKE_DL_LIBS})
  set(wanted $<BOOL:$<TARGET_PROPERTY:LIEDYN_HDF5_ARCHIVE>>)
  set(liedyn_hdf5 $<$<NOT:${wanted}>:hdf5::hdf5> $<BUILD_INTERFACE:$<${wanted}:liedyn_hdf5_archive>>)
endif()
