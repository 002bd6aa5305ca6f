// Asks the functions of an operator, and writes what they say as JSON. Its library is loaded by `main.cpp`.
#include <algorithm>
#include <fstream>

#include "definition.h"
#include "log.h"
#include "question.h"

namespace {

using ops::OpAttrDef;
using sk_op_host::Messages;

std::string Quoted(const std::string &text) { return OpAttrDef::Text(text.c_str()); }

template <class T> std::string Numbers(const std::vector<T> &values) {
    return OpAttrDef::List(values, [](T value) { return std::to_string(value); });
}

std::string Log() { return OpAttrDef::List(Messages(), Quoted); }

std::string Hex(const uint8_t *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(count * 2);
    for (size_t index = 0; index < count; ++index) {
        text += digits[bytes[index] >> 4];
        text += digits[bytes[index] & 15];
    }
    return text;
}

// Columns of types and formats: entry i of all parameters is one supported combination. A parameter with a list goes with
// every column of the others.
struct Columns {
    std::map<std::string, std::vector<int64_t>> types;
    std::map<std::string, std::vector<int64_t>> formats;
};

void Spread(size_t old_count, size_t times, std::map<std::string, std::vector<int64_t>> &columns) {
    for (auto &[name, values] : columns) {
        std::vector<int64_t> spread;
        for (size_t index = 0; index < old_count; ++index) {
            spread.insert(spread.end(), times, values[index]);
        }
        values = std::move(spread);
    }
}

Columns ColumnsOf(const std::vector<std::shared_ptr<ops::OpParamDef>> &parameters) {
    size_t count = 1;
    for (const auto &parameter : parameters) {
        if (!parameter->types_are_list_) {
            count = std::max(count, parameter->types_.size());
        }
        if (!parameter->formats_are_list_) {
            count = std::max(count, parameter->formats_.size());
        }
    }
    const auto repeated = [](const auto &values, size_t times, int64_t other) {
        std::vector<int64_t> filled;
        for (size_t index = 0; index < times; ++index) {
            filled.push_back(values.empty() ? other : int64_t(values[std::min(index, values.size() - 1)]));
        }
        return filled;
    };
    Columns columns;
    for (const auto &parameter : parameters) {
        if (!parameter->types_are_list_) {
            columns.types[parameter->name_] = repeated(parameter->types_, count, ge::DT_UNDEFINED);
        }
        if (!parameter->formats_are_list_) {
            columns.formats[parameter->name_] = repeated(parameter->formats_, count, ge::FORMAT_ND);
        }
    }
    const auto add_list = [&](const std::string &name, const auto &values, auto &side) {
        const size_t times = std::max<size_t>(values.size(), 1);
        // More than anybody could look through: the first one stands for the rest.
        const size_t used = count * times > 4096 ? 1 : times;
        Spread(count, used, columns.types);
        Spread(count, used, columns.formats);
        std::vector<int64_t> column;
        for (size_t index = 0; index < count * used; ++index) {
            column.push_back(values.empty() ? 0 : int64_t(values[index % used]));
        }
        count *= used;
        side[name] = std::move(column);
    };
    for (const auto &parameter : parameters) {
        if (parameter->types_are_list_) {
            add_list(parameter->name_, parameter->types_, columns.types);
        }
        if (parameter->formats_are_list_) {
            add_list(parameter->name_, parameter->formats_, columns.formats);
        }
    }
    for (const auto &parameter : parameters) {
        const auto found = columns.types.find(parameter->followed_);
        if (parameter->types_.empty() && found != columns.types.end()) {
            columns.types[parameter->name_] = found->second;
        }
    }
    return columns;
}

std::string Parameters(const std::vector<std::shared_ptr<ops::OpParamDef>> &parameters, Columns &columns) {
    return OpAttrDef::List(parameters, [&](const std::shared_ptr<ops::OpParamDef> &parameter) {
        const char *presence = parameter->presence_ == ops::DYNAMIC    ? "dynamic"
                               : parameter->presence_ == ops::OPTIONAL ? "optional"
                                                                       : "required";
        return "{\"name\":" + Quoted(parameter->name_) + ",\"presence\":\"" + presence +
               "\",\"value_depend\":" + (parameter->value_depend_ ? "true" : "false") +
               ",\"dtypes\":" + Numbers(columns.types[parameter->name_]) +
               ",\"formats\":" + Numbers(columns.formats[parameter->name_]) + "}";
    });
}

std::string Attribute(const std::shared_ptr<OpAttrDef> &attribute) {
    const bool required = attribute->presence_ == ops::REQUIRED;
    return "{\"name\":" + Quoted(attribute->name_) + ",\"kind\":\"" + attribute->kind_ +
           "\",\"required\":" + (required ? "true" : "false") +
           ",\"default\":" + (attribute->default_.empty() ? "null" : attribute->default_) + "}";
}

std::string Describe(ops::OpDef &definition, const std::string &soc) {
    std::map<std::string, std::string> values;
    std::vector<std::string> socs;
    for (const auto &[name, config] : definition.core_.configs_) {
        socs.push_back(name);
        if (name == soc) {
            definition.inputs_.Override(config.inputs_);
            definition.outputs_.Override(config.outputs_);
            values = config.values_;
        }
    }
    auto all = definition.inputs_.all_;
    all.insert(all.end(), definition.outputs_.all_.begin(), definition.outputs_.all_.end());
    for (const int32_t place : gert::SkRegistered()[definition.type_].value_inputs) {
        if (place >= 0 && static_cast<size_t>(place) < definition.inputs_.all_.size()) {
            definition.inputs_.all_[place]->value_depend_ = true;
        }
    }
    Columns columns = ColumnsOf(all);
    std::string text = "{\"op_type\":" + Quoted(definition.type_) +
                       ",\"inputs\":" + Parameters(definition.inputs_.all_, columns) +
                       ",\"outputs\":" + Parameters(definition.outputs_.all_, columns) +
                       ",\"attributes\":" + OpAttrDef::List(definition.attributes_, Attribute) +
                       ",\"socs\":" + OpAttrDef::List(socs, Quoted) + ",\"values\":{";
    bool first = true;
    for (const auto &[key, value] : values) {
        text += (first ? "" : ",") + Quoted(key) + ":" + Quoted(value);
        first = false;
    }
    return text + "}}";
}

// Functions that a definition names itself.
void TakeFunctions(const ops::OpDef &definition) {
    auto &functions = gert::SkRegistered()[definition.type_];
    if (definition.core_.tiling_ != nullptr) {
        functions.tiling = definition.core_.tiling_;
    }
    if (definition.infer_shape_ != nullptr) {
        functions.infer_shape = definition.infer_shape_;
    }
    if (definition.infer_type_ != nullptr) {
        functions.infer_type = definition.infer_type_;
    }
}

std::string Definitions(const std::string &soc) {
    std::vector<std::shared_ptr<ops::OpDef>> definitions;
    for (const auto &make : ops::SkDefinitions()) {
        definitions.push_back(make());
        TakeFunctions(*definitions.back());
    }
    std::vector<std::string> tiled;
    for (const auto &[type, functions] : gert::SkRegistered()) {
        if (functions.tiling) {
            tiled.push_back(type);
        }
    }
    return "{\"definitions\":" +
           OpAttrDef::List(definitions, [&](const auto &definition) { return Describe(*definition, soc); }) +
           ",\"tiled\":" + OpAttrDef::List(tiled, Quoted) + "}";
}

std::string Shape(const gert::Shape &shape) {
    std::vector<int64_t> dims;
    for (size_t index = 0; index < shape.GetDimNum(); ++index) {
        dims.push_back(shape.GetDim(index));
    }
    return Numbers(dims);
}

std::string InferShapes(gert::SkCall &call, gert::SkFunctions &functions) {
    ge::graphStatus status = ge::GRAPH_SUCCESS;
    if (functions.infer_type) {
        gert::InferDataTypeContext context(&call);
        functions.infer_type(&context);
    } else if (functions.type_of_first && !call.inputs.descriptions.empty()) {
        for (auto &description : call.outputs.descriptions) {
            description.SetDataType(call.inputs.descriptions[0].GetDataType());
        }
    }
    const bool known = static_cast<bool>(functions.infer_shape);
    if (known) {
        gert::InferShapeContext context(&call);
        status = functions.infer_shape(&context);
    }
    std::string outputs = "[";
    for (size_t index = 0; index < call.outputs.shapes.size(); ++index) {
        outputs += (index == 0 ? "" : ",") + std::string("{\"shape\":") + Shape(call.outputs.shapes[index].GetOriginShape()) +
                   ",\"dtype\":" + std::to_string(call.outputs.descriptions[index].GetDataType()) + "}";
    }
    return "{\"known\":" + std::string(known ? "true" : "false") + ",\"status\":" + std::to_string(status) +
           ",\"outputs\":" + outputs + "],\"log\":" + Log() + "}";
}

std::string Tile(gert::SkCall &call, gert::SkFunctions &functions) {
    if (!functions.tiling) {
        return "{\"known\":false}";
    }
    for (const auto &attribute : functions.private_attributes) {
        call.attributes.SkAdd(attribute.second());
    }
    ge::graphStatus status = ge::GRAPH_SUCCESS;
    if (functions.tiling_parse) {
        call.compile_info = functions.new_compile_info();
        gert::TilingParseContext context(&call);
        status = functions.tiling_parse(&context);
    }
    const bool parsed = status == ge::GRAPH_SUCCESS;
    if (parsed) {
        // What is registered is too little for many operators; device software asks their kernels.
        call.tiling_data.SkResize(std::max<size_t>(functions.tiling_capacity, 64 << 10));
        gert::TilingContext context(&call);
        status = functions.tiling(&context);
    }
    const size_t size = call.tiling_data.GetDataSize(), room = call.tiling_data.GetCapacity();
    if (size > room) {
        sk_op_host::Say(call.type, "its tiling data has " + std::to_string(size) + " bytes, which is more than the " +
                                          std::to_string(room) + " there is room for");
        status = ge::GRAPH_FAILED;
    }
    return "{\"known\":true,\"parsed\":" + std::string(parsed ? "true" : "false") + ",\"status\":" + std::to_string(status) +
           ",\"key\":" + std::to_string(call.key) + ",\"blocks\":" + std::to_string(call.blocks) +
           ",\"schedule_mode\":" + std::to_string(call.schedule_mode) +
           ",\"local_memory\":" + std::to_string(call.local_memory) + ",\"workspaces\":" + Numbers(call.workspaces) +
           ",\"bytes\":\"" + Hex(static_cast<const uint8_t *>(call.tiling_data.GetData()), std::min(size, room)) + "\",\"log\":" + Log() + "}";
}

} // namespace

// Framework functions that operators declare themselves: they fill a cache of tilings, of which there is none here.
namespace optiling {
bool TilingPrepareForOpCache(gert::TilingContext *) { return true; }
bool TilingPrepareForOpCache(gert::TilingParseContext *) { return true; }
} // namespace optiling

// Tables of tuned tilings: there are none.
namespace tuningtiling {
class TuningTilingDef;
}
namespace RuntimeKb {
uint32_t QueryBank(const void *, size_t, const std::string &, const std::string &, uint32_t,
                   std::shared_ptr<tuningtiling::TuningTilingDef> &) {
    return ge::FAILED;
}
} // namespace RuntimeKb

// Is the library loaded?
extern "C" {
int sk_op_host_asked = 0;
// The same words once, however often a search for a tiling asks.
void sk_op_host_say(const char *text) {
    const auto &messages = Messages();
    if (std::find(messages.begin(), messages.end(), text) == messages.end()) {
        sk_op_host::Say("", text);
    }
}
}

// `question` and `answer` are files.
extern "C" int sk_op_host_ask(const char *question, const char *answer) {
    sk_op_host_asked = 1;
    sk_op_host::Reader reader(question);
    const std::string what = reader.Word();
    std::string text;
    if (what == "definitions") {
        text = Definitions(reader.Word());
    } else {
        gert::SkCall call;
        sk_op_host::ReadCall(reader, call);
        for (const auto &make : ops::SkDefinitions()) {
            TakeFunctions(*make());
        }
        gert::SkFunctions &functions = gert::SkRegistered()[call.type];
        text = what == "shapes" ? InferShapes(call, functions) : Tile(call, functions);
    }
    std::ofstream file(answer, std::ios::binary);
    file << text;
    file.close();
    return file.good() ? 0 : 1;
}
