// A small `nlohmann::json` for host code that reads what a compilation left for it, or keeps tables of tuned tilings.
#ifndef SK_OP_HOST_JSON_H
#define SK_OP_HOST_JSON_H

#include <ctype.h>
#include <string.h>

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace nlohmann {

class json {
  public:
    using Members = std::map<std::string, json>;

    json() = default;
    template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, json>>> json(const T &value) {
        Set(value, 0);
    }
    json &operator[](const std::string &name) { return members_[name]; }
    const json &operator[](const std::string &name) const { return members_.at(name); }
    const json &at(const std::string &name) const { return members_.at(name); }
    const json &operator[](size_t index) const { return elements_.at(index); }
    const json &at(size_t index) const { return elements_.at(index); }
    size_t size() const { return elements_.empty() ? members_.size() : elements_.size(); }
    bool is_null() const { return empty(); }
    bool contains(const std::string &name) const { return members_.count(name) != 0; }
    Members::const_iterator find(const std::string &name) const { return members_.find(name); }
    Members::const_iterator cbegin() const { return members_.cbegin(); }
    Members::const_iterator cend() const { return members_.cend(); }
    Members::const_iterator begin() const { return members_.begin(); }
    Members::const_iterator end() const { return members_.end(); }
    bool empty() const { return members_.empty() && elements_.empty() && text_.empty(); }
    std::string dump() const {
        if (!elements_.empty()) {
            std::string all = "[";
            for (const json &element : elements_) {
                all += (all.size() == 1 ? "" : ",") + element.dump();
            }
            return all + "]";
        }
        if (members_.empty()) {
            return text_.empty() ? "null" : text_;
        }
        std::string all = "{";
        for (const auto &[name, value] : members_) {
            all += (all.size() == 1 ? "\"" : ",\"") + name + "\":" + value.dump();
        }
        return all + "}";
    }
    template <class T> void get_to(T &value) const { value = get<T>(); }
    template <class T> T get() const {
        T value{};
        if constexpr (std::is_same_v<T, bool>) {
            value = text_ == "true" || text_ == "1";
        } else if constexpr (std::is_arithmetic_v<T>) {
            std::istringstream(text_) >> value;
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = text_;
        } else if constexpr (IsVector<T>::value) {
            for (const json &element : elements_) {
                value.push_back(element.get<typename T::value_type>());
            }
        } else {
            from_json(*this, value);
        }
        return value;
    }
    static json parse(const std::string &text) {
        size_t at = 0;
        json value = Read(text, at);
        Space(text, at);
        if (at != text.size()) {
            throw std::runtime_error("no JSON: " + text.substr(at, 20));
        }
        return value;
    }

  private:
    template <class T> struct IsVector : std::false_type {};
    template <class T> struct IsVector<std::vector<T>> : std::true_type {};

    static char Space(const std::string &text, size_t &at) {
        while (at < text.size() && isspace(static_cast<unsigned char>(text[at])) != 0) {
            ++at;
        }
        return at < text.size() ? text[at] : 0;
    }
    // Texts have no escapes but those of quotes and backslashes.
    static std::string Quoted(const std::string &text, size_t &at) {
        std::string value;
        for (++at; at < text.size() && text[at] != '"'; ++at) {
            at += text[at] == '\\' && at + 1 < text.size() ? 1 : 0;
            value += text[at];
        }
        ++at;
        return value;
    }
    static json Read(const std::string &text, size_t &at) {
        json value;
        const char first = Space(text, at);
        if (first == '{' || first == '[') {
            const char last = first == '{' ? '}' : ']';
            ++at;
            while (Space(text, at) != last) {
                if (first == '[') {
                    value.elements_.push_back(Read(text, at));
                } else if (Space(text, at) == '"') {
                    const std::string name = Quoted(text, at);
                    at += Space(text, at) == ':' ? 1 : 0;
                    value.members_[name] = Read(text, at);
                }
                if (Space(text, at) == ',') {
                    ++at;
                } else if (Space(text, at) != last) {
                    throw std::runtime_error("no JSON: " + text.substr(at, 20));
                }
            }
            ++at;
        } else if (first == '"') {
            value.text_ = Quoted(text, at);
        } else {
            const size_t start = at;
            while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) != 0 || strchr("+-._", text[at]))) {
                ++at;
            }
            if (start == at) {
                throw std::runtime_error("no JSON: " + text.substr(at, 20));
            }
            value.text_ = text.substr(start, at - start) == "null" ? "" : text.substr(start, at - start);
        }
        return value;
    }

    // Structs bring a function of their own.
    template <class T> auto Set(const T &value, int) -> decltype(to_json(std::declval<json &>(), value)) {
        to_json(*this, value);
    }
    template <class T> void Set(const T &value, long) {
        if constexpr (std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string>) {
            std::ostringstream out;
            out << value;
            text_ = out.str();
        }
    }

    std::string text_;
    Members members_;
    std::vector<json> elements_;
};

} // namespace nlohmann

// How a struct would be written into such a table, and read from it.
#define NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(type, ...)                                                                  \
    inline void to_json(nlohmann::json &, const type &) {}                                                             \
    inline void from_json(const nlohmann::json &, type &) {                                                            \
        throw std::runtime_error("tables of tuned tilings are not read");                                              \
    }

#endif
