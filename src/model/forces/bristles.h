// What contacts with bristles (model/forces/bristle_contact.h) have to type, and their states.
#pragma once

#include "liedyn/model/element.h"

namespace liedyn {

inline constexpr int kBristleStates = 3;  // of one point
// presliding, s_1, tau, N_0, reach: the last numbers of an element
inline constexpr int kBristleConstants = 5;
inline constexpr int kBristlePressure = 3, kBristleReach = 4;
inline constexpr int kBristleFields = 3;  // presliding, presliding_damping, relaxation_time

std::vector<Field> bristle_fields();

// Whether a force has bristles, and how many states they are.
bool has_bristles(const Entry& force);
int bristle_states(const Entry& force);
std::string bristle_name(const std::string& force, int i);
std::vector<ForceState> states_of_bristles(const Description& description, const Entry& force);
// For each state the first component of the deflection that it belongs to, an index of a state; -1: it is no bristle.
std::vector<int> bristle_vectors(const Description& description);

// `first`: the first of the fields above.
template <class S>
void derive_bristles(const Inputs<S>& in, int first, S* p) {
  p[0] = in.number(first);
  p[1] = in.number(first + 1);
  p[2] = in.number(first + 2);
  p[kBristlePressure] = p[kBristleReach] = S(0);
}
// `friction`: the first of the fields of the friction.
void check_bristles(const Inputs<double>& in, int friction, std::string& message, std::string& hint);

}  // namespace liedyn
