// What kernels that call the larger parts of AscendC read: the fields of their structs, in their order.
#ifndef SK_OP_HOST_TILING_STRUCTS_H
#define SK_OP_HOST_TILING_STRUCTS_H

#include "tiling_data.h"

// A struct from its list of fields: I, U and H are integers of 32 bits, of 32 and of 16 bits without sign, R is a float.
#define SK_FIELD_I(name) TILING_DATA_FIELD_DEF(int32_t, name)
#define SK_FIELD_U(name) TILING_DATA_FIELD_DEF(uint32_t, name)
#define SK_FIELD_H(name) TILING_DATA_FIELD_DEF(uint16_t, name)
#define SK_FIELD_R(name) TILING_DATA_FIELD_DEF(float, name)
// Headers that host code shares with its kernel name the structs without their namespace.
#define SK_TILING_STRUCT(name)                                                                                         \
    namespace optiling {                                                                                               \
    BEGIN_TILING_DATA_DEF(name)                                                                                        \
    SK_##name(SK_FIELD_I, SK_FIELD_U, SK_FIELD_H, SK_FIELD_R)                                                          \
    END_TILING_DATA_DEF                                                                                                \
    }                                                                                                                  \
    using optiling::name;                                                                                              \
    namespace AscendC {                                                                                                \
    namespace tiling {                                                                                                 \
    using optiling::name;                                                                                              \
    }                                                                                                                  \
    }

#define SK_TCubeTiling(I, U, H, R)                                                                                     \
    I(usedCoreNum) I(M) I(N) I(Ka) I(Kb) I(singleCoreM) I(singleCoreN) I(singleCoreK) I(baseM) I(baseN) I(baseK)       \
    I(depthA1) I(depthB1) I(stepM) I(stepN) I(isBias) I(transLength) I(iterateOrder) I(shareMode) I(shareL1Size)       \
    I(shareL0CSize) I(shareUbSize) I(batchM) I(batchN) I(singleBatchM) I(singleBatchN) I(stepKa) I(stepKb)             \
    I(depthAL1CacheUB) I(depthBL1CacheUB) I(dbL0A) I(dbL0B) I(dbL0C) I(ALayoutInfoB) I(ALayoutInfoS) I(ALayoutInfoN)   \
    I(ALayoutInfoG) I(ALayoutInfoD) I(BLayoutInfoB) I(BLayoutInfoS) I(BLayoutInfoN) I(BLayoutInfoG) I(BLayoutInfoD)    \
    I(CLayoutInfoB) I(CLayoutInfoS1) I(CLayoutInfoN) I(CLayoutInfoG) I(CLayoutInfoS2) I(BatchNum) I(mxTypePara)
SK_TILING_STRUCT(TCubeTiling)

#define SK_SoftMaxTiling(I, U, H, R)                                                                                   \
    U(srcM) U(srcK) U(srcSize) U(outMaxM) U(outMaxK) U(outMaxSize) U(splitM) U(splitK) U(splitSize) U(reduceM)         \
    U(reduceK) U(reduceSize) U(rangeM) U(tailM) U(tailSplitSize) U(tailReduceSize)
SK_TILING_STRUCT(SoftMaxTiling)

#define SK_TopkTiling(I, U, H, R)                                                                                      \
    I(tmpLocalSize) I(allDataSize) I(innerDataSize) U(sortRepeat) I(mrgSortRepeat) I(kAlignFourBytes)                  \
    I(kAlignTwoBytes) I(maskOffset) I(maskVreducev2FourBytes) I(maskVreducev2TwoBytes) I(mrgSortSrc1offset)            \
    I(mrgSortSrc2offset) I(mrgSortSrc3offset) I(mrgSortTwoQueueSrc1Offset) I(mrgFourQueueTailPara1)                    \
    I(mrgFourQueueTailPara2) I(srcIndexOffset) U(copyUbToUbBlockCount) I(topkMrgSrc1MaskSizeOffset)                    \
    I(topkNSmallSrcIndexOffset) U(vreduceValMask0) U(vreduceValMask1) U(vreduceIdxMask0) U(vreduceIdxMask1)            \
    H(vreducehalfValMask0) H(vreducehalfValMask1) H(vreducehalfValMask2) H(vreducehalfValMask3)                        \
    H(vreducehalfValMask4) H(vreducehalfValMask5) H(vreducehalfValMask6) H(vreducehalfValMask7)
SK_TILING_STRUCT(TopkTiling)

#define SK_ConfusionTransposeTiling(I, U, H, R)                                                                        \
    U(param0) U(param1) U(param2) U(param3) U(param4) U(param5) U(param6) U(param7) U(param8) U(param9) U(param10)     \
    U(param11) U(param12) U(param13) U(param14) U(param15) U(param16) U(param17)
SK_TILING_STRUCT(ConfusionTransposeTiling)

#define SK_LayerNormTiling(I, U, H, R)                                                                                 \
    U(bLength) U(sLength) U(hLength) U(originalHLength) U(inputXSize) U(meanVarSize) U(numberOfTmpBuf)                 \
    U(meanTmpTensorPos) U(meanTmpTensorSize) U(varianceTmpTensorPos) U(varianceTmpTensorSize) U(tmpBufSize)            \
    U(oneTmpSize) U(firstTmpStartPos) U(secondTmpStartPos) U(thirdTmpStartPos) U(loopRound) U(inputRoundSize)          \
    U(inputTailSize) U(inputTailPos) U(meanVarRoundSize) U(meanVarTailSize) U(meanVarTailPos) U(bshCurLength)          \
    U(bsCurLength) R(lastDimValueBack)
SK_TILING_STRUCT(LayerNormTiling)

#define SK_LayerNormSeparateTiling(I, U, H, R)                                                                         \
    U(aLength) U(rLength) U(halfAddRepeatTimes) U(rHeadLength) R(k2Rec) R(k2RRec) U(inputXSize) U(meanVarSize)         \
    U(numberOfTmpBuf) U(varianceTmpTensorPos) U(varianceTmpTensorSize) U(tmpBufSize) U(oneTmpSize)                     \
    U(firstTmpStartPos) U(secondTmpStartPos) U(thirdTmpStartPos) U(loopRound) U(inputRoundSize) U(inputTailSize)       \
    U(inputTailPos) U(meanVarRoundSize) U(meanVarTailSize) U(meanVarTailPos) U(arCurLength) U(aCurLength)              \
    R(rValueBack)
SK_TILING_STRUCT(LayerNormSeparateTiling)

#define SK_RmsNormTiling(I, U, H, R)                                                                                   \
    U(bLength) U(sLength) U(hLength) U(originalHLength) R(reciprocalOfHLength) U(mainBshLength) U(mainBsLength)        \
    U(mainBsLengthAlign) U(loopRound) U(inputTailPos) U(tailBshLength) U(tailBsLength)
SK_TILING_STRUCT(RmsNormTiling)

#undef SK_FIELD_I
#undef SK_FIELD_U
#undef SK_FIELD_H
#undef SK_FIELD_R
#undef SK_TILING_STRUCT

#endif
