#include "liedyn/io/study_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/sweep_file.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

class StudyPage : public testing::Test {
 protected:
  StudyPage()
      : folder_(std::filesystem::temp_directory_path() /
                ("liedyn_study_page_" +
                 std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::create_directories(folder_);
    write_whole(path("viewer.html"), "<p><!--liedyn-scene--></p>");
    write_whole(path("study.html"), "<p><!--liedyn-study--></p>");
    setenv("LIEDYN_VIEWER", path("viewer.html").c_str(), 1);
  }
  ~StudyPage() override {
    unsetenv("LIEDYN_VIEWER");
    std::filesystem::remove_all(folder_);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  // Three points in two variants.
  SweepFile study() const {
    return read_sweep_text(R"({ "liedyn_study": 1, "description": "</script><b>", "model": "heavy_top",
      "simulation": { "end": 0.01, "integrators": ["generalized-alpha", "generalized-alpha,rho=0.5"] },
      "parameters": { "spin": { "lower": 50, "upper": 200, "count": 3, "spacing": "log" },
                      "axial": { "parameter": "bodies.top.inertia[1]", "values": [0.44] } },
      "outputs": { "position": "position", "force": "pivot_force[2]@max" } })",
                           "study.json");
  }
  static SweepTable run(const SweepFile& file) {
    SweepTable out;
    out.layout = file.layout;
    const std::size_t n = file.plan.cases();
    out.variables.assign(2, std::vector<double>(n));
    out.outputs.assign(4, std::vector<double>(n));
    out.statistics.assign(std::size(kStatistics), std::vector<double>(n, 1));
    out.seconds.assign(n, 0.5);
    out.status.assign(n, CaseStatus::Completed);
    out.messages.assign(n, "");
    CaseRunner runner(file.plan);
    for (std::size_t i = 0; i < n; ++i) {
      const CaseRecord record = runner.run(i, {});
      for (std::size_t k = 0; k < 2; ++k) out.variables[k][i] = record.variables[k];
      for (std::size_t k = 0; k < 4; ++k) out.outputs[k][i] = record.outputs[k];
    }
    return out;
  }
  // What stands in an element of the page.
  static Json content(const std::string& page, const std::string& id) {
    const std::string start = "id=\"" + id + "\">";
    const std::size_t first = page.find(start);
    if (first == std::string::npos) return {};
    const std::size_t from = first + start.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(StudyPage, HoldsAllColumnsWithAllDigits) {
  const SweepFile file = study();
  SweepTable table = run(file);
  table.status[4] = table.status[5] = CaseStatus::Failed;
  table.messages[4] = table.messages[5] = "diverged";
  table.outputs[0][5] = std::numeric_limits<double>::quiet_NaN();
  const std::string page = study_page(table, "tops", run_commands(file.plan), {});
  const Json data = content(page, "liedyn-study");
  EXPECT_EQ(data["format"], "liedyn study 1");
  EXPECT_EQ(data["name"], "tops");
  EXPECT_EQ(data["cases"], 6);
  EXPECT_EQ(data["points"], 3);
  // No text of the study ends its element.
  EXPECT_EQ(data["description"], "</script><b>");
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  std::vector<std::string> names;
  for (const Json& c : data["columns"]) names.push_back(c["name"]);
  EXPECT_THAT(names,
              ElementsAre("spin", "axial", "position[0]", "position[1]", "position[2]", "force", "steps",
                          "newton_iterations", "jacobian_updates", "rejected", "end", "computing_time"));
  EXPECT_EQ(data["columns"][0]["scale"], "log");
  EXPECT_EQ(data["columns"][1]["paths"], Json({"bodies.top.inertia[1]"}));
  EXPECT_EQ(data["columns"][5]["unit"], "N");
  EXPECT_EQ(unpack_array(data["columns"][0]["values"], ""), table.variables[0]);
  EXPECT_EQ(unpack_array(data["columns"][5]["values"], ""), table.outputs[3]);
  EXPECT_TRUE(std::isnan(unpack_array(data["columns"][2]["values"], "")[5]));
  EXPECT_THAT(unpack_array(data["status"], ""), ElementsAre(1, 1, 1, 1, 2, 2));
  EXPECT_THAT(unpack_array(data["message"], ""), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_EQ(data["messages"], Json({"diverged"}));
  EXPECT_EQ(content(page, "liedyn-viewer"), Json());
}

TEST_F(StudyPage, CommandsRepeatACase) {
  const SweepFile file = study();
  const std::string command = run_command(file.plan, 4);
  EXPECT_THAT(command, HasSubstr(" --integrator generalized-alpha,rho=0.5 --step "));
  EXPECT_THAT(command, HasSubstr(" --end 0.01"));
  EXPECT_THAT(command, HasSubstr(" --set spin=100 --set 'bodies.top.inertia[1]=0.44'"));
  // The page appends the parameters to the command of the variant.
  EXPECT_EQ(command.find(run_commands(file.plan)[1]), 0U);
  EXPECT_THAT(run_commands(file.layout)[1], HasSubstr("liedyn run heavy_top --formulation "));
  EXPECT_THAT(run_commands(file.layout)[1], HasSubstr("--integrator generalized-alpha,rho=0.5 --end 0.01"));
}

TEST_F(StudyPage, ScenesAreThoseOfTheCases) {
  const SweepFile file = study();
  const SweepTable table = run(file);
  const std::string scene = case_scene(file.plan, 2, [] { return true; });
  // The scene moves as the case did: its last recorded position is the output of the case.
  const Json read = Json::parse(scene);
  EXPECT_EQ(read["format"], "liedyn scene 1");
  const std::string page = study_page(table, "tops", run_commands(file.plan), {{2, scene}});
  EXPECT_EQ(content(page, "liedyn-case-2"), read);
  EXPECT_EQ(content(page, "liedyn-viewer"), viewer_template());
  EXPECT_EQ(content(page, "liedyn-study")["scenes"], Json({2}));
  int found = 0;
  for (const Json& channel : read["channels"]) {
    if (channel["name"] != "position") continue;
    ++found;
    const std::vector<double> values = unpack_array(channel["values"], "");
    ASSERT_GE(values.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k)  // 32-bit numbers
      EXPECT_NEAR(values[values.size() - 3 + k], table.outputs[k][2], 1e-6);
  }
  EXPECT_EQ(found, 1);
  EXPECT_EQ(case_scene(file.plan, 2, [] { return false; }), "");
}

TEST_F(StudyPage, CasesAreSpreadOverTheFirstOutput) {
  SweepTable table;
  const double none = std::numeric_limits<double>::quiet_NaN();
  table.outputs = {{5, 1, 4, none, 3, 2, 9}};
  table.status.assign(7, CaseStatus::Completed);
  table.status[6] = CaseStatus::TimedOut;
  EXPECT_THAT(cases_to_show(table, {}, 0), ElementsAre());
  EXPECT_THAT(cases_to_show(table, {}, 1), ElementsAre(4));               // the median
  EXPECT_THAT(cases_to_show(table, {}, 2), ElementsAre(0, 1));            // least and largest
  EXPECT_THAT(cases_to_show(table, {2, 6}, 3), ElementsAre(0, 1, 2, 4));  // 6 was not run to its end
  EXPECT_THAT(cases_to_show(table, {}, 100), ElementsAre(0, 1, 2, 4, 5));
}

TEST_F(StudyPage, MistakesAreFoundBeforeTheStudyRuns) {
  check_study_page(path("page.html"), 10);
  EXPECT_FALSE(std::filesystem::exists(path("page.html")));
  EXPECT_THROW(check_study_page(path("page.html"), 200001), InputError);
  EXPECT_THROW(check_study_page(path("no/page.html"), 10), InputError);
  write_whole(path("study.html"), "something else");
  EXPECT_THROW(check_study_page(path("page.html"), 10), InputError);
  std::filesystem::remove(path("study.html"));
  EXPECT_THROW(check_study_page(path("page.html"), 10), InputError);
}

}  // namespace
}  // namespace liedyn
