// TPipe and its queues: allocation of local memory, with the limits of the real one.
#ifndef SK_HOST_PIPE_H
#define SK_HOST_PIPE_H

namespace AscendC {
namespace {

using TBufHandle = int32_t;
using TEventID = int32_t;

// Buffers of one queue. At most 8 buffers, as on the device.
struct SkHostPool {
    static constexpr uint32_t LIMIT = 8;

    uint8_t *base = nullptr;
    uint32_t count = 0;
    uint32_t bytes = 0;
    bool used[LIMIT] = {};
};

// Positions in reports.
constexpr const char *sk_host_position_name(TPosition position) {
    constexpr const char *names[] = {"GM",  "A1",  "A2",    "B1",     "B2",      "C1",  "C2",
                                     "CO1", "CO2", "VECIN", "VECOUT", "VECCALC", "SPM", "TSCM", "C2PIPE2GM"};
    return names[static_cast<uint8_t>(position)];
}

// Which pipe fills a tensor at a position, and which one reads it.
constexpr pipe_t sk_host_filling_pipe(TPosition position) {
    switch (position) {
    case TPosition::VECOUT:
    case TPosition::VECCALC:
        return PIPE_V;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
        return PIPE_MTE1;
    case TPosition::CO1:
        return PIPE_M;
    case TPosition::CO2:
    case TPosition::C2PIPE2GM:
        return PIPE_FIX;
    default:
        return PIPE_MTE2;
    }
}
constexpr pipe_t sk_host_reading_pipe(TPosition position) {
    switch (position) {
    case TPosition::VECIN:
    case TPosition::VECCALC:
        return PIPE_V;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
        return PIPE_M;
    case TPosition::CO1:
    case TPosition::C2PIPE2GM:
        return PIPE_FIX;
    case TPosition::VECOUT:
    case TPosition::CO2:
        return PIPE_MTE3;
    default:
        return PIPE_MTE1;
    }
}
// A tensor on its way from one position to another.
template <TPosition from, TPosition to>
constexpr pipe_t SK_HOST_FILLS = sk_host_filling_pipe(from == TPosition::GM ? to : from);
template <TPosition from, TPosition to>
constexpr pipe_t SK_HOST_READS = sk_host_reading_pipe(to == TPosition::GM ? from : to);

inline void sk_host_tell_queue(SkQueue action, const void *buffer, pipe_t pipe, sk_host::Site site) {
    if (sk_rt_watch & SK_WATCH_ORDER) {
        sk_rt_queue(action, buffer, pipe, 0, nullptr, site.file, site.line);
    }
}

// The state that a kernel finds: no atomics, all elements enabled, whole L1, padding with 0.
inline void InitSocState() {
    set_atomic_none();
    if ASCEND_IS_AIV {
        set_mask_norm();
        set_vector_mask(UINT64_MAX, UINT64_MAX);
    } else {
        set_l1_3d_size(0);
        set_padding(0);
    }
}

class TPipe {
  public:
    TPipe(sk_host::Site site = sk_host::Site::Here()) : made_(site) {
        InitSocState();
        sk_rt_core()->pipe = this;
        RaiseCubeEvents();
    }
    ~TPipe() {
        Destroy();
        if (sk_rt_core()->pipe == this) {
            sk_rt_core()->pipe = nullptr;
        }
    }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    template <class Queue>
    bool InitBuffer(Queue &queue, uint32_t number, uint32_t length, sk_host::Site site = sk_host::Site::Here()) {
        if (number == 0 || number > SkHostPool::LIMIT) {
            sk_host::Violation(site, "TPipe::InitBuffer: %u buffers; a queue has 1 to %u", number, SkHostPool::LIMIT);
        }
        CountBuffers(number, site);
        const uint32_t rounded = static_cast<uint32_t>(sk_host::RoundUp(length, sk_host::BLOCK_BYTES));
        queue.pool_ = SkHostPool{};
        queue.pool_.base = Reserve(Queue::position, static_cast<uint64_t>(rounded) * number, site);
        queue.pool_.count = number;
        queue.pool_.bytes = rounded;
        if (sk_rt_watch & SK_WATCH_ORDER) {
            for (uint32_t slot = 0; slot < number; ++slot) {
                const uint8_t *start = queue.pool_.base + static_cast<uint64_t>(slot) * rounded;
                sk_rt_queue(SK_QUEUE_INIT, start, PIPE_S, rounded, sk_host_position_name(Queue::position), site.file,
                            site.line);
                queued_[queuedCount_++] = Queued{start, Queue::FILLING};
            }
        }
        return true;
    }

    template <class Buffer>
    bool InitBuffer(Buffer &buffer, uint32_t length, sk_host::Site site = sk_host::Site::Here()) {
        CountBuffers(1, site);
        const uint32_t rounded = static_cast<uint32_t>(sk_host::RoundUp(length, sk_host::BLOCK_BYTES));
        buffer.pool_ = SkHostPool{};
        buffer.pool_.base = Reserve(Buffer::position, rounded, site);
        buffer.pool_.count = 1;
        buffer.pool_.bytes = rounded;
        if (sk_rt_watch & SK_WATCH_ORDER) {
            sk_rt_queue(SK_QUEUE_BUFFER, buffer.pool_.base, PIPE_S, rounded, nullptr, site.file, site.line);
        }
        return true;
    }

    void Init(sk_host::Site site = sk_host::Site::Here()) {
        made_ = site;
        Forget();
        ended_ = false;
        RaiseCubeEvents();
    }
    // Everything is as after the start, but for the events of the cube unit, which stay up.
    void Reset() {
        WaitForBuffers();
        InitSocState();
        Forget();
        TakeCubeEvents();
    }
    // The end of its buffers. Sub-kernels do not wait for all pipes: the super kernel does what is necessary between
    // them.
    void Destroy() {
        if (ended_) {
            return;
        }
        ended_ = true;
        WaitForBuffers();
        if ASCEND_IS_AIC {
            for (TEventID id = 0; id < CUBE_EVENTS; ++id) {
                wait_flag(PIPE_M, PIPE_MTE1, id, made_.file, made_.line);
            }
        }
        Forget();
#if !defined(__ASCENDC_ENABLE_SUPER_KERNEL__)
        pipe_barrier(PIPE_ALL);
#endif
    }

    // The first id that nobody has taken.
    TEventID AllocEventID(HardEvent event, sk_host::Site site = sk_host::Site::Here()) {
        const TEventID id = FirstFree(event, "AllocEventID", site);
        Taken(event) |= static_cast<uint8_t>(1u << id);
        return id;
    }
    template <HardEvent event> TEventID AllocEventID(sk_host::Site site = sk_host::Site::Here()) {
        return AllocEventID(event, site);
    }
    void ReleaseEventID(HardEvent event, TEventID id, sk_host::Site site = sk_host::Site::Here()) {
        if (id < 0 || id >= EVENTS) {
            sk_host::Violation(site, "ReleaseEventID: event id %d; ids are 0 to 7", id);
        }
        Taken(event) &= static_cast<uint8_t>(~(1u << id));
    }
    template <HardEvent event> void ReleaseEventID(TEventID id, sk_host::Site site = sk_host::Site::Here()) {
        ReleaseEventID(event, id, site);
    }
    // The same id without taking it: to be set and waited for at once.
    TEventID FetchEventID(HardEvent event, sk_host::Site site = sk_host::Site::Here()) {
        return FirstFree(event, "FetchEventID", site);
    }
    template <HardEvent event> TEventID FetchEventID(sk_host::Site site = sk_host::Site::Here()) {
        return FetchEventID(event, site);
    }

  private:
    // As many as the pipe of the device can keep apart.
    static constexpr uint64_t BUFFERS = 64;
    // Ids of an event.
    static constexpr TEventID EVENTS = 8;
    // Events from M to MTE1 that are up while a pipe lives, for those who feed the cube unit.
    static constexpr TEventID CUBE_EVENTS = 3;

    // A buffer of a queue, and the pipe that fills it.
    struct Queued {
        const uint8_t *start;
        pipe_t filling;
    };

    void CountBuffers(uint64_t number, sk_host::Site site) {
        buffers_ += number;
        if (buffers_ > BUFFERS) {
            sk_host::Violation(site, "TPipe::InitBuffer: %llu buffers in all; a pipe has at most %llu",
                               (unsigned long long)buffers_, (unsigned long long)BUFFERS);
        }
    }

    uint8_t &Taken(HardEvent event) { return taken_[static_cast<uint8_t>(event)]; }

    TEventID FirstFree(HardEvent event, const char *call, sk_host::Site site) {
        if (Taken(event) == UINT8_MAX) {
            if (sk_rt_core()->pipe == this) {
                sk_host::Violation(site, "%s: all 8 ids of the event are taken; ReleaseEventID is missing", call);
            }
            // The pipe that nobody made outlives operators, which need not give back what they have taken.
            Taken(event) = 0;
        }
        return __builtin_ctz(~static_cast<uint32_t>(Taken(event)));
    }

    void TakeCubeEvents() {
        if ASCEND_IS_AIC {
            Taken(HardEvent::M_MTE1) = (1u << CUBE_EVENTS) - 1;
        }
    }
    void RaiseCubeEvents() {
        TakeCubeEvents();
        if ASCEND_IS_AIC {
            for (TEventID id = 0; id < CUBE_EVENTS; ++id) {
                set_flag(PIPE_M, PIPE_MTE1, id, made_.file, made_.line);
            }
        }
    }

    // Whoever fills a buffer next, for whatever purpose, waits for those who read what was in it.
    void WaitForBuffers() {
        for (uint32_t at = 0; at < queuedCount_; ++at) {
            sk_rt_queue(SK_QUEUE_ALLOC, queued_[at].start, queued_[at].filling, 0, nullptr, nullptr, 0);
        }
    }

    void Forget() {
        ub_ = l1_ = l0a_ = l0b_ = l0c_ = bt_ = fb_ = buffers_ = 0;
        queuedCount_ = 0;
        for (uint8_t &taken : taken_) {
            taken = 0;
        }
    }

    uint8_t *Reserve(TPosition position, uint64_t bytes, sk_host::Site site) {
        const sk_host::Memory memory = sk_host::MemoryOf(position, site);
        uint64_t &used = Used(memory);
        if (memory.size == 0) {
            sk_host::Violation(site, "TPipe::InitBuffer: a core of kind %s has no %s", sk_host::KindName(), memory.name);
        }
        if (bytes > memory.size - used) {
            sk_host::Violation(site, "TPipe::InitBuffer: %llu bytes of %s wanted, %llu of %llu are in use",
                               (unsigned long long)bytes, memory.name, (unsigned long long)used,
                               (unsigned long long)memory.size);
        }
        uint8_t *start = memory.base + used;
        used += bytes;
        return start;
    }

    uint64_t &Used(const sk_host::Memory &memory) {
        const SkCoreState &core = *sk_rt_core();
        return memory.base == core.unifiedBuffer ? ub_
               : memory.base == core.l1          ? l1_
               : memory.base == core.l0a         ? l0a_
               : memory.base == core.l0b         ? l0b_
               : memory.base == core.biasTable   ? bt_
               : memory.base == core.l0c         ? l0c_
                                                 : fb_;
    }

    // Where, for messages about what it does by itself.
    sk_host::Site made_;
    uint64_t ub_ = 0;
    uint64_t l1_ = 0;
    uint64_t l0a_ = 0;
    uint64_t l0b_ = 0;
    uint64_t l0c_ = 0;
    uint64_t bt_ = 0;
    uint64_t fb_ = 0;
    uint64_t buffers_ = 0;
    Queued queued_[BUFFERS] = {};
    uint32_t queuedCount_ = 0;
    uint8_t taken_[static_cast<uint8_t>(HardEvent::MAX)] = {};
    bool ended_ = false;
};

// The pipe made last on this core. Kernels that place their tensors themselves make none, and ask for event ids all the
// same: for them there is one that nobody made. All that a pipe keeps begins as 0, as this memory does.
inline TPipe *GetTPipePtr() {
    alignas(TPipe) static SK_HOST_PER_CORE uint8_t unmade[sizeof(TPipe)];
    void *made = sk_rt_core()->pipe;
    return static_cast<TPipe *>(made != nullptr ? made : unmade);
}

// A queue whose tensors are written at `source` and read at `target`. Where the device would wait for ever (no free
// buffer, nothing enqueued) the run ends with the line of the call.
template <TPosition source, TPosition target, int32_t depth, int mask = 0> class TQueBind {
  public:
    static constexpr TPosition position = source == TPosition::GM ? target : source;
    static constexpr pipe_t FILLING = SK_HOST_FILLS<source, target>;

    template <class T> LocalTensor<T> AllocTensor(sk_host::Site site = sk_host::Site::Here()) {
        RequireReady("AllocTensor", site);
        for (uint32_t slot = 0; slot < pool_.count; ++slot) {
            if (!pool_.used[slot]) {
                pool_.used[slot] = true;
                sk_host_tell_queue(SK_QUEUE_ALLOC, Start(slot), FILLING, site);
                return Tensor<T>(static_cast<int32_t>(slot));
            }
        }
        sk_host::Violation(site, "AllocTensor: all %u buffers of the queue are in use; FreeTensor is missing",
                           pool_.count);
    }
    template <class T> void AllocTensor(LocalTensor<T> &tensor, sk_host::Site site = sk_host::Site::Here()) {
        tensor = AllocTensor<T>(site);
    }

    template <class T> bool EnQue(const LocalTensor<T> &tensor, sk_host::Site site = sk_host::Site::Here()) {
        return Append(tensor, FILLING, site);
    }
    template <class T> bool Append(const LocalTensor<T> &tensor, pipe_t filling, sk_host::Site site) {
        const int32_t slot = Owned(tensor, "EnQue", site);
        constexpr uint32_t limit = depth > 0 ? depth : 1;
        if (length_ >= limit || length_ >= SkHostPool::LIMIT) {
            sk_host::Violation(site, "EnQue: the queue already holds its depth of %u tensors; DeQue is missing", limit);
        }
        line_[(head_ + length_) % SkHostPool::LIMIT] = slot;
        length_ += 1;
        sk_host_tell_queue(SK_QUEUE_ENQUE, Start(static_cast<uint32_t>(slot)), filling, site);
        return true;
    }

    template <class T> LocalTensor<T> DeQue(sk_host::Site site = sk_host::Site::Here()) {
        return Remove<T>(SK_HOST_READS<source, target>, site);
    }
    template <class T> LocalTensor<T> Remove(pipe_t reading, sk_host::Site site) {
        if (length_ == 0) {
            sk_host::Violation(site, "DeQue: the queue is empty; EnQue is missing");
        }
        const int32_t slot = line_[head_];
        head_ = (head_ + 1) % SkHostPool::LIMIT;
        length_ -= 1;
        sk_host_tell_queue(SK_QUEUE_DEQUE, Start(static_cast<uint32_t>(slot)), reading, site);
        return Tensor<T>(slot);
    }
    template <class T> void DeQue(LocalTensor<T> &tensor, sk_host::Site site = sk_host::Site::Here()) {
        tensor = DeQue<T>(site);
    }
    // The positions only select pipes to synchronise; there is one queue.
    template <TPosition from, TPosition to, class T> bool EnQue(const LocalTensor<T> &tensor,
                                                               sk_host::Site site = sk_host::Site::Here()) {
        return Append(tensor, SK_HOST_FILLS<from, to>, site);
    }
    template <TPosition from, TPosition to, class T> LocalTensor<T> DeQue(sk_host::Site site = sk_host::Site::Here()) {
        return Remove<T>(SK_HOST_READS<from, to>, site);
    }

    template <class T> void FreeTensor(const LocalTensor<T> &tensor, sk_host::Site site = sk_host::Site::Here()) {
        const int32_t slot = Owned(tensor, "FreeTensor", site);
        if (!pool_.used[slot]) {
            sk_host::Violation(site, "FreeTensor: the tensor is already free");
        }
        pool_.used[slot] = false;
        sk_host_tell_queue(SK_QUEUE_FREE, Start(static_cast<uint32_t>(slot)), SK_HOST_READS<source, target>, site);
    }

    bool HasTensorInQue() const { return length_ != 0; }
    bool VacantInQue() const { return length_ < static_cast<uint32_t>(depth > 0 ? depth : 1); }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(length_); }
    bool HasIdleBuffer() const {
        for (uint32_t slot = 0; slot < pool_.count; ++slot) {
            if (!pool_.used[slot]) {
                return true;
            }
        }
        return false;
    }
    void FreeAllEvent() {}

    SkHostPool pool_;

  private:
    void RequireReady(const char *call, sk_host::Site site) const {
        if (pool_.base == nullptr) {
            sk_host::Violation(site, "%s: TPipe::InitBuffer was not called for this queue", call);
        }
    }

    uint8_t *Start(uint32_t slot) const { return pool_.base + static_cast<uint64_t>(slot) * pool_.bytes; }

    template <class T> LocalTensor<T> Tensor(int32_t slot) {
        uint8_t *start = Start(static_cast<uint32_t>(slot));
        return LocalTensor<T>(position, reinterpret_cast<T *>(start),
                              static_cast<uint32_t>(sk_host::CountIn<T>(pool_.bytes)), slot);
    }

    template <class T> int32_t Owned(const LocalTensor<T> &tensor, const char *call, sk_host::Site site) const {
        RequireReady(call, site);
        const uint8_t *start = reinterpret_cast<const uint8_t *>(tensor.SkHostData());
        const uint64_t total = static_cast<uint64_t>(pool_.bytes) * pool_.count;
        if (start < pool_.base || start >= pool_.base + total) {
            sk_host::Violation(site, "%s: the tensor does not come from this queue", call);
        }
        return static_cast<int32_t>(static_cast<uint64_t>(start - pool_.base) / pool_.bytes);
    }

    int32_t line_[SkHostPool::LIMIT] = {};
    uint32_t head_ = 0;
    uint32_t length_ = 0;
};

template <TPosition pos, int32_t depth, int mask = 0>
class TQue : public TQueBind<pos, pos == TPosition::VECOUT ? TPosition::GM : pos, depth, mask> {
  public:
    static constexpr TPosition position = pos;
};

template <TPosition pos = TPosition::LCM> class TBuf {
  public:
    static constexpr TPosition position = pos;

    template <class T> LocalTensor<T> Get(sk_host::Site site = sk_host::Site::Here()) {
        return GetWithOffset<T>(static_cast<uint32_t>(sk_host::CountIn<T>(pool_.bytes)), 0, site);
    }
    template <class T> LocalTensor<T> Get(uint32_t size, sk_host::Site site = sk_host::Site::Here()) {
        return GetWithOffset<T>(size, 0, site);
    }
    template <class T>
    LocalTensor<T> GetWithOffset(uint32_t size, uint32_t offset, sk_host::Site site = sk_host::Site::Here()) {
        if (pool_.base == nullptr) {
            sk_host::Violation(site, "TBuf::Get: TPipe::InitBuffer was not called for this buffer");
        }
        if (offset + sk_host::BytesOf<T>(size) > pool_.bytes) {
            sk_host::Violation(site, "TBuf::Get: %u elements at byte %u do not fit into %u bytes", size, offset,
                               pool_.bytes);
        }
        return LocalTensor<T>(pos, reinterpret_cast<T *>(pool_.base + offset), size);
    }
    // Queue-like use of a buffer.
    template <class T> LocalTensor<T> AllocTensor(sk_host::Site site = sk_host::Site::Here()) { return Get<T>(site); }
    template <class T> void FreeTensor(const LocalTensor<T> &) {}

    SkHostPool pool_;
};

} // namespace
} // namespace AscendC

// Kernels call it without its namespace too.
using AscendC::GetTPipePtr;

#endif
