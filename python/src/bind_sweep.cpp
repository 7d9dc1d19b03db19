#include "bind.h"
#include "liedyn/base/error.h"
#include "liedyn/io/study_page.h"
#include "liedyn/io/sweep_file.h"
#include "liedyn/io/sweep_store.h"

#include <memory>

#include <fmt/format.h>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

py::array_t<double> column(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Columns side by side: a matrix with a row per case.
py::array_t<double> matrix(const std::vector<std::vector<double>>& columns) {
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  py::array_t<double> out({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns.size())});
  auto cells = out.mutable_unchecked<2>();
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t r = 0; r < rows; ++r)
      cells(static_cast<py::ssize_t>(r), static_cast<py::ssize_t>(c)) = columns[c][r];
  return out;
}

std::shared_ptr<SweepFile> read(const std::string& text, const std::string& file, const std::string& kept) {
  const auto out = std::make_shared<SweepFile>(read_sweep_text(text, file));
  if (!kept.empty()) keep_results(out->plan, kept);
  return out;
}

}  // namespace

void bind_sweep(py::module_& m) {
  py::class_<SweepFile, std::shared_ptr<SweepFile>>(m, "SweepFile")
      .def(py::init(&read), py::arg("text"), py::arg("file"), py::arg("kept") = "")
      .def_property_readonly("layout", [](const SweepFile& f) { return f.layout; })
      .def_property_readonly("cases", [](const SweepFile& f) { return f.plan.cases(); })
      .def("values",
           [](const SweepFile& f, const std::vector<std::uint64_t>& cases) {
             std::vector<std::vector<double>> columns(f.plan.variables.size());
             for (const std::uint64_t index : cases) {
               if (index >= f.plan.cases())
                 throw InputError(
                     "case", fmt::format("expected a case from 0 to {}, got {}", f.plan.cases() - 1, index));
               const std::vector<double> values = f.plan.values(index);
               for (std::size_t i = 0; i < values.size(); ++i) columns[i].push_back(values[i]);
             }
             return matrix(columns);
           })
      // The records of some cases as bytes, for SweepStore.add. One thread; others of the caller may run.
      .def("run", [](const SweepFile& f, const std::vector<std::uint64_t>& cases) {
        std::vector<std::string> records;
        for (const std::uint64_t index : cases)
          if (index >= f.plan.cases())
            throw InputError("case",
                             fmt::format("expected a case from 0 to {}, got {}", f.plan.cases() - 1, index));
        run_freely([&](const auto& progress) {
          run_cases(
              f.plan, cases, 1, [&](const CaseRecord& record) { records.push_back(encode(record)); },
              [&] { return !progress(0); });
        });
        py::list out;
        for (const std::string& record : records) out.append(py::bytes(record));
        return out;
      });
  py::class_<SweepStore>(m, "SweepStore")
      .def(py::init<std::string, std::string>(), py::arg("file"), py::arg("layout"))
      .def("cases_to_run", [](const SweepStore& s, const SweepFile& f, const std::string& kept,
                              bool failed) { return cases_to_run(f.plan, s, kept, failed); })
      .def("count", [](const SweepStore& s, int status) { return s.count(static_cast<CaseStatus>(status)); })
      .def("add",
           [](SweepStore& s, const std::vector<py::bytes>& records) {
             for (const py::bytes& record : records) s.add(std::string_view(record));
           })
      .def("fold", &SweepStore::fold)
      .def("close", &SweepStore::close)
      // `report` is called with how many cases are done and how many of them did not complete.
      .def("run", [](SweepStore& s, const SweepFile& f, const std::vector<std::uint64_t>& cases, int threads,
                     const py::object& report) {
        std::exception_ptr mistake;
        run_freely([&](const auto& progress) {
          std::uint64_t done = 0, failed = 0;
          const auto sink = [&](const CaseRecord& record) {
            s.add(record);
            ++done;
            failed += record.status == CaseStatus::Completed ? 0 : 1;
            if (report.is_none() || mistake) return;
            const py::gil_scoped_acquire lock;
            try {
              report(done, failed);
            } catch (...) {
              mistake = std::current_exception();
            }
          };
          run_cases(f.plan, cases, threads, sink, [&] { return mistake || !progress(0); });
        });
        if (mistake) std::rethrow_exception(mistake);
      });
  m.def("read_study_store", [](const std::string& file) {
    const SweepTable t = read_sweep_store(file);
    py::dict out;
    std::vector<std::uint8_t> status;
    for (const CaseStatus s : t.status) status.push_back(static_cast<std::uint8_t>(s));
    out["layout"] = t.layout;
    out["status"] = py::array_t<std::uint8_t>(static_cast<py::ssize_t>(status.size()), status.data());
    out["parameters"] = matrix(t.variables);
    out["outputs"] = matrix(t.outputs);
    out["statistics"] = matrix(t.statistics);
    out["seconds"] = column(t.seconds);
    out["messages"] = t.messages;
    return out;
  });
  // The page of a store. With the study it has commands with the files of its models, and scenes of cases, which are run again.
  m.def(
      "study_page",
      [](const std::string& store, const std::string& name, const std::shared_ptr<SweepFile>& study,
         std::uint64_t scenes) {
        std::string page;
        run_freely([&](const auto& progress) {
          const SweepTable table = read_sweep_store(store);
          std::vector<StudyScene> shown;
          if (study != nullptr)
            for (const std::uint64_t index : cases_to_show(table, study->plan.kept, scenes))
              if (std::string scene = case_scene(study->plan, index, [&] { return progress(0); });
                  !scene.empty())
                shown.push_back({index, std::move(scene)});
          page = study_page(table, name,
                            study != nullptr ? run_commands(study->plan) : run_commands(table.layout), shown);
        });
        return page;
      },
      py::arg("store"), py::arg("name"), py::arg("study"), py::arg("scenes"));
  m.def("study_schema", &sweep_schema);
}

}  // namespace liedyn::python
