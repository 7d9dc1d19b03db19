// A client of servers of this machine, for tests: bytes to and from 127.0.0.1.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace liedyn::test {

inline constexpr int kPatience = 20000;  // milliseconds, on a machine that has other things to do

inline sockaddr_in endpoint(std::uint32_t address, int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  out.sin_addr.s_addr = htonl(address);
  return out;
}

// A connection to the server, from this machine.
class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in to = endpoint(INADDR_LOOPBACK, port);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << errno;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& text) const { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  // All that comes until the server closes, or until the text is among it.
  std::string read(const std::string& until = "") const {
    std::string out;
    pollfd ready{socket_, POLLIN, 0};
    while (until.empty() || out.find(until) == std::string::npos) {
      if (poll(&ready, 1, kPatience) <= 0) return out + "(nothing more came)";
      char buffer[4096];
      const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      out.append(buffer, static_cast<std::size_t>(count));
    }
    return out;
  }

 private:
  int socket_;
};

}  // namespace liedyn::test
