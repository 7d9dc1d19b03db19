#include "command_line.h"

int main(int argc, char** argv) { return liedyn::cli::run_program(argc, argv); }
