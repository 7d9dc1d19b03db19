// What a study keeps of each run: numbers made from the sensors while the run goes on, so that no trajectory is stored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// One output of a study: of a sensor, or of one of its components.
//
//   tip[0], tip[0]@end       at the end
//   tip[0]@0.5               at a time: by the parabola through three recorded values
//   tip[0]@max, @min         the largest and smallest recorded value; @time_of_max, @time_of_min: when
//   tip[0]@integral, @mean, @rms   over time
//   tip[0]@first>0.1, @first<0.1   when it is first above or below a value; never: not a number
struct Reduction {
  enum class Kind {
    End,
    AtTime,
    Integral,
    Mean,
    RootMeanSquare,
    Maximum,
    Minimum,
    TimeOfMaximum,
    TimeOfMinimum,
    FirstAbove,
    FirstBelow,
    Spectrum,
  };
  std::string name, unit;
  Kind kind = Kind::End;
  int column = 0, components = 1;   // among the values of the sensors
  double value = 0;                 // the time, or what is first passed
  std::vector<double> frequencies;  // of a spectrum, which has one component [Hz]

  int width() const { return kind == Kind::Spectrum ? static_cast<int>(frequencies.size()) : components; }
};
inline constexpr std::string_view kReductions =
    "a time, end, integral, mean, rms, max, min, time_of_max, "
    "time_of_min, first>VALUE or first<VALUE";

// `text` as above. With frequencies it is a component whose amplitudes there are wanted. Throws InputError.
Reduction parse_reduction(const System& system, const SimulateOptions& options, const std::string& name,
                          const std::string& text, std::vector<double> frequencies = {});

// The reductions of a run from what its sensors show at the recorded times.
//
// An interval is integrated by the mean of two parabolas: through its ends and the value before, and the value behind. That is exact for cubic polynomials and equal steps. At events, where steps
// differ by more than a factor of two, and where there are two values only, by the trapezoidal rule. Amplitudes are those of Fourier integrals with Hann's window over the whole run, without the mean:
// a(f) = 2 |int w (x - m) exp(-2 pi i f t) dt| / int w dt, so that a sine within the window has its amplitude at its frequency.
class Reducer {
 public:
  // `start`, `end`: of the run, for the window.
  Reducer(const std::vector<Reduction>& reductions, double start, double end);

  void add(double t, const std::vector<double>& sensors);
  // All numbers, one reduction after the other.
  std::vector<double> finish() const;

 private:
  struct Part {  // of one number
    double sum = 0, last_sum = 0;
    double extreme = 0, time = 0;
    bool is_first = false;  // the last interval is the first one
  };
  struct Fourier {  // of one frequency
    double real = 0, imaginary = 0, window_real = 0, window_imaginary = 0;
  };
  void add_area(Part& part, int column, bool squared);
  void add_spectrum(const Reduction& r, std::size_t first);
  double shown(std::size_t back, int column) const {  // 0: the last values, 1: those before, 2
    return values_[(count_ - 1 - back) % kKept][static_cast<std::size_t>(column)];
  }
  double time(std::size_t back) const { return times_[(count_ - 1 - back) % kKept]; }

  static constexpr std::size_t kKept = 3;
  const std::vector<Reduction>& reductions_;
  double start_, end_;
  std::size_t count_ = 0;
  double first_time_ = 0;
  double times_[kKept] = {};
  std::vector<double> values_[kKept];
  std::vector<Part> parts_;
  std::vector<Fourier> fourier_;
  double window_sum_ = 0;
};

}  // namespace liedyn
