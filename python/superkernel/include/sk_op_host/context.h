// What host code of an operator is asked about: an invocation, seen by its tiling, its inference of shapes and of types.
#ifndef SK_OP_HOST_CONTEXT_H
#define SK_OP_HOST_CONTEXT_H

#include "attributes.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

// How many tensors a parameter of the definition has, and where they start.
class AnchorInstanceInfo {
  public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(uint32_t start, uint32_t count) : start_(start), count_(count) {}
    size_t GetInstanceNum() const { return count_; }
    size_t GetInstanceStart() const { return start_; }

  private:
    uint32_t start_ = 0;
    uint32_t count_ = 0;
};

// The tensors of one side.
struct SkSide {
    std::vector<StorageShape> shapes;
    std::vector<CompileTimeTensorDesc> descriptions;
    std::vector<Tensor> tensors;
    std::vector<AnchorInstanceInfo> parameters;

    // The tensor `offset` of a parameter, counted over all; -1: there is none.
    int64_t At(size_t parameter, size_t offset) const {
        if (parameter >= parameters.size() || offset >= parameters[parameter].GetInstanceNum()) {
            return -1;
        }
        return int64_t(parameters[parameter].GetInstanceStart() + offset);
    }
};

class TilingData {
  public:
    void *GetData() { return bytes_.data(); }
    const void *GetData() const { return bytes_.data(); }
    size_t GetCapacity() const { return bytes_.size() * sizeof(uint64_t); }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t size) { size_ = size; }
    template <class T> ge::graphStatus Append(const T &value) { return AppendBytes(&value, sizeof(T)); }
    template <class T> ge::graphStatus Append(const T *values, size_t count) {
        return AppendBytes(values, count * sizeof(T));
    }
    void SkResize(size_t capacity) { bytes_.assign((capacity + 7) / 8, 0); }

  private:
    ge::graphStatus AppendBytes(const void *values, size_t count) {
        if (size_ + count > GetCapacity()) {
            return ge::GRAPH_FAILED;
        }
        memcpy(reinterpret_cast<uint8_t *>(bytes_.data()) + size_, values, count);
        size_ += count;
        return ge::GRAPH_SUCCESS;
    }

    std::vector<uint64_t> bytes_;
    size_t size_ = 0;
};

// One invocation, with what is found out about it.
struct SkCall {
    std::string type;
    std::string name;
    SkSide inputs;
    SkSide outputs;
    RuntimeAttrs attributes;
    fe::PlatFormInfos *platform = nullptr;
    int32_t deterministic = 0;
    std::shared_ptr<void> compile_info;
    std::string compile_text = "{}";
    TilingData tiling_data;
    uint64_t key = 0;
    uint32_t blocks = 1;
    uint32_t aicpu_blocks = 0;
    uint32_t schedule_mode = 0;
    uint32_t local_memory = 0;
    bool needs_atomic = false;
    std::vector<size_t> workspaces;
    std::vector<Range<Shape>> input_ranges;
    std::vector<Range<Shape>> output_ranges;
};

class ComputeNodeInfo {
  public:
    explicit ComputeNodeInfo(const SkCall *call) : call_(call) {}
    const char *GetNodeType() const { return call_->type.c_str(); }
    const char *GetNodeName() const { return call_->name.c_str(); }
    size_t GetIrInputsNum() const { return call_->inputs.parameters.size(); }
    size_t GetIrOutputsNum() const { return call_->outputs.parameters.size(); }
    size_t GetInputsNum() const { return call_->inputs.shapes.size(); }
    size_t GetOutputsNum() const { return call_->outputs.shapes.size(); }
    const AnchorInstanceInfo *GetInputInstanceInfo(size_t index) const {
        return index < call_->inputs.parameters.size() ? &call_->inputs.parameters[index] : nullptr;
    }
    const AnchorInstanceInfo *GetOutputInstanceInfo(size_t index) const {
        return index < call_->outputs.parameters.size() ? &call_->outputs.parameters[index] : nullptr;
    }
    const CompileTimeTensorDesc *GetInputTdInfo(size_t index) const {
        return index < call_->inputs.descriptions.size() ? &call_->inputs.descriptions[index] : nullptr;
    }
    const CompileTimeTensorDesc *GetOutputTdInfo(size_t index) const {
        return index < call_->outputs.descriptions.size() ? &call_->outputs.descriptions[index] : nullptr;
    }
    const RuntimeAttrs *GetAttrs() const { return &call_->attributes; }

  private:
    const SkCall *call_;
};

class KernelContext {
  public:
    explicit KernelContext(SkCall *call) : call_(call), node_(call) {}
    SkCall *SkCallOf() const { return call_; }

  protected:
    SkCall *call_;
    ComputeNodeInfo node_;
};

class ExtendedKernelContext : public KernelContext {
  public:
    using KernelContext::KernelContext;
    const char *GetNodeType() const { return node_.GetNodeType(); }
    const char *GetNodeName() const { return node_.GetNodeName(); }
    const ComputeNodeInfo *GetComputeNodeInfo() const { return &node_; }
    size_t GetComputeNodeInputNum() const { return node_.GetInputsNum(); }
    size_t GetComputeNodeOutputNum() const { return node_.GetOutputsNum(); }
    const RuntimeAttrs *GetAttrs() const { return &call_->attributes; }
    const AnchorInstanceInfo *GetIrInputInstanceInfo(size_t index) const { return node_.GetInputInstanceInfo(index); }
    const AnchorInstanceInfo *GetIrOutputInstanceInfo(size_t index) const { return node_.GetOutputInstanceInfo(index); }
    const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return node_.GetInputTdInfo(index); }
    const CompileTimeTensorDesc *GetOutputDesc(size_t index) const { return node_.GetOutputTdInfo(index); }
    const CompileTimeTensorDesc *GetRequiredInputDesc(size_t index) const { return GetDynamicInputDesc(index, 0); }
    const CompileTimeTensorDesc *GetOptionalInputDesc(size_t index) const { return GetDynamicInputDesc(index, 0); }
    const CompileTimeTensorDesc *GetDynamicInputDesc(size_t index, size_t offset) const {
        return OfInput(call_->inputs.descriptions, index, offset);
    }
    const CompileTimeTensorDesc *GetRequiredOutputDesc(size_t index) const { return GetDynamicOutputDesc(index, 0); }
    const CompileTimeTensorDesc *GetDynamicOutputDesc(size_t index, size_t offset) const {
        const int64_t at = call_->outputs.At(index, offset);
        return at < 0 ? nullptr : &call_->outputs.descriptions[size_t(at)];
    }

  protected:
    template <class T> T *OfInput(std::vector<T> &values, size_t parameter, size_t offset) const {
        const int64_t at = call_->inputs.At(parameter, offset);
        return at < 0 ? nullptr : &values[size_t(at)];
    }
    template <class T> static T *Nth(std::vector<T> &values, size_t index) {
        return index < values.size() ? &values[index] : nullptr;
    }
    static ge::DataType TypeOf(const CompileTimeTensorDesc *description) {
        return description == nullptr ? ge::DT_UNDEFINED : description->GetDataType();
    }
};

class TilingContext : public ExtendedKernelContext {
  public:
    using ExtendedKernelContext::ExtendedKernelContext;

    const void *GetCompileInfo() const { return call_->compile_info.get(); }
    template <class T> const T *GetCompileInfo() const { return static_cast<const T *>(GetCompileInfo()); }
    fe::PlatFormInfos *GetPlatformInfo() const { return call_->platform; }
    int32_t GetDeterministic() const { return call_->deterministic; }
    int32_t GetDeterministicLevel() const { return call_->deterministic; }

    const StorageShape *GetInputShape(size_t index) const { return Nth(call_->inputs.shapes, index); }
    const StorageShape *GetRequiredInputShape(size_t index) const { return GetDynamicInputShape(index, 0); }
    const StorageShape *GetOptionalInputShape(size_t index) const { return GetDynamicInputShape(index, 0); }
    const StorageShape *GetDynamicInputShape(size_t index, size_t offset) const {
        return OfInput(call_->inputs.shapes, index, offset);
    }
    const StorageShape *GetOutputShape(size_t index) const { return Nth(call_->outputs.shapes, index); }
    const Tensor *GetInputTensor(size_t index) const { return Nth(call_->inputs.tensors, index); }
    const Tensor *GetRequiredInputTensor(size_t index) const { return GetDynamicInputTensor(index, 0); }
    const Tensor *GetOptionalInputTensor(size_t index) const { return GetDynamicInputTensor(index, 0); }
    const Tensor *GetDynamicInputTensor(size_t index, size_t offset) const {
        return OfInput(call_->inputs.tensors, index, offset);
    }
    // All tensors lie in memory one element after the other.
    bool InputIsView(size_t) const { return false; }
    bool RequiredInputIsView(size_t) const { return false; }
    bool OptionalInputIsView(size_t) const { return false; }
    bool DynamicInputIsView(size_t, size_t) const { return false; }
    const Stride *GetInputStride(size_t) const { return nullptr; }
    const Stride *GetRequiredInputStride(size_t) const { return nullptr; }
    const Stride *GetOptionalInputStride(size_t) const { return nullptr; }
    const Stride *GetDynamicInputStride(size_t, size_t) const { return nullptr; }
    int64_t GetInputOffset(size_t) const { return 0; }

    ge::graphStatus SetTilingKey(uint64_t key) {
        call_->key = key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return call_->key; }
    ge::graphStatus SetBlockDim(uint32_t blocks) {
        call_->blocks = blocks;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const { return call_->blocks; }
    ge::graphStatus SetNumBlocks(uint32_t blocks) { return SetBlockDim(blocks); }
    ge::graphStatus SetSimdNumBlocks(uint32_t blocks) { return SetBlockDim(blocks); }
    ge::graphStatus SetAicpuBlockDim(uint32_t blocks) {
        call_->aicpu_blocks = blocks;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetAicpuBlockDim() const { return call_->aicpu_blocks; }
    // 1: a block may wait for every other, so all of them must run at once.
    ge::graphStatus SetScheduleMode(uint32_t mode) {
        call_->schedule_mode = mode;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetScheduleMode() const { return call_->schedule_mode; }
    ge::graphStatus SetLocalMemorySize(uint32_t bytes) {
        call_->local_memory = bytes;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetLocalMemorySize() const { return call_->local_memory; }
    ge::graphStatus SetDynUBufSize(uint32_t bytes) { return SetLocalMemorySize(bytes); }
    ge::graphStatus SetNeedAtomic(bool needed) {
        call_->needs_atomic = needed;
        return ge::GRAPH_SUCCESS;
    }
    bool NeedAtomic() const { return call_->needs_atomic; }
    ge::graphStatus SetTilingCond(int32_t) { return ge::GRAPH_SUCCESS; }

    size_t *GetWorkspaceSizes(size_t count) {
        call_->workspaces.resize(count);
        return call_->workspaces.data();
    }
    size_t GetWorkspaceNum() const { return call_->workspaces.size(); }
    TilingData *GetRawTilingData() { return &call_->tiling_data; }
    // The struct itself, of which all bytes count.
    template <class T> T *GetTilingData() {
        if (call_->tiling_data.GetCapacity() < sizeof(T)) {
            return nullptr;
        }
        call_->tiling_data.SetDataSize(sizeof(T));
        return static_cast<T *>(call_->tiling_data.GetData());
    }
};

class TilingParseContext : public ExtendedKernelContext {
  public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const char *GetCompiledJson() const { return call_->compile_text.c_str(); }
    template <class T> T *GetCompiledInfo() { return static_cast<T *>(call_->compile_info.get()); }
    fe::PlatFormInfos *GetPlatformInfo() const { return call_->platform; }
};

class InferShapeContext : public ExtendedKernelContext {
  public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Shape *GetInputShape(size_t index) const { return OriginOf(Nth(call_->inputs.shapes, index)); }
    const Shape *GetRequiredInputShape(size_t index) const { return GetDynamicInputShape(index, 0); }
    const Shape *GetOptionalInputShape(size_t index) const { return GetDynamicInputShape(index, 0); }
    const Shape *GetDynamicInputShape(size_t index, size_t offset) const {
        return OriginOf(OfInput(call_->inputs.shapes, index, offset));
    }
    const Tensor *GetInputTensor(size_t index) const { return Nth(call_->inputs.tensors, index); }
    const Tensor *GetRequiredInputTensor(size_t index) const { return GetDynamicInputTensor(index, 0); }
    const Tensor *GetOptionalInputTensor(size_t index) const { return GetDynamicInputTensor(index, 0); }
    const Tensor *GetDynamicInputTensor(size_t index, size_t offset) const {
        return OfInput(call_->inputs.tensors, index, offset);
    }
    Shape *GetOutputShape(size_t index) {
        auto *shape = Nth(call_->outputs.shapes, index);
        return shape == nullptr ? nullptr : &shape->MutableOriginShape();
    }
    ge::graphStatus SetNeedInferAgain(bool) { return ge::GRAPH_SUCCESS; }

  private:
    static const Shape *OriginOf(const StorageShape *shape) {
        return shape == nullptr ? nullptr : &shape->GetOriginShape();
    }
};

class InferDataTypeContext : public ExtendedKernelContext {
  public:
    using ExtendedKernelContext::ExtendedKernelContext;
    ge::DataType GetInputDataType(size_t index) const { return TypeOf(GetInputDesc(index)); }
    ge::DataType GetRequiredInputDataType(size_t index) const { return TypeOf(GetRequiredInputDesc(index)); }
    ge::DataType GetOptionalInputDataType(size_t index) const { return TypeOf(GetOptionalInputDesc(index)); }
    ge::DataType GetDynamicInputDataType(size_t index, size_t offset) const {
        return TypeOf(GetDynamicInputDesc(index, offset));
    }
    ge::DataType GetOutputDataType(size_t index) const { return TypeOf(GetOutputDesc(index)); }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type) {
        auto *description = Nth(call_->outputs.descriptions, index);
        if (description == nullptr) {
            return ge::GRAPH_FAILED;
        }
        description->SetDataType(type);
        return ge::GRAPH_SUCCESS;
    }
};

// Shapes are known here, so nobody asks for ranges; the code of operators that could answer is compiled.
class InferShapeRangeContext : public ExtendedKernelContext {
  public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Range<Shape> *GetInputShapeRange(size_t index) const { return Nth(call_->input_ranges, index); }
    const Range<Shape> *GetRequiredInputShapeRange(size_t index) const { return GetInputShapeRange(index); }
    const Range<Shape> *GetOptionalInputShapeRange(size_t index) const { return GetInputShapeRange(index); }
    const Range<Shape> *GetDynamicInputShapeRange(size_t index, size_t offset) const {
        return OfInput(call_->input_ranges, index, offset);
    }
    const TensorRange *GetInputTensorRange(size_t) const { return nullptr; }
    Range<Shape> *GetOutputShapeRange(size_t index) { return Nth(call_->output_ranges, index); }
};

static_assert(sizeof(TilingContext) == sizeof(ExtendedKernelContext), "host code casts between contexts");

} // namespace gert

#endif
