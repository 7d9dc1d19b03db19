#include "liedyn/io/load.h"

#include "liedyn/system/further_findings.h"

namespace liedyn {

std::vector<System> make_systems(std::shared_ptr<const Description> description,
                                 const std::vector<Assignment>& set,
                                 const std::vector<std::string>& formulations) {
  Params params(description);
  std::vector<Diagnostic> findings;
  for (const Assignment& a : set) {
    try {
      params.set(a.path, a.value);
    } catch (const InputError& error) {
      findings.insert(findings.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!findings.empty()) throw InputError(findings);
  std::vector<System> systems;
  for (const std::string& name : formulations)
    systems.emplace_back(compile_model(description, params, name), params);
  return systems;
}

System make_system(std::shared_ptr<const Description> description, const std::vector<Assignment>& set,
                   const std::string& formulation) {
  return std::move(make_systems(std::move(description), set, {formulation}).front());
}

System make_system(ModelBuilder& builder, const std::vector<Assignment>& set,
                   const std::string& formulation) {
  return make_system(builder.finish(), set, formulation);
}

System load(const std::string& model, std::vector<Assignment> set, const std::string& formulation) {
  auto description = std::make_shared<const Description>(read_model(model, set));
  return make_system(std::move(description), set, formulation);
}

System load_text(std::string_view text, std::vector<Assignment> set, const std::string& formulation) {
  auto description = std::make_shared<const Description>(read_model_text(text, "", set));
  return make_system(std::move(description), set, formulation);
}

}  // namespace liedyn
