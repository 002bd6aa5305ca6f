// Enumerations and marks of the device. Numbers that kernels write are part of the interface.
#ifndef SK_CORE_TYPES_H
#define SK_CORE_TYPES_H

typedef enum {
    PIPE_S = 0,
    PIPE_V = 1,
    PIPE_M = 2,
    PIPE_MTE1 = 3,
    PIPE_MTE2 = 4,
    PIPE_MTE3 = 5,
    PIPE_ALL = 6,
    PIPE_MTE4 = 7,
    PIPE_MTE5 = 8,
    PIPE_V2 = 9,
    PIPE_FIX = 10,
} pipe_t;

typedef enum {
    EVENT_ID0 = 0,
    EVENT_ID1 = 1,
    EVENT_ID2 = 2,
    EVENT_ID3 = 3,
    EVENT_ID4 = 4,
    EVENT_ID5 = 5,
    EVENT_ID6 = 6,
    EVENT_ID7 = 7,
} event_t;

enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum dcci_dst_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };

// Pairs of address registers.
enum ub_addr8_t { VA0 = 0, VA1 = 1, VA2 = 2, VA3 = 3, VA4 = 4, VA5 = 5, VA6 = 6, VA7 = 7 };

// What the fixpipe does to results on their way out of L0C. Names of other chips exist so that code compiles.
// How a product shares its results with the fixpipe: block by block without flags between them, or not at all.
enum unit_flag_t {
    UFMode0 = 0,
    UFMode1 = 1,
    // More is added to the result.
    UFMode2 = 2,
    // The result is complete, or is taken when it is.
    UFMode3 = 3,
};

enum QuantMode_t {
    NoQuant = 0,
    F322F16 = 1,
    F322BF16 = 2,
    QF322B8_PRE = 3,
    VQF322B8_PRE = 4,
    REQ8 = 5,
    VREQ8 = 6,
    DEQF16 = 7,
    VDEQF16 = 8,
    DEQS16 = 9,
    VDEQS16 = 10,
    REQ4 = 11,
    VREQ4 = 12,
    QF162B8_PRE = 13,
    VQF162B8_PRE = 14,
    QF162S16_PRE = 15,
    VQF162S16_PRE = 16,
    QF162S4_PRE = 17,
    VQF162S4_PRE = 18,
    QF322F16_PRE = 19,
    VQF322F16_PRE = 20,
    QF322BF16_PRE = 21,
    VQF322BF16_PRE = 22,
    QF322F32_PRE = 23,
    VQF322F32_PRE = 24,
    QF322FP8_PRE = 25,
    VQF322FP8_PRE = 26,
    QF322HIF8_PRE = 27,
    VQF322HIF8_PRE = 28,
    QF322HIF8_PRE_HYBRID = 29,
    VQF322HIF8_PRE_HYBRID = 30,
    QS322BF16_PRE = 31,
    VQS322BF16_PRE = 32,
};

#endif
