// What the server of the live view gives to whom: requests as bytes, from this machine alone, a few of each kind.
#include "liedyn/io/live_server.h"

#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "liedyn/io/testing.h"

namespace liedyn {
namespace {

using test::Client;
using test::endpoint;
using test::kPatience;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Server : public testing::Test {
 protected:
  std::string ask(const std::string& text) const {
    const Client client(server.port());
    client.send(text);
    return client.read();
  }
  std::string host() const { return fmt::format("127.0.0.1:{}", server.port()); }
  std::string token() const { return server.address().substr(server.address().find("token=") + 6); }
  std::string get(const std::string& path, const std::string& more = "") const {
    return ask(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", path, host(), more));
  }
  std::string post(const std::string& path, const std::string& body) const {
    return ask(fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{}", path,
        host(), token(), body.size(), body));
  }

  std::atomic<int> commands = 0;
  std::atomic<bool> over = false;
  LiveServer server{LiveServer::Content{.page = "<p>the page</p>",
                                        .open_events =
                                            [this] {
                                              return [this, n = 0]() mutable -> std::optional<std::string> {
                                                if (over) return std::nullopt;
                                                return n++ == 0 ? "event: first\ndata: {}\n\n" : "";
                                              };
                                            },
                                        .command =
                                            [this](std::string_view action, std::string_view body) {
                                              ++commands;
                                              return action == "set" && body == "{\"a\":1}" ? 204 : 400;
                                            }}};
};

TEST_F(Server, GivesThePageToWhoHasTheAddress) {
  EXPECT_EQ(server.address(), fmt::format("http://{}/?token={}", host(), token()));
  EXPECT_GE(token().size(), 32U) << "128 bits as hexadecimal digits";
  const std::string page = get("/?token=" + token());
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("<p>the page</p>"),
                          HasSubstr("Content-Type: text/html"), HasSubstr("default-src 'none'"),
                          HasSubstr("Cache-Control: no-store"), HasSubstr("Referrer-Policy: no-referrer"),
                          Not(HasSubstr("Access-Control-Allow"))));
  EXPECT_THAT(get("/", "Authorization: Bearer " + token() + "\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Server, HasAnotherTokenEachTime) {
  const LiveServer other(LiveServer::Content{});
  EXPECT_NE(server.address().substr(server.address().find("token=")),
            other.address().substr(other.address().find("token=")));
}

TEST_F(Server, RefusesRequestsWithoutTheToken) {
  std::string wrong = token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), "/?token=" + wrong, "/?token=" + token().substr(1), "/?token=" + token() + "0",
        std::string("/?token="), "/?nottoken=" + token(), std::string("/run"), std::string("/anything"),
        "/run?token=" + wrong})
    EXPECT_THAT(get(path), AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("the page")))) << path;
  EXPECT_THAT(
      ask(fmt::format("POST /run/set HTTP/1.1\r\nHost: {}\r\nContent-Length: 7\r\n\r\n{{\"a\":1}}", host())),
      StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(commands, 0);
}

TEST_F(Server, RefusesHostsAndOriginsOfOthers) {
  // A page elsewhere whose name was made to mean 127.0.0.1 (DNS rebinding) sends its own name.
  for (const std::string& other :
       {std::string("example.org"), fmt::format("example.org:{}", server.port()), std::string("127.0.0.1"),
        std::string(""), fmt::format("127.0.0.1.example.org:{}", server.port())})
    EXPECT_THAT(ask(fmt::format("GET /?token={} HTTP/1.1\r\nHost: {}\r\n\r\n", token(), other)),
                StartsWith("HTTP/1.1 403"))
        << other;
  EXPECT_THAT(ask(fmt::format("GET /?token={} HTTP/1.1\r\n\r\n", token())), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(get("/?token=" + token(), "Origin: http://example.org\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(get("/?token=" + token(), fmt::format("Origin: http://{}\r\n", host())),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(
      ask(fmt::format("GET /?token={} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", token(), server.port())),
      StartsWith("HTTP/1.1 200"));
}

TEST_F(Server, KnowsNoFiles) {
  for (const char* path :
       {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/run/../../etc/passwd", "/./",
        "/%2e%2e/", "/run/..", "/RUN", "/index.html", "/run/\\..\\..", "file:///etc/passwd"}) {
    const std::string answer = get(fmt::format("{}?token={}", path, token()));
    EXPECT_THAT(answer, testing::AnyOf(StartsWith("HTTP/1.1 404"), StartsWith("HTTP/1.1 405"),
                                       StartsWith("HTTP/1.1 400")))
        << path;
    EXPECT_THAT(answer, AllOf(Not(HasSubstr("root:")), Not(HasSubstr("the page")))) << path;
    EXPECT_THAT(get(path), AllOf(Not(HasSubstr("root:")), Not(StartsWith("HTTP/1.1 200")))) << path;
  }
}

TEST_F(Server, PassesCommandsOn) {
  EXPECT_THAT(post("/run/set", "{\"a\":1}"), StartsWith("HTTP/1.1 204"));
  EXPECT_THAT(post("/run/other", ""), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(commands, 2);
  EXPECT_THAT(get("/run/set?token=" + token()), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(post("/", ""), StartsWith("HTTP/1.1 405"));
}

TEST_F(Server, RefusesWhatIsTooLongOrNoRequest) {
  EXPECT_THAT(post("/run/set", std::string(LiveServer::kLargestBody + 1, 'x')), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(get("/?token=" + token(), "A: " + std::string(LiveServer::kLargestHeader, 'x') + "\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(get("/" + std::string(LiveServer::kLargestHeader, 'x')), StartsWith("HTTP/1.1 431"));
  // A body in chunks counts as well.
  EXPECT_THAT(ask(fmt::format("POST /run/set HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer "
                              "{}\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n{}\r\n0\r\n\r\n",
                              host(), token(), std::string(0x2000, 'x'))),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask(std::string("\0\1\2\r\n\r\n", 7)), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(commands, 0);
  EXPECT_THAT(get("/?token=" + token()), StartsWith("HTTP/1.1 200")) << "it goes on";
}

TEST_F(Server, IsReachedAtLoopbackOnly) {
  std::vector<std::uint32_t> addresses = {
      0x7f000002};  // 127.0.0.2 is this machine as well, and every machine has it
  ifaddrs* list = nullptr;
  ASSERT_EQ(getifaddrs(&list), 0);
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next)
    if (i->ifa_addr != nullptr && i->ifa_addr->sa_family == AF_INET) {
      const std::uint32_t address = ntohl(reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr.s_addr);
      if (address != INADDR_LOOPBACK) addresses.push_back(address);
    }
  freeifaddrs(list);
  for (const std::uint32_t address : addresses) {
    const int one = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in to = endpoint(address, server.port());
    EXPECT_NE(connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << std::hex << address;
    EXPECT_EQ(errno, ECONNREFUSED) << std::hex << address;
    close(one);
  }
}

TEST_F(Server, StreamsEventsUntilTheyEndOrThePageIsClosed) {
  EXPECT_FALSE(server.was_read());
  const auto readers_are = [&](int count) {
    for (int i = 0; i < kPatience / 10 && server.readers() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return server.readers() == count;
  };
  const std::string request = fmt::format("GET /run?token={} HTTP/1.1\r\nHost: {}\r\n\r\n", token(), host());
  {
    const Client closed(server.port());
    closed.send(request);
    EXPECT_THAT(closed.read("data: {}\n\n"),
                AllOf(HasSubstr("Content-Type: text/event-stream"), HasSubstr("event: first\ndata: {}\n\n")));
    EXPECT_TRUE(readers_are(1));
  }
  EXPECT_TRUE(readers_are(0)) << "the page was closed";
  const Client client(server.port());
  client.send(request);
  EXPECT_THAT(client.read("data: {}\n\n"), HasSubstr("event: first"));
  over = true;
  EXPECT_EQ(client.read(), "");
  EXPECT_TRUE(readers_are(0));
  EXPECT_TRUE(server.was_read());
}

TEST_F(Server, SurvivesConnectionsThatSayNothing) {
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Client>(server.port()));
  for (std::size_t i = 0; i < silent.size(); i += 2) silent[i]->send("GET / HTTP/1.1\r\nHo");
  EXPECT_THAT(get("/?token=" + token()), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace liedyn
