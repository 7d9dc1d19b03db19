#include "liedyn/model/batch_of.h"

#include <utility>

namespace liedyn {

void add_row_name(BatchFacts& facts, std::string name) { facts.row_names.push_back(std::move(name)); }

}  // namespace liedyn
