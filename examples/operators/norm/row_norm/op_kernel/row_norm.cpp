// Rows divided by the root of their mean square, times gamma, computed in floats.
#include "../row_common/row_common.h"

using namespace AscendC;

template <class T> class RowNorm {
  public:
    __aicore__ inline void Process(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, const RowNormTilingData &tiling) {
        const uint32_t columns = tiling.range.columns;
        rows.Init(x, y, tiling.range.rows, columns);
        GlobalTensor<T> factors;
        factors.SetGlobalBuffer((__gm__ T *)gamma, columns);
        TBuf<TPosition::VECCALC> scratch;
        rows.pipe.InitBuffer(scratch, 5 * columns * sizeof(float));
        LocalTensor<float> wide = scratch.Get<float>(), squares = wide[columns], work = wide[2 * columns];
        LocalTensor<float> scale = wide[3 * columns];
        LocalTensor<T> narrow = wide[4 * columns].template ReinterpretCast<T>();
        DataCopy(narrow, factors, columns);
        const int32_t event = static_cast<int32_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
        SetFlag<HardEvent::MTE2_V>(event);
        WaitFlag<HardEvent::MTE2_V>(event);
        Widen(scale, narrow, columns);
        rows.ForEach([&](LocalTensor<T> output, LocalTensor<T> input, uint32_t) {
            Widen(wide, input, columns);
            Mul(squares, wide, wide, columns);
            ReduceSum(squares, squares, work, columns);
            const int32_t read = static_cast<int32_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
            SetFlag<HardEvent::V_S>(read);
            WaitFlag<HardEvent::V_S>(read);
            const float mean = squares.GetValue(0) * tiling.average + tiling.epsilon;
            Duplicate(work, mean, 64);
            Sqrt(work, work, 64);
            SetFlag<HardEvent::V_S>(read);
            WaitFlag<HardEvent::V_S>(read);
            Muls(wide, wide, 1.0f / work.GetValue(0), columns);
            Mul(wide, wide, scale, columns);
            Narrow(output, wide, columns);
        });
    }

  private:
    __aicore__ inline void Widen(LocalTensor<float> to, LocalTensor<T> from, uint32_t count) {
        if constexpr (sizeof(T) == sizeof(float)) {
            Muls(to, from, 1.0f, count);
        } else {
            Cast(to, from, RoundMode::CAST_NONE, count);
        }
    }
    __aicore__ inline void Narrow(LocalTensor<T> to, LocalTensor<float> from, uint32_t count) {
        if constexpr (sizeof(T) == sizeof(float)) {
            Muls(to, from, 1.0f, count);
        } else {
            Cast(to, from, RoundMode::CAST_RINT, count);
        }
    }
    RowPipe<T> rows;
};

extern "C" __global__ __aicore__ void row_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(0)) {
        RowNorm<float>().Process(x, gamma, y, data);
    } else if (TILING_KEY_IS(1)) {
        RowNorm<DTYPE_X>().Process(x, gamma, y, data);
    }
}
