// A server of one page for the browsers of this machine: the page, a stream of server-sent events for each of its readers, and commands.
//
// It listens at 127.0.0.1 alone, at a port that the system chooses. Requests need the token of the address and a Host of this machine, so that neither other users nor
// pages of other origins (DNS rebinding) get anything. There are these routes and no files: a path names nothing outside of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace liedyn {

class LiveServer {
 public:
  // What one reader of the events has not got yet: text of whole events, empty if there is nothing new, and nothing at all when the stream has ended.
  using Reader = std::function<std::optional<std::string>()>;
  struct Content {
    std::string page;                     // GET /
    std::function<Reader()> open_events;  // GET /run: a reader of its own for each page
    // POST /run/ACTION with a body of at most kLargestBody bytes; gives the status of the answer, 204 if it was accepted.
    std::function<int(std::string_view action, std::string_view body)> command;
  };
  static constexpr std::size_t kLargestBody = 4096, kLargestHeader = 8192;
  static constexpr int kMostConnections = 64;

  // Its functions are called by the one thread of the server. Throws InputError if there is no port or no token.
  explicit LiveServer(Content content);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  // http://127.0.0.1:PORT/?token=TOKEN
  const std::string& address() const;
  int port() const;
  // Pages that read events now, and whether there was ever one.
  int readers() const;
  bool was_read() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace liedyn
