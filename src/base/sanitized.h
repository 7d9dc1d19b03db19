// LIEDYN_SANITIZED: defined in programs with the address, thread or memory sanitizer, which have an allocator and an address space of their own.
#pragma once

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LIEDYN_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIEDYN_SANITIZED
#endif
