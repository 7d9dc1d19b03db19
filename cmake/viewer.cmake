# The pages of the 3D view and of studies: viewer/ (TypeScript, built by npm) becomes one file each, share/liedyn/viewer.html and study.html, here as in an installation, so that users need no node.
# It is built in a copy below the build directory, so that the sources stay clean.
# The page is the same for all architectures: a build for another one does without unless it is asked for.
set(viewer_default ${PROJECT_IS_TOP_LEVEL})
if(CMAKE_CROSSCOMPILING)
  set(viewer_default OFF)
endif()
option(LIEDYN_VIEWER "Build the page of the 3D view; needs node and npm" ${viewer_default})
set(viewer_source ${PROJECT_SOURCE_DIR}/viewer)
if(NOT LIEDYN_VIEWER OR NOT EXISTS ${viewer_source}/package.json)
  add_custom_target(liedyn_viewer)
  return()
endif()
find_program(LIEDYN_NPM npm DOC "The package manager of node")
if(NOT LIEDYN_NPM)
  message(FATAL_ERROR "The page of the 3D view is built by npm, which was not found.\nOn Debian: apt install nodejs npm. Without the page: -DLIEDYN_VIEWER=OFF")
endif()

set(viewer_copy ${PROJECT_BINARY_DIR}/viewer)
set(viewer_page ${PROJECT_BINARY_DIR}/share/liedyn/viewer.html)
set(study_page ${PROJECT_BINARY_DIR}/share/liedyn/study.html)
file(GLOB viewer_settings CONFIGURE_DEPENDS ${viewer_source}/*.json ${viewer_source}/*.ts ${viewer_source}/*.html)
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${viewer_source}/src/* ${viewer_source}/public/*)
file(GLOB_RECURSE viewer_tests CONFIGURE_DEPENDS ${viewer_source}/tests/*)
list(FILTER viewer_tests EXCLUDE REGEX "/tests/out/")

# Packages by name and version, as package-lock.json says; `npm ci` would also insist on optional packages for other processors, which a registry may lack.
# Browsers for tests come from Debian.
set(viewer_packages ${viewer_copy}/node_modules/.package-lock.json)
set(npm ${CMAKE_COMMAND} -E env PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 ${LIEDYN_NPM} --no-audit --no-fund --loglevel=error)
add_custom_command(OUTPUT ${viewer_packages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${viewer_copy}
  COMMAND ${CMAKE_COMMAND} -E copy ${viewer_source}/package.json ${viewer_source}/package-lock.json ${viewer_copy}
  COMMAND ${npm} install --no-save
  COMMAND ${CMAKE_COMMAND} -E touch ${viewer_packages}
  DEPENDS ${viewer_source}/package.json ${viewer_source}/package-lock.json
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/viewer
  COMMENT "Installing the packages of the 3D view" VERBATIM)
file(MAKE_DIRECTORY ${viewer_copy})
add_custom_command(OUTPUT ${viewer_page} ${study_page}
  COMMAND ${CMAKE_COMMAND} -E copy ${viewer_settings} ${viewer_copy}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${viewer_copy}/src ${viewer_copy}/tests
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${viewer_source}/src ${viewer_copy}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${viewer_source}/tests ${viewer_copy}/tests
  COMMAND ${npm} run build
  COMMAND ${CMAKE_COMMAND} -E copy ${viewer_copy}/dist/viewer.html ${viewer_page}
  COMMAND ${CMAKE_COMMAND} -E copy ${viewer_copy}/dist/study.html ${study_page}
  DEPENDS ${viewer_packages} ${viewer_settings} ${viewer_sources} ${viewer_tests}
  WORKING_DIRECTORY ${viewer_copy}
  COMMENT "Building the pages of the 3D view and of studies" VERBATIM)
add_custom_target(liedyn_viewer ALL DEPENDS ${viewer_page} ${study_page})

install(FILES ${viewer_page} ${study_page} DESTINATION ${data_directory}/liedyn COMPONENT program)

# The page in a browser without a window: needs Debian's chromium.
if(LIEDYN_TESTS AND viewer_tests)
  add_test(NAME viewer COMMAND ${LIEDYN_NPM} test WORKING_DIRECTORY ${viewer_copy})
  set_tests_properties(viewer PROPERTIES TIMEOUT ${LIEDYN_TEST_TIMEOUT}
    ENVIRONMENT "LIEDYN_PROGRAM=${PROJECT_BINARY_DIR}/bin/liedyn;LIEDYN_VIEWER=${viewer_page}")
endif()
