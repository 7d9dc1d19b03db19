// Commands that are written in Python: where the package is, and how it is started.
#pragma once

#include <string>
#include <vector>

namespace liedyn::cli {

// An interpreter, and the version of the package `liedyn` that it imports.
struct PythonPackage {
  std::string interpreter;
  std::string version;
};

// The package is the one of this program: python/liedyn beside the directory of the program in a build tree,
// lib/python3.X/site-packages/liedyn (or dist-packages) in an installation; failing that, whatever Python finds itself.
// The interpreter is the one named by the environment variable LIEDYN_PYTHON, or else the first of `python3` on the PATH and
// Debian's that can import liedyn, numpy and matplotlib. Throws InputError, with the reason, if there is none.
PythonPackage find_python_package();

// Runs `python3 -m MODULE ARGUMENTS...` with the package `liedyn` on its path, waits for its end and gives back its exit
// code. Throws InputError as find_python_package().
int run_python_module(const std::string& module, const std::vector<std::string>& arguments);

// Whether there is a screen on which a browser could appear.
bool has_display();
// Opens a file or an address in the user's browser, without a word on the terminal. False: there is none.
bool open_in_browser(const std::string& file);

// Draws PREFIX.png from PREFIX.json with liedyn.plots. Where that is not possible it says why: a study is not lost for want of a plot.
// Whether it was.
bool plot_study(const std::string& prefix, const std::vector<std::string>& options);

}  // namespace liedyn::cli
