#include "liedyn/model/beams/section.h"

#include <numbers>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "liedyn/model/bodies/rigid.h"

namespace liedyn {
namespace {

constexpr double kPi = std::numbers::pi;

Field quantity(std::string name, std::string unit, std::string summary, Range range = Range::Positive) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = true,
          .range = range};
}
Field shear_factor(const std::string& axis, bool of_shape) {
  Field field{.name = "shear_factor_" + axis,
              .type = FieldType::Number,
              .unit = "",
              .summary = "Share of the area that resists shear along " + axis +
                         (of_shape ? "; Cowper's for this shape if not given." : "."),
              .range = Range::Positive};
  if (!of_shape) field.defaults = {5.0 / 6};
  return field;
}

std::vector<Field> material(bool of_shape) {
  return {quantity("young", "N/m^2", "Young's modulus."),
          {.name = "poisson",
           .type = FieldType::Number,
           .unit = "",
           .summary = "Poisson's ratio.",
           .defaults = {0.3}},
          {.name = "shear_modulus",
           .type = FieldType::Number,
           .unit = "N/m^2",
           .summary = "Shear modulus, instead of Poisson's ratio.",
           .range = Range::Positive},
          quantity("density", "kg/m^3", "Density.", Range::NonNegative),
          shear_factor("y", of_shape),
          shear_factor("z", of_shape)};
}

// Every number of a section may vary along the beam: its value at the end.
std::vector<Field> with_ends(std::vector<Field> before, const std::vector<Field>& section) {
  std::vector<Field> out = std::move(before);
  out.insert(out.end(), section.begin(), section.end());
  for (Field field : section) {
    field.summary = fmt::format(
        "Value of {} at the end of the beam, with linear interpolation in between; constant if not given.",
        field.name);
    field.name += "_end";
    field.required = false;
    field.defaults.clear();
    out.push_back(std::move(field));
  }
  return out;
}

// The values of a beam's fields at a fraction of its length.
template <class S>
class Values {
 public:
  Values(const Inputs<S>& in, double x) : in_(in), x_(x) {}
  S number(std::string_view name, int i = 0) const {
    const Kind& kind = in_.kind();
    const S first = in_.number(kind.field(name), i);
    const int end = kind.field(std::string(name) + "_end");
    if (end < 0 || !in_.given(end)) return first;
    return S(1 - x_) * first + S(x_) * in_.number(end, i);
  }
  bool given(std::string_view name) const { return in_.given(in_.kind().field(name)); }

 private:
  const Inputs<S>& in_;
  double x_;
};

// Area, second moments about y and z, torsion constant and Cowper's shear factors.
template <class S>
struct Shape {
  S area, moment_y, moment_z, torsion, shear_y, shear_z;
};

template <class S>
S shear_modulus(const Values<S>& v) {
  return v.given("shear_modulus") ? v.number("shear_modulus")
                                  : v.number("young") / (S(2) * (S(1) + v.number("poisson")));
}

template <class S>
Shape<S> rectangle(const Values<S>& v, const S& nu) {
  const S w = v.number("width"), h = v.number("height");
  const S k = S(10) * (S(1) + nu) / (S(12) + S(11) * nu);
  return {w * h, w * h * h * h / S(12), h * w * w * w / S(12), rectangle_torsion_constant(w, h), k, k};
}

// Thin-walled box of height h along the shear and width b, equal thickness.        [Cowper, table 1]
template <class S>
S box_shear_factor(const S& b, const S& h, const S& nu) {
  const S n = b / h, m = n, m2 = m * m, m3 = m2 * m;
  const S top = S(10) * (S(1) + nu) * (S(1) + S(3) * m) * (S(1) + S(3) * m);
  return top /
         (S(12) + S(72) * m + S(150) * m2 + S(90) * m3 + nu * (S(11) + S(66) * m + S(135) * m2 + S(90) * m3) +
          S(10) * n * n * ((S(3) + nu) * m + S(3) * m2));
}

template <class S>
Shape<S> hollow_rectangle(const Values<S>& v, const S& nu) {
  const S w = v.number("width"), h = v.number("height"), t = v.number("thickness");
  const S wi = w - S(2) * t, hi = h - S(2) * t;
  const S wm = w - t, hm = h - t;  // of the line in the middle of the wall
  const S torsion = S(2) * t * wm * wm * hm * hm / (wm + hm);
  return {w * h - wi * hi,
          (w * h * h * h - wi * hi * hi * hi) / S(12),
          (h * w * w * w - hi * wi * wi * wi) / S(12),
          torsion,
          box_shear_factor(hm, wm, nu),
          box_shear_factor(wm, hm, nu)};
}

template <class S>
Shape<S> ring(const S& outer, const S& inner, const S& nu) {
  const S o2 = outer * outer, i2 = inner * inner, moment = S(kPi / 4) * (o2 * o2 - i2 * i2);
  const S m2 = i2 / o2, one = (S(1) + m2) * (S(1) + m2);
  const S k = S(6) * (S(1) + nu) * one / ((S(7) + S(6) * nu) * one + (S(20) + S(12) * nu) * m2);
  return {S(kPi) * (o2 - i2), moment, moment, S(2) * moment, k, k};
}

template <class S>
Mat6T<S> section_inertia(const S& mass, const Vec3T<S>& center, const Mat3T<S>& about_center) {
  const Mat3T<S> c = skew(center);
  Mat6T<S> M;
  M << mass * Mat3T<S>::Identity(), -mass * c, mass * c, about_center - mass * (c * c);
  return M;
}

template <class S>
SectionMatrices<S> of_shape(const Values<S>& v, Shape<S> shape) {
  const S E = v.number("young"), G = shear_modulus(v), density = v.number("density");
  if (v.given("shear_factor_y")) shape.shear_y = v.number("shear_factor_y");
  if (v.given("shear_factor_z")) shape.shear_z = v.number("shear_factor_z");
  SectionMatrices<S> out;
  out.stiffness.setZero();
  out.stiffness.diagonal() << E * shape.area, shape.shear_y * G * shape.area, shape.shear_z * G * shape.area,
      G * shape.torsion, E * shape.moment_y, E * shape.moment_z;
  const Vec3T<S> moments =
      density * Vec3T<S>(shape.moment_y + shape.moment_z, shape.moment_y, shape.moment_z);
  out.inertia = section_inertia<S>(density * shape.area, Vec3T<S>::Zero(), moments.asDiagonal());
  return out;
}

}  // namespace

// a b^3 (1/3 - 64/pi^5 b/a sum over odd n of tanh(n pi a/(2 b))/n^5), a the longer side. With the sum of 1/n^5 taken out the rest
// falls as exp(-n pi).
template <class S>
S rectangle_torsion_constant(const S& width, const S& height) {
  using std::exp;
  const bool wide = width > height;
  const S a = wide ? width : height, b = wide ? height : width;
  constexpr double kZeta5 = 1.0369277551433699;
  S sum(31.0 / 32 * kZeta5);
  for (int n = 1; n <= 13; n += 2)
    sum -= S(2.0 / (double(n) * n * n * n * n)) / (S(1) + exp(S(n * kPi) * a / b));
  return a * b * b * b * (S(1.0 / 3) - S(64 / (kPi * kPi * kPi * kPi * kPi)) * (b / a) * sum);
}
template double rectangle_torsion_constant<double>(const double&, const double&);

const std::vector<SectionKind>& section_kinds() {
  static const std::vector<SectionKind> list = [] {
    const auto dimension = [](std::string name, std::string summary) {
      return quantity(std::move(name), "m", std::move(summary));
    };
    const Field width = dimension("width", "Width, along y."),
                height = dimension("height", "Height, along z.");
    const auto per_length = [] {
      return quantity("mass_per_length", "kg/m", "Mass per length.", Range::NonNegative);
    };
    return std::vector<SectionKind>{
        {"rectangle", "Beam with a solid rectangular section.", with_ends(material(true), {width, height})},
        {"hollow_rectangle", "Beam with a thin-walled rectangular section.",
         with_ends(material(true), {width, height, dimension("thickness", "Thickness of the wall.")})},
        {"circle", "Beam with a solid circular section.",
         with_ends(material(true), {dimension("radius", "Radius.")})},
        {"tube", "Beam with a hollow circular section.",
         with_ends(material(true),
                   {dimension("radius", "Outer radius."), dimension("thickness", "Thickness of the wall.")})},
        {"section", "Beam with a section given by its area, second moments and torsion constant.",
         with_ends(material(false), {quantity("area", "m^2", "Area."),
                                     quantity("moment_y", "m^4", "Second moment of area about y."),
                                     quantity("moment_z", "m^4", "Second moment of area about z."),
                                     quantity("torsion_constant", "m^4", "Torsion constant.")})},
        {"stiffness", "Beam with a section given by its stiffnesses and inertias.",
         with_ends({}, {quantity("axial_stiffness", "N", "E A."),
                        quantity("shear_stiffness_y", "N", "k_y G A."),
                        quantity("shear_stiffness_z", "N", "k_z G A."),
                        quantity("torsional_stiffness", "N m^2", "G J."),
                        quantity("bending_stiffness_y", "N m^2", "E I about y."),
                        quantity("bending_stiffness_z", "N m^2", "E I about z."),
                        per_length(),
                        {.name = "inertia_per_length",
                         .type = FieldType::Vector,
                         .unit = "kg m",
                         .summary = "Moments of inertia per length about x, y and z.",
                         .required = true,
                         .range = Range::NonNegative,
                         .pose = PoseRole::Fixed}})},
        {"matrix", "Beam with a section given by its full stiffness matrix and its inertia.",
         with_ends(
             {},
             {{.name = "stiffness",
               .type = FieldType::Matrix6,
               .unit = "",
               .summary = "Symmetric 6x6 matrix from strains (axial, shear y, shear z, torsion, bending y, "
                          "bending z) to forces and moments: its rows, or its diagonal.",
               .required = true},
              per_length(),
              {.name = "center",
               .type = FieldType::Vector,
               .unit = "m",
               .summary = "Centre of mass of the section, relative to the beam's axis.",
               .defaults = {0, 0, 0},
               .pose = PoseRole::Fixed},
              {.name = "inertia_per_length",
               .type = FieldType::Inertia,
               .unit = "kg m",
               .summary = "Inertia per length about the centre of mass, section axes.",
               .required = true}})}};
  }();
  return list;
}

template <class S>
SectionMatrices<S> section_matrices(const Inputs<S>& in, double x) {
  const Values<S> v(in, x);
  const std::string& type = in.kind().type;
  if (type == "stiffness") {
    SectionMatrices<S> out;
    out.stiffness.setZero();
    out.stiffness.diagonal() << v.number("axial_stiffness"), v.number("shear_stiffness_y"),
        v.number("shear_stiffness_z"), v.number("torsional_stiffness"), v.number("bending_stiffness_y"),
        v.number("bending_stiffness_z");
    Vec3T<S> moments;
    for (int i = 0; i < 3; ++i) moments[i] = v.number("inertia_per_length", i);
    out.inertia = section_inertia<S>(v.number("mass_per_length"), Vec3T<S>::Zero(), moments.asDiagonal());
    return out;
  }
  if (type == "matrix") {
    SectionMatrices<S> out;
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c)
        out.stiffness(r, c) = S(0.5) * (v.number("stiffness", 6 * r + c) + v.number("stiffness", 6 * c + r));
    std::array<S, 6> J;
    for (int i = 0; i < 6; ++i) J[static_cast<std::size_t>(i)] = v.number("inertia_per_length", i);
    out.inertia = section_inertia<S>(v.number("mass_per_length"),
                                     {v.number("center", 0), v.number("center", 1), v.number("center", 2)},
                                     RigidInertia::inertia_matrix(J.data()));
    return out;
  }
  const S nu = v.number("young") / (S(2) * shear_modulus(v)) - S(1);
  if (type == "rectangle") return of_shape(v, rectangle(v, nu));
  if (type == "hollow_rectangle") return of_shape(v, hollow_rectangle(v, nu));
  if (type == "circle") return of_shape(v, ring(v.number("radius"), S(0), nu));
  if (type == "tube")
    return of_shape(v, ring<S>(v.number("radius"), v.number("radius") - v.number("thickness"), nu));
  Shape<S> shape{v.number("area"),           v.number("moment_y"),
                 v.number("moment_z"),       v.number("torsion_constant"),
                 v.number("shear_factor_y"), v.number("shear_factor_z")};
  return of_shape(v, shape);
}
template SectionMatrices<double> section_matrices<double>(const Inputs<double>&, double);
template SectionMatrices<Varied> section_matrices<Varied>(const Inputs<Varied>&, double);

std::string section_mistake(const Inputs<double>& in, std::string& hint) {
  const Kind& kind = in.kind();
  const int poisson = kind.field("poisson"), shear = kind.field("shear_modulus");
  if (poisson >= 0) {
    if (in.given(poisson) && in.given(shear)) {
      hint = "the shear modulus is young/(2 (1 + poisson))";
      return "poisson and shear_modulus are both given, expected one of them";
    }
    if (in.given(poisson) && (in.number(poisson) <= -1 || in.number(poisson) > 0.5))
      return fmt::format("poisson must be above -1 and at most 0.5, got {}", in.number(poisson));
  }
  for (const double x : {0.0, 1.0}) {
    const Values<double> v(in, x);
    const char* where = x == 0 ? "" : " at the end";
    if (kind.field("thickness") >= 0) {
      const double t = v.number("thickness");
      const double most =
          kind.type == "tube" ? v.number("radius") : 0.5 * std::min(v.number("width"), v.number("height"));
      if (t > most) return fmt::format("thickness{} must be at most {:.6g}, got {:.6g}", where, most, t);
    }
    const Vec6 moduli =
        Eigen::SelfAdjointEigenSolver<Mat6>(section_matrices(in, x).stiffness, Eigen::EigenvaluesOnly)
            .eigenvalues();
    if (moduli[0] <= 0)
      return fmt::format("stiffness{} must be positive definite, got the eigenvalue {:.6g}", where,
                         moduli[0]);
    if (kind.type == "matrix") {
      // About the centre of mass. Rotary inertia may be neglected, so that the sum of two moments may be below the third.
      std::array<double, 6> J;
      for (int i = 0; i < 6; ++i) J[static_cast<std::size_t>(i)] = v.number("inertia_per_length", i);
      const Vec3 moments =
          Eigen::SelfAdjointEigenSolver<Mat3>(RigidInertia::inertia_matrix(J.data()), Eigen::EigenvaluesOnly)
              .eigenvalues();
      if (moments[0] < -1e-12 * moments.cwiseAbs().maxCoeff())
        return fmt::format(
            "inertia_per_length{} must be positive semi-definite, got principal moments {:.6g}, {:.6g}, "
            "{:.6g}",
            where, moments[0], moments[1], moments[2]);
    }
  }
  return {};
}

}  // namespace liedyn
