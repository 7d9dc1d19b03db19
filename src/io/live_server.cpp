#include "liedyn/io/live_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Failure = beast::error_code;

constexpr auto kRequestTime = std::chrono::seconds(10);  // to read a request, or to write its answer
constexpr auto kStallTime = std::chrono::seconds(60);    // of a page that reads nothing: then it is given up
constexpr auto kDrainTime = std::chrono::seconds(2);
constexpr std::size_t kMostDrained = 1 << 20;
constexpr auto kPollTime = std::chrono::milliseconds(20);
constexpr auto kBeatTime = std::chrono::seconds(2);

// 192 bits of the operating system, as 48 hexadecimal digits.
std::string new_token() {
  std::array<unsigned char, 24> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw InputError("--view", "the operating system provides no random numbers for the token of the page");
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

// In a time that depends on the length alone.
bool same(std::string_view given, std::string_view expected) {
  unsigned char difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < expected.size(); ++i)
    difference |= static_cast<unsigned char>(expected[i] ^ (i < given.size() ? given[i] : '\0'));
  return difference == 0;
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

// The value of a key in a query, "a=1&token=2"; tokens need no decoding.
std::string_view query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
      return part.substr(key.size() + 1);
  }
  return {};
}

// Programs that are started later, a browser say, do not inherit it.
void keep_to_this_process(int handle) { fcntl(handle, F_SETFD, FD_CLOEXEC); }

// What all answers say: the page is for this address alone, loads nothing else, and stays in no cache. Notebooks of this machine may frame it.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Cache-Control", "no-store"},
    {"Connection", "close"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'self' http://127.0.0.1:* http://localhost:* vscode-webview:"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

}  // namespace

struct LiveServer::Parts {
  class Connection;
  explicit Parts(Content given) : content(std::move(given)), token(new_token()) {}

  void accept();

  Content content;
  std::string token, address;
  std::array<std::string, 2> hosts;  // what the header Host may say
  int port = 0;
  std::atomic<int> connections = 0, readers = 0;
  std::atomic<bool> was_read = false;
  // Destroyed before the counters above, which connections use to the last.
  asio::io_context io{1};
  Tcp::acceptor acceptor{io};
  asio::steady_timer retry{io};
  std::thread thread;
};

// One request and its answer, or one reader of events. All in the thread of the server: nothing waits, except for the network and the clock.
class LiveServer::Parts::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Parts& server, Tcp::socket socket)
      : server_(server), stream_(std::move(socket)), timer_(stream_.get_executor()) {
    ++server_.connections;
    parser_.header_limit(static_cast<std::uint32_t>(kLargestHeader));
    parser_.body_limit(kLargestBody);
  }
  ~Connection() {
    --server_.connections;
    if (reader_) --server_.readers;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    stream_.expires_after(kRequestTime);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](Failure failure, std::size_t) {
      if (failure == http::error::header_limit) {
        self->answer(http::status::request_header_fields_too_large);
      } else if (failure == http::error::body_limit) {
        self->answer(http::status::payload_too_large);
      } else if (failure.category() == http::make_error_code(http::error::end_of_stream).category() &&
                 failure != http::error::end_of_stream && failure != http::error::partial_message) {
        self->answer(http::status::bad_request);
      } else if (!failure) {
        self->route();
      }
    });
  }

 private:
  using Request = http::request<http::string_body>;

  // Where it comes from is asked before what it wants.
  bool is_allowed(const Request& request, std::string_view query) const {
    const std::string_view host = view_of(request[http::field::host]);
    if (host != server_.hosts[0] && host != server_.hosts[1]) return false;
    if (request.count(http::field::origin) > 0) {
      const std::string_view origin = view_of(request[http::field::origin]);
      if (origin != "http://" + std::string(host)) return false;
    }
    std::string_view token = query_value(query, "token");
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view authorization = view_of(request[http::field::authorization]);
    if (authorization.starts_with(kBearer)) token = authorization.substr(kBearer.size());
    return same(token, server_.token);
  }

  void route() {
    const Request& request = parser_.get();
    const std::string_view target = view_of(request.target());
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
    if (!is_allowed(request, query)) return answer(http::status::forbidden);
    constexpr std::string_view kCommands = "/run/";
    const bool reads = request.method() == http::verb::get, writes = request.method() == http::verb::post;
    if (path == "/" || path == "/run") {
      if (!reads) return answer(http::status::method_not_allowed);
      if (path == "/") return answer(http::status::ok, server_.content.page);
      return send_events();
    }
    if (!path.starts_with(kCommands)) return answer(http::status::not_found);
    if (!writes) return answer(http::status::method_not_allowed);
    answer(static_cast<http::status>(server_.content.command(path.substr(kCommands.size()), request.body())));
  }

  void answer(http::status status, const std::string& page = "") {
    response_.result(status);
    response_.version(11);
    for (const auto& [name, value] : kHeaders) response_.set(name, value);
    response_.set(http::field::content_type, page.empty() ? "text/plain" : "text/html; charset=utf-8");
    response_.body() = page.empty() && status != http::status::no_content
                           ? std::string(view_of(http::obsolete_reason(status))) + "\n"
                           : page;
    response_.prepare_payload();
    stream_.expires_after(kRequestTime);
    http::async_write(stream_, response_, [self = shared_from_this()](Failure, std::size_t) {
      Failure ignored;
      self->stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
      self->drain(kMostDrained);
    });
  }

  // Reads what is left of a request that was too long: if it were cut off, the answer would be lost.
  void drain(std::size_t most) {
    stream_.expires_after(kDrainTime);
    stream_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this(), most](Failure failure, std::size_t count) {
                              if (!failure && count < most) self->drain(most - count);
                            });
  }

  void send_events() {
    reader_ = server_.content.open_events();
    ++server_.readers;
    server_.was_read = true;
    text_ = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    for (const auto& [name, value] : kHeaders) text_ += fmt::format("{}: {}\r\n", name, value);
    text_ += "\r\n";
    // A page that goes away ends the connection; it has nothing else to say.
    stream_.socket().async_read_some(asio::buffer(rest_, 1),
                                     [self = shared_from_this()](Failure, std::size_t) {
                                       self->is_closed_ = true;
                                       self->timer_.cancel();
                                       self->stream_.cancel();
                                     });
    write_text();
  }

  void write_text() {
    last_write_ = std::chrono::steady_clock::now();
    stream_.expires_after(kStallTime);
    asio::async_write(stream_, asio::buffer(text_),
                      [self = shared_from_this()](Failure failure, std::size_t) {
                        self->stream_.expires_never();
                        if (failure)
                          self->close();
                        else
                          self->read_on();
                      });
  }

  // Asks for what is new, again and again; a page that is slow is not asked for until it has taken the last events.
  void read_on() {
    if (is_closed_) return close();
    std::optional<std::string> news = reader_();
    if (!news) return close();
    const auto now = std::chrono::steady_clock::now();
    if (news->empty() && now - last_write_ > kBeatTime) *news = ":\n\n";  // a comment: is it still there?
    if (!news->empty()) {
      text_ = std::move(*news);
      return write_text();
    }
    timer_.expires_after(kPollTime);
    timer_.async_wait([self = shared_from_this()](Failure) { self->read_on(); });
  }

  void close() {
    Failure ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

  Parts& server_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_{kLargestHeader + kLargestBody};
  http::request_parser<http::string_body> parser_;
  http::response<http::string_body> response_;
  Reader reader_;
  std::string text_;  // being written
  std::array<char, 4096> rest_{};
  bool is_closed_ = false;
  std::chrono::steady_clock::time_point last_write_;
};

void LiveServer::Parts::accept() {
  acceptor.async_accept([this](Failure failure, Tcp::socket socket) {
    if (!failure && connections < kMostConnections) {
      keep_to_this_process(socket.native_handle());
      std::make_shared<Connection>(*this, std::move(socket))->read();
    }
    if (failure == asio::error::operation_aborted) return;
    if (!failure) return accept();
    // No handles are left, say: later again.
    retry.expires_after(kPollTime);
    retry.async_wait([this](Failure) { accept(); });
  });
}

LiveServer::LiveServer(Content content) try : parts_(std::make_unique<Parts>(std::move(content))) {
  Parts& p = *parts_;
  const Tcp::endpoint loopback(asio::ip::address_v4::loopback(), 0);
  p.acceptor.open(loopback.protocol());
  keep_to_this_process(p.acceptor.native_handle());
  p.acceptor.bind(loopback);
  p.acceptor.listen();
  p.port = p.acceptor.local_endpoint().port();
  p.hosts = {fmt::format("127.0.0.1:{}", p.port), fmt::format("localhost:{}", p.port)};
  p.address = fmt::format("http://{}/?token={}", p.hosts[0], p.token);
  p.accept();
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  p.thread = std::thread([&p] { p.io.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
} catch (const boost::system::system_error& error) {
  throw InputError("--view",
                   fmt::format("cannot listen at 127.0.0.1 for the page: {}", error.code().message()));
}

LiveServer::~LiveServer() {
  parts_->io.stop();
  parts_->thread.join();
}

const std::string& LiveServer::address() const { return parts_->address; }
int LiveServer::port() const { return parts_->port; }
int LiveServer::readers() const { return parts_->readers; }
bool LiveServer::was_read() const { return parts_->was_read; }

}  // namespace liedyn
