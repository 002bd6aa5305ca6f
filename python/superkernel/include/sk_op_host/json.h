// A small `nlohmann::json` for host code that keeps tables of tuned tilings. There are no such tables here.
#ifndef SK_OP_HOST_JSON_H
#define SK_OP_HOST_JSON_H

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
    bool contains(const std::string &name) const { return members_.count(name) != 0; }
    Members::const_iterator find(const std::string &name) const { return members_.find(name); }
    Members::const_iterator cbegin() const { return members_.cbegin(); }
    Members::const_iterator cend() const { return members_.cend(); }
    Members::const_iterator begin() const { return members_.begin(); }
    Members::const_iterator end() const { return members_.end(); }
    bool empty() const { return members_.empty() && text_.empty(); }
    std::string dump() const {
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
        if constexpr (std::is_arithmetic_v<T>) {
            std::istringstream(text_) >> value;
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = text_;
        } else {
            from_json(*this, value);
        }
        return value;
    }
    static json parse(const std::string &) { throw std::runtime_error("tables of tuned tilings are not read"); }

  private:
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
};

} // namespace nlohmann

// How a struct would be written into such a table, and read from it.
#define NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(type, ...)                                                                  \
    inline void to_json(nlohmann::json &, const type &) {}                                                             \
    inline void from_json(const nlohmann::json &, type &) {                                                            \
        throw std::runtime_error("tables of tuned tilings are not read");                                              \
    }

#endif
