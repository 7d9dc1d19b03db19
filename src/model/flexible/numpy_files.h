// Matrices from files of NumPy and SciPy: .npy (np.save), .npz (np.savez and np.savez_compressed of dense arrays, scipy.sparse.save_npz of csr, csc and
// coo). What is wrong with a file is thrown as std::invalid_argument.
#pragma once

#include <string>
#include <string_view>

#include "liedyn/model/flexible/finite_elements.h"

namespace liedyn {

// Whether these bytes begin as one of these files does.
bool is_numpy(std::string_view bytes);

// The array with the given name; if that is empty, the one matrix of the file (a sparse one, a single array) or else the array with the usual name.
SparseMatrix parse_numpy(std::string_view bytes, std::string_view given, std::string_view usual);

}  // namespace liedyn
