// What the caller asks, read from its file: words with spaces between them; texts as their length and their bytes.
#ifndef SK_OP_HOST_QUESTION_H
#define SK_OP_HOST_QUESTION_H

#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "platform.h"
#include "registry.h"

namespace sk_op_host {

class Reader {
  public:
    explicit Reader(const char *path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::string Word() {
        Space();
        size_t start = at_;
        while (at_ < bytes_.size() && !isspace(static_cast<unsigned char>(bytes_[at_]))) {
            ++at_;
        }
        return bytes_.substr(start, at_ - start);
    }
    int64_t Integer() { return strtoll(Word().c_str(), nullptr, 10); }
    // `5:hello`
    std::string Text() {
        Space();
        size_t length = 0;
        while (at_ < bytes_.size() && bytes_[at_] != ':') {
            length = length * 10 + size_t(bytes_[at_++] - '0');
        }
        const std::string text = bytes_.substr(at_ + 1, length);
        at_ += 1 + length;
        return text;
    }

  private:
    void Space() {
        while (at_ < bytes_.size() && isspace(static_cast<unsigned char>(bytes_[at_]))) {
            ++at_;
        }
    }
    std::string bytes_;
    size_t at_ = 0;
};

inline gert::Shape ReadShape(Reader &reader) {
    gert::Shape shape;
    for (int64_t count = reader.Integer(); count > 0; --count) {
        shape.AppendDim(reader.Integer());
    }
    return shape;
}

// `parameters`, each with the number of its tensors and these.
inline void ReadSide(Reader &reader, gert::SkSide &side) {
    for (int64_t parameters = reader.Integer(); parameters > 0; --parameters) {
        const int64_t count = reader.Integer();
        side.parameters.emplace_back(uint32_t(side.shapes.size()), uint32_t(count));
        for (int64_t index = 0; index < count; ++index) {
            const auto type = static_cast<ge::DataType>(reader.Integer());
            const auto format = static_cast<ge::Format>(reader.Integer());
            const auto origin_format = static_cast<ge::Format>(reader.Integer());
            gert::StorageShape shape;
            shape.MutableStorageShape() = ReadShape(reader);
            shape.MutableOriginShape() = ReadShape(reader);
            gert::CompileTimeTensorDesc description;
            description.SetDataType(type);
            description.SetStorageFormat(format);
            description.SetOriginFormat(origin_format);
            gert::Tensor tensor;
            tensor.SkSet(type, description.GetFormat(), shape);
            if (reader.Word() == "data") {
                const std::string bytes = reader.Text();
                tensor.SkSetData(std::vector<uint8_t>(bytes.begin(), bytes.end()));
            }
            side.shapes.push_back(shape);
            side.descriptions.push_back(description);
            side.tensors.push_back(std::move(tensor));
        }
    }
}

template <class T> std::shared_ptr<void> Shared(T value) { return std::make_shared<T>(std::move(value)); }

template <class T, class Read> std::shared_ptr<void> ReadList(Reader &reader, Read read) {
    std::vector<T> values;
    for (int64_t count = reader.Integer(); count > 0; --count) {
        values.push_back(read());
    }
    gert::ContinuousVector list;
    list.SkFill(values);
    return Shared(std::move(list));
}

inline std::shared_ptr<void> ReadAttribute(Reader &reader) {
    const std::string kind = reader.Word();
    const auto integer = [&reader] { return reader.Integer(); };
    const auto real = [&reader] { return strtof(reader.Word().c_str(), nullptr); };
    if (kind == "int") {
        return Shared<int64_t>(integer());
    } else if (kind == "float") {
        return Shared<float>(real());
    } else if (kind == "bool") {
        return Shared<bool>(integer() != 0);
    } else if (kind == "str") {
        const std::string text = reader.Text();
        char *copy = new char[text.size() + 1];
        memcpy(copy, text.c_str(), text.size() + 1);
        return std::shared_ptr<void>(copy, [](void *bytes) { delete[] static_cast<char *>(bytes); });
    } else if (kind == "list_int") {
        return ReadList<int64_t>(reader, integer);
    } else if (kind == "list_float") {
        return ReadList<float>(reader, real);
    } else if (kind == "list_bool") {
        return ReadList<uint8_t>(reader, [&reader] { return uint8_t(reader.Integer() != 0); });
    } else if (kind == "list_list_int") {
        gert::ContinuousVectorVector rows;
        for (int64_t count = reader.Integer(); count > 0; --count) {
            rows.SkAdd(*std::static_pointer_cast<gert::ContinuousVector>(ReadList<int64_t>(reader, integer)));
        }
        return Shared(std::move(rows));
    } else if (kind == "list_str") {
        // Where each text starts, and then the texts.
        std::vector<std::string> texts;
        for (int64_t count = reader.Integer(); count > 0; --count) {
            texts.push_back(reader.Text());
        }
        gert::ContinuousVectorVector rows;
        for (const std::string &text : texts) {
            gert::ContinuousVector row;
            row.SkFill(std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
            rows.SkAdd(std::move(row));
        }
        return Shared(std::move(rows));
    }
    return nullptr;
}

inline void ReadPlatform(Reader &reader, fe::PlatFormInfos &platform) {
    using Memory = fe::LocalMemType;
    for (const Memory memory : {Memory::L0_A, Memory::L0_B, Memory::L0_C, Memory::L1, Memory::L2, Memory::UB, Memory::HBM,
                                Memory::FB, Memory::BT}) {
        platform.SkSetSize(memory, uint64_t(reader.Integer()));
    }
    const auto near = uint64_t(reader.Integer());
    platform.SkSetBandwidth(near, uint64_t(reader.Integer()));
    for (int64_t count = reader.Integer(); count > 0; --count) {
        const std::string group = reader.Word();
        const std::string key = reader.Word();
        platform.SkSet(group, key, reader.Text());
    }
}

inline void ReadCall(Reader &reader, gert::SkCall &call) {
    call.type = reader.Text();
    call.name = call.type;
    ReadPlatform(reader, fe::SkThisPlatform());
    call.platform = &fe::SkThisPlatform();
    call.deterministic = int32_t(reader.Integer());
    ReadSide(reader, call.inputs);
    ReadSide(reader, call.outputs);
    for (int64_t count = reader.Integer(); count > 0; --count) {
        call.attributes.SkAdd(ReadAttribute(reader));
    }
}

} // namespace sk_op_host

#endif
