// Integrators from outside the library: once registered, a method is known by its name wherever an integrator may be given.
//
//   template <class S> class MyMethod final : public IntegratorOf<S> { MyMethod(const SystemOf<S>&, const IntegratorOptions&); ... };
//   register_integrator(listed_integrator<MyMethod>("my-method", "What it is.", "Where its equations are.", options));
//
// Register before the first model is read or built. docs/howto/add_an_integrator.md says what a method has to do.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

// Throws InputError if the name is taken or impossible, if the default of an option is not one of its values, or if the list is in use.
// `make_varied` (derivatives) and `properties` (analyze-integrator) may be null.
void register_integrator(ListedIntegrator integrator);

// A method that is a template of its scalar: with derivatives with respect to parameters.
template <template <class> class Method>
ListedIntegrator listed_integrator(std::string name, std::string summary, std::string source,
                                   std::vector<IntegratorOption> options,
                                   LinearProperties (*properties)(const IntegratorOptions&) = nullptr) {
  return {std::move(name),
          std::move(summary),
          std::move(source),
          std::move(options),
          [](const System& system, const IntegratorOptions& o) -> std::unique_ptr<Integrator> {
            return std::make_unique<Method<double>>(system, o);
          },
          [](const VariedSystem& system, const IntegratorOptions& o) -> std::unique_ptr<VariedIntegrator> {
            return std::make_unique<Method<Varied>>(system, o);
          },
          properties};
}

}  // namespace liedyn
