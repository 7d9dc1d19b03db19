# Debian's shared HDF5 can read from the web, and so brings some thirty libraries (curl, TLS, Kerberos) along: most of what a program
# needs to start. Its archive gives only what is called. Targets with the property LIEDYN_HDF5_ARCHIVE link that, where it is installed; all
# others, and whoever uses an installation, the shared one.
find_library(LIEDYN_HDF5_ARCHIVE_FILE NAMES libhdf5.a libhdf5_serial.a PATH_SUFFIXES hdf5/serial)
find_library(LIEDYN_SZIP_ARCHIVE_FILE NAMES libsz.a)
find_library(LIEDYN_AEC_ARCHIVE_FILE NAMES libaec.a)
mark_as_advanced(LIEDYN_HDF5_ARCHIVE_FILE LIEDYN_SZIP_ARCHIVE_FILE LIEDYN_AEC_ARCHIVE_FILE)

set(liedyn_hdf5 hdf5::hdf5)
if(LIEDYN_HDF5_ARCHIVE_FILE AND LIEDYN_SZIP_ARCHIVE_FILE AND LIEDYN_AEC_ARCHIVE_FILE)
  add_library(liedyn_hdf5_archive INTERFACE IMPORTED)
  target_link_libraries(liedyn_hdf5_archive INTERFACE
    ${LIEDYN_HDF5_ARCHIVE_FILE} ${LIEDYN_SZIP_ARCHIVE_FILE} ${LIEDYN_AEC_ARCHIVE_FILE} ZLIB::ZLIB ${CMAKE_DL_LIBS})
  set(wanted $<BOOL:$<TARGET_PROPERTY:LIEDYN_HDF5_ARCHIVE>>)
  set(liedyn_hdf5 $<$<NOT:${wanted}>:hdf5::hdf5> $<BUILD_INTERFACE:$<${wanted}:liedyn_hdf5_archive>>)
endif()
