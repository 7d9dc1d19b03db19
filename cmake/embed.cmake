# liedyn_embed(target files...): texts that a program carries in itself, so that it needs no source tree. As a script (cmake -P) this file
# writes OUTPUT, a C++ file that defines liedyn::cli::embedded_texts() (cli/embedded.h) from FILES, named relative to SOURCE.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  file(STRINGS ${LIST} files)
  set(entries)
  foreach(file IN LISTS files)
    file(READ ${SOURCE}/${file} text)
    string(APPEND entries "    {\"${file}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Written by cmake/embed.cmake.\n#include \"embedded.h\"\n\nnamespace liedyn::cli {\n\nconst std::vector<EmbeddedText>& embedded_texts() {\n"
    "  static const std::vector<EmbeddedText> texts = {\n${entries}  };\n  return texts;\n}\n\n}  // namespace liedyn::cli\n")
  return()
endif()

function(liedyn_embed target)
  set(output ${PROJECT_BINARY_DIR}/generated/embedded.cpp)
  set(list ${PROJECT_BINARY_DIR}/generated/embedded.txt)
  list(JOIN ARGN "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "@lines@\n" @ONLY)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DLIST=${list} -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${list} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake COMMENT "Embedding pages and templates" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/cli SKIP_PRECOMPILE_HEADERS ON)
endfunction()
