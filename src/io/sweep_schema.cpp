#include <nlohmann/json.hpp>

#include "liedyn/io/sweep_file.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

Json described(Json value, const char* text) {
  value["description"] = text;
  return value;
}
Json list_of(const Json& item) { return {{"type", "array"}, {"items", item}, {"minItems", 1}}; }

}  // namespace

std::string sweep_schema() {
  const Json text = {{"type", "string"}}, number = {{"type", "number"}}, texts = list_of(text),
             numbers = list_of(number);
  const Json positive = {{"type", "number"}, {"exclusiveMinimum", 0}};
  const auto count = [](double least) { return Json{{"type", "integer"}, {"minimum", least}}; };
  const auto object = [](const Json& properties) {
    return Json{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  };
  const auto named = [](const Json& each) {
    return Json{{"type", "object"},
                {"patternProperties", {{"^[A-Za-z_][A-Za-z0-9_]*$", each}}},
                {"additionalProperties", false}};
  };
  const Json variable =
      object({{"parameter", described(text, "Path of a parameter of the model; the name if not given.")},
              {"parameters",
               described({{"type", "array"}, {"items", text}},
                         "Several parameters with the same value; an empty list: only expressions use it.")},
              {"values", described(numbers, "Values of a grid, a list, or a discrete distribution.")},
              {"count", described(count(1), "Values of a grid from lower to upper.")},
              {"spacing", {{"enum", {"linear", "log"}}}},
              {"distribution", {{"enum", kDistributions}}},
              {"lower", number},
              {"upper", number},
              {"mean", described(number, "Mean of a normal distribution.")},
              {"deviation", described(positive, "Standard deviation of a normal distribution.")},
              {"median", described(positive, "Median of a log-normal distribution.")},
              {"log_deviation", described(positive, "Standard deviation of the logarithm.")},
              {"weights", described(numbers, "Weights of the values of a discrete distribution.")},
              {"expression", described(text, "Expression of the parameters that are defined before it.")}});
  const Json output = {{"anyOf",
                        {described(text,
                                   "SENSOR[i]@REDUCTION: a time, end, integral, mean, rms, max, min, "
                                   "time_of_max, time_of_min, first>VALUE or first<VALUE."),
                         object({{"spectrum", described(text, "A component of a sensor.")},
                                 {"frequencies", described(numbers, "Frequencies of the amplitude [Hz].")},
                                 {"lower", number},
                                 {"upper", number},
                                 {"count", count(1)},
                                 {"spacing", {{"enum", {"linear", "log"}}}}})}}};
  const Json properties = {
      {"liedyn_study", described({{"const", 1}}, "Version of this format.")},
      {"description", text},
      {"model", described(text, "A model file, relative to the study, or the name of a shipped model.")},
      {"models", texts},
      {"set", described({{"type", "object"}, {"additionalProperties", number}},
                        "Parameters of the model, by path, in all cases.")},
      {"formulation", text},
      {"formulations", texts},
      {"simulation", object({{"integrator", text},
                             {"integrators", texts},
                             {"start", number},
                             {"end", number},
                             {"step", positive},
                             {"initial", {{"enum", {"check", "project"}}}}})},
      {"parameters", named({{"anyOf",
                             {variable, described(numbers, "Short for values."),
                              described(text, "Short for expression.")}}})},
      {"sampling",
       object({{"method", {{"enum", kSamplings}}},
               {"cases",
                described(count(1), "Number of points; for saltelli and morris, of those that are varied.")},
               {"seed", count(0)},
               {"scramble",
                described({{"type", "boolean"}}, "Random scrambling of sobol and halton, by the seed.")}})},
      {"outputs", named(output)},
      {"time_limit", described(positive, "Time limit of one case [s].")},
      {"failures", described({{"enum", {"record", "stop"}}}, "record: the study continues; stop: it ends.")},
      {"keep", described(list_of(count(0)), "Cases whose complete results are kept.")}};
  return Json{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Liedyn study"},
              {"type", "object"},
              {"properties", properties},
              {"required", {"liedyn_study", "outputs"}},
              {"anyOf", {{{"required", {"model"}}}, {{"required", {"models"}}}}},
              {"additionalProperties", false}}
      .dump(2);
}

}  // namespace liedyn
