#include "liedyn/io/json.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace liedyn {
namespace {

TEST(Json, ReadsEveryTypeOfValue) {
  const JsonDocument document = JsonDocument::parse(
      R"({"null": null, "yes": true, "no": false, "integer": -3, "real": 2.5e-3, "big": 12345678901234567890,
                             "text": "a\nb\u00e9", "array": [1, [2, 3], {}], "object": {"inner": []}})",
      "");
  const JsonValue root = document.root();
  EXPECT_EQ(root.size(), 9u);
  EXPECT_TRUE(root.find("null").is(JsonType::Null));
  EXPECT_TRUE(root.find("yes").boolean());
  EXPECT_FALSE(root.find("no").boolean());
  EXPECT_EQ(root.find("integer").number(), -3);
  EXPECT_EQ(root.find("real").number(), 2.5e-3);
  EXPECT_EQ(root.find("big").number(), 12345678901234567890.0);
  EXPECT_EQ(root.find("text").text(), "a\nb\xc3\xa9");
  std::vector<std::string> items;
  for (JsonValue item : root.find("array")) items.push_back(item.describe());
  EXPECT_EQ(items, (std::vector<std::string>{"1", "an array of 2", "an object"}));
  EXPECT_EQ(root.find("object").find("inner").size(), 0u);
  EXPECT_FALSE(static_cast<bool>(root.find("other")));
}

TEST(Json, CommentsAreSkippedAndLinesCounted) {
  const JsonDocument document = JsonDocument::parse(
      "// first\n{ // one\n  \"a\": 1, /* two\n  lines */ \"b\": 2// close\n, \"c\": \"http://x /* y */\" "
      "}\n// last",
      "f");
  EXPECT_EQ(document.root().size(), 3u);
  EXPECT_EQ(document.root().find("a").line(), 3);
  EXPECT_EQ(document.root().find("b").line(), 4);
  EXPECT_EQ(document.root().find("b").number(), 2);
  EXPECT_EQ(document.root().find("c").text(), "http://x /* y */");
  for (const char* wrong : {"{ /* never closed }", "{ / }", "/", "// nothing but a comment"})
    EXPECT_THROW(JsonDocument::parse(wrong, "f"), InputError) << wrong;
}

TEST(Json, EveryValueKnowsItsLine) {
  // Numbers are the difficult ones: the parser reads one character past them.
  const JsonDocument document = JsonDocument::parse(
      "{\n\"a\": 1\n,\"b\":\n2,\n\"c\": [\n1.5\n,\r\n-2\r\n], \"d\": true\n,\"e\": \"x\"\n}\n", "");
  const JsonValue root = document.root();
  EXPECT_EQ(root.line(), 1);
  EXPECT_EQ(root.find("a").line(), 2);
  EXPECT_EQ(root.find("b").line(), 4);
  EXPECT_EQ(root.find("c").line(), 5);
  EXPECT_EQ((*root.find("c").begin()).line(), 6);
  EXPECT_EQ((*++root.find("c").begin()).line(), 8);
  EXPECT_EQ(root.find("d").line(), 9);
  EXPECT_EQ(root.find("e").line(), 10);
}

TEST(Json, DuplicateKeysAreReportedAndLeftOut) {
  const JsonDocument document =
      JsonDocument::parse("{\"a\": {\"b\": 1,\n\"c\": 2,\n\"b\": [3, 4]},\n\"a\": 5}", "f.json");
  ASSERT_EQ(document.duplicates().size(), 2u);
  EXPECT_EQ(to_string(document.duplicates()[0]), "f.json:3: a.b: this key is given twice");
  EXPECT_EQ(to_string(document.duplicates()[1]), "f.json:4: a: this key is given twice");
  EXPECT_EQ(document.root().size(), 1u);
  const JsonValue a = document.root().find("a");
  int count = 0;
  for (JsonValue child : a) {
    ++count;
    EXPECT_TRUE(child.is(JsonType::Number));
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(a.size(), 2u);
}

struct Mistake {
  std::string text;
  std::string beginning;  // of the message
  std::string words;      // somewhere in it
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.text.substr(0, 40); }
class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithTheirLine) {
  try {
    JsonDocument::parse(GetParam().text, "f");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.substr(0, GetParam().beginning.size()), GetParam().beginning) << what;
    EXPECT_NE(what.find(GetParam().words), std::string::npos) << what;
    EXPECT_LT(what.size(), 400u) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Json, Mistakes,
    testing::Values(Mistake{"", "f: is empty", ""}, Mistake{" \n\t", "f: is empty", ""},
                    Mistake{std::string("{\0}", 3), "f: is not a text file", ""},
                    Mistake{"{\n\"a\": NaN}", "f:2: not valid JSON", "no NaN or infinity"},
                    Mistake{"{\"a\": nan}", "f:1:", "no NaN or infinity"},
                    Mistake{"[\n\n-Infinity]", "f:3:", "no NaN or infinity"},
                    Mistake{"[Infinity]", "f:1:", "no NaN or infinity"},
                    Mistake{"[\n1e999\n]", "f:2:", "number overflow"},
                    Mistake{"{\n\"a\": 1,\n}", "f:3:", "remove the comma"},
                    Mistake{"[1,\n2,]", "f:2:", "remove the comma"},
                    Mistake{"[1\n2]", "f:2:", "is a comma missing"},
                    Mistake{"{\"a\": 1\n\"b\": 2}", "f:2:", "is a comma missing"},
                    Mistake{"{'a': 1}", "f:1:", "double quotation marks"},
                    Mistake{"{\n# text\n\"a\": 1}", "f:2:", "comments begin with //"},
                    Mistake{"{\"a\": 1", "f:1:", "closing bracket"}, Mistake{"{\"a\": \"b", "f:1:", "quot"},
                    Mistake{"{\"a\": 1} x", "f:1:", "end of input"},
                    Mistake{"[1] [2]", "f:1:", "end of input"}, Mistake{"{\"a\" 1}", "f:1:", "':'"},
                    Mistake{"[01]", "f:1:", ""}, Mistake{"[\"\xff\"]", "f:1:", "UTF-8"},
                    Mistake{"[\"\\u12\"]", "f:1:", "invalid string"},
                    Mistake{"[\"a\tb\"]", "f:1:", "control character"},
                    Mistake{"[\n\"a\n]", "f:2: not valid JSON: missing closing quote", "on one line"},
                    Mistake{"[\"a\r\n]", "f:1:", "on one line"},
                    Mistake{std::string(1000000, '['), "f:1: nested more than 100 levels deep", ""},
                    Mistake{std::string(1, '"').append(1000000, 'a'), "f:1:", ""},
                    Mistake{"\x89PNG\r\n\x1a\n", "f:1:", ""}));

TEST(Json, ALargeFileIsReadInMilliseconds) {
  std::string text = "{\"bodies\": {";
  for (int i = 0; i < 10000; ++i)
    text += fmt::format(
        "{}\"link{}\": {{\"type\": \"rigid\", \"mass\": 1.25, \"inertia\": [0.0123456789012345, 0.1, 0.1],\n"
        "  \"position\": [{}.5, 0, 0], \"orientation\": {{\"rotation_vector\": [0.1, 0.2, 0.3]}},\n"
        "  \"velocity\": [0.123, 0.456, 0.789], \"angular_velocity\": [1e-3, 2e-3, 3e-3]}}",
        i > 0 ? ",\n" : "", i, i);
  text += "}}";
  const auto begin = std::chrono::steady_clock::now();
  const JsonDocument document = JsonDocument::parse(text, "");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(document.root().find("bodies").size(), 10000u);
  RecordProperty("megabytes_per_second",
                 fmt::format("{}", static_cast<double>(text.size()) * 1e-6 / seconds));
  EXPECT_LT(seconds, 3) << "the release build needs less than 0.1 s; this bound only finds quadratic time";
}

TEST(ReadTextFile, ExplainsWhatItCannotRead) {
  const auto message = [](const std::string& file) {
    try {
      read_text_file(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(message("no_such_file.json"), "no_such_file.json: there is no such file");
  EXPECT_EQ(message(testing::TempDir()), testing::TempDir() + ": is a directory, expected a file");
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: is not a regular file");

  const std::string binary = testing::TempDir() + "liedyn_binary_file";
  std::ofstream(binary) << std::string(10, '\0');
  EXPECT_EQ(message(binary), binary + ": is not a text file (it contains zero bytes), expected JSON");
  std::filesystem::resize_file(binary, std::uintmax_t{1} << 40);  // sparse: takes no space on the disk
  EXPECT_EQ(message(binary), binary + ": is larger than 4 GB, which is more than a model can be");
  std::filesystem::remove(binary);
}

}  // namespace
}  // namespace liedyn
