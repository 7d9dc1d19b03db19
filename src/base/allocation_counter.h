#pragma once

namespace liedyn {

// Memory allocations of this process since its start, in all threads: malloc and its relatives, and operator new, which
// calls them. Counted in programs that link `liedyn_allocation_counter`; -1 elsewhere, under sanitizers and without glibc.
long allocation_count();

}  // namespace liedyn
