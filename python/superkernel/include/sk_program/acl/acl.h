// The part of the runtime's host interface that programs with kernels of their own use, over the simulator's memory.
// Streams and events order nothing here: every launch has ended when its call returns.
#ifndef SK_PROGRAM_ACL_H
#define SK_PROGRAM_ACL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sk_program/launch.h"

typedef int aclError;
typedef uint16_t aclFloat16;
typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
typedef void *aclrtNotify;

static const int ACL_SUCCESS = 0;
static const int ACL_ERROR_NONE = 0;
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_BAD_ALLOC = 200000;
static const int ACL_ERROR_RT_PARAM_INVALID = 107000;

typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY,
} aclrtMemMallocPolicy;

typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
    ACL_MEMCPY_DEFAULT,
} aclrtMemcpyKind;

typedef enum aclrtRunMode { ACL_DEVICE, ACL_HOST } aclrtRunMode;

typedef enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
} aclrtDevAttr;

static const unsigned ACL_EVENT_SYNC = 1;
static const unsigned ACL_EVENT_CAPTURE_STREAM_PROGRESS = 2;
static const unsigned ACL_EVENT_TIME_LINE = 8;

// Half precision as bits.
inline float aclFloat16ToFloat(aclFloat16 bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    // Shifted into place the exponent is 112 too small, except for infinity and NaN.
    uint32_t word = magnitude << 13;
    float value;
    memcpy(&value, &word, sizeof(value));
    value *= 5.192296858534828e33f; // 2^112
    memcpy(&word, &value, sizeof(word));
    word = sign | (magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13 : word);
    memcpy(&value, &word, sizeof(value));
    return value;
}
inline aclFloat16 aclFloatToFloat16(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    const uint16_t sign = static_cast<uint16_t>(word >> 16 & 0x8000u);
    word &= 0x7fffffffu;
    if (word >= 0x47800000u) {
        return static_cast<aclFloat16>(sign | (word > 0x7f800000u ? 0x7e00u : 0x7c00u));
    }
    if (word < 0x38800000u) {
        // Below the smallest normal number: added to 0.5 the rounded result is in the low bits.
        memcpy(&value, &word, sizeof(value));
        value += 0.5f;
        memcpy(&word, &value, sizeof(word));
        return static_cast<aclFloat16>(sign | (word - 0x3f000000u));
    }
    return static_cast<aclFloat16>(sign | (word - (112u << 23) + 0xfffu + (word >> 13 & 1u)) >> 13);
}

inline aclError aclInit(const char *) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline const char *aclGetRecentErrMsg() { return ""; }
inline const char *aclrtGetSocName() { return sk_rt_program_soc(); }
// A launch that fails ends the program: there is no error that nobody has seen.
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;
inline aclError aclrtGetLastError(int) { return ACL_SUCCESS; }
inline aclError aclrtPeekAtLastError(int) { return ACL_SUCCESS; }

inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtGetDevice(int32_t *device) {
    *device = 0;
    return ACL_SUCCESS;
}
inline aclError aclrtGetDeviceCount(uint32_t *count) {
    *count = 1;
    return ACL_SUCCESS;
}
inline aclError aclrtGetRunMode(aclrtRunMode *mode) {
    *mode = ACL_HOST;
    return ACL_SUCCESS;
}
inline aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t *value) {
    *value = sk_rt_program_cores(attribute == ACL_DEV_ATTR_VECTOR_CORE_NUM);
    return ACL_SUCCESS;
}
inline aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }

// Handles are never looked at; they only must not be null.
namespace sk_program {
inline char handle;
} // namespace sk_program

inline aclError aclrtCreateContext(aclrtContext *context, int32_t) {
    *context = &sk_program::handle;
    return ACL_SUCCESS;
}
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtCreateStream(aclrtStream *stream) {
    *stream = &sk_program::handle;
    return ACL_SUCCESS;
}
inline aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) { return aclrtCreateStream(stream); }
inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtDestroyStreamForce(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t) { return ACL_SUCCESS; }
inline aclError aclrtCreateEvent(aclrtEvent *event) {
    *event = &sk_program::handle;
    return ACL_SUCCESS;
}
inline aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) { return aclrtCreateEvent(event); }
inline aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t) { return aclrtCreateEvent(event); }
inline aclError aclrtDestroyEvent(aclrtEvent) { return ACL_SUCCESS; }
inline aclError aclrtRecordEvent(aclrtEvent, aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeEvent(aclrtEvent) { return ACL_SUCCESS; }

inline aclError aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy) {
    *memory = bytes == 0 ? nullptr : sk_rt_program_allocate(bytes);
    return bytes == 0 ? ACL_ERROR_INVALID_PARAM : *memory == nullptr ? ACL_ERROR_BAD_ALLOC : ACL_SUCCESS;
}
inline aclError aclrtFree(void *memory) {
    return sk_rt_program_release(memory) != 0 ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}
inline aclError aclrtMallocHost(void **memory, size_t bytes) {
    *memory = malloc(bytes == 0 ? 1 : bytes);
    return *memory == nullptr ? ACL_ERROR_BAD_ALLOC : ACL_SUCCESS;
}
inline aclError aclrtFreeHost(void *memory) {
    free(memory);
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpy(void *target, size_t room, const void *source, size_t bytes, aclrtMemcpyKind) {
    if (target == nullptr || source == nullptr || bytes > room) {
        return ACL_ERROR_INVALID_PARAM;
    }
    memmove(target, source, bytes);
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void *target, size_t room, const void *source, size_t bytes, aclrtMemcpyKind kind,
                                 aclrtStream) {
    return aclrtMemcpy(target, room, source, bytes, kind);
}
inline aclError aclrtMemset(void *target, size_t room, int32_t value, size_t bytes) {
    if (target == nullptr || bytes > room) {
        return ACL_ERROR_INVALID_PARAM;
    }
    memset(target, value, bytes);
    return ACL_SUCCESS;
}
inline aclError aclrtMemsetAsync(void *target, size_t room, int32_t value, size_t bytes, aclrtStream) {
    return aclrtMemset(target, room, value, bytes);
}

#endif
