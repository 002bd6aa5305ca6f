// The part of GoogleTest's interface that unit tests of kernels use.
#ifndef SK_PROGRAM_GTEST_H
#define SK_PROGRAM_GTEST_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing {

// What the running test came to.
struct SkState {
    bool failed = false;
    bool fatal = false;
    bool skipped = false;
};
inline SkState &SkRunning() {
    static SkState state;
    return state;
}

class Message {
  public:
    Message() = default;
    Message(const Message &other) { text_ << other.text_.str(); }
    template <class T> Message &operator<<(const T &value) {
        text_ << value;
        return *this;
    }
    Message &operator<<(std::ostream &(*change)(std::ostream &)) {
        text_ << change;
        return *this;
    }
    std::string GetString() const { return text_.str(); }

  private:
    std::ostringstream text_;
};

class AssertionResult {
  public:
    explicit AssertionResult(bool holds) : holds_(holds) {}
    explicit operator bool() const { return holds_; }
    template <class T> AssertionResult &operator<<(const T &value) {
        text_ << value;
        return *this;
    }
    std::string message() const { return text_.GetString(); }

  private:
    bool holds_;
    Message text_;
};
inline AssertionResult AssertionSuccess() { return AssertionResult(true); }
inline AssertionResult AssertionFailure() { return AssertionResult(false); }

namespace internal {

enum class Kind { Expect, Assert, Skip };

// Takes the message behind a check that does not hold: `Report(…) = Message() << …`.
class Report {
  public:
    Report(Kind kind, const char *file, int line, std::string told)
        : kind_(kind), file_(file), line_(line), told_(std::move(told)) {}
    void operator=(const Message &message) const {
        SkState &state = SkRunning();
        if (kind_ == Kind::Skip) {
            state.skipped = true;
        } else {
            state.failed = true;
            state.fatal = state.fatal || kind_ == Kind::Assert;
        }
        const std::string more = message.GetString();
        printf("%s:%d: %s%s%s%s\n", file_, line_, kind_ == Kind::Skip ? "Skipped" : "Failure", told_.empty() ? "" : "\n",
               told_.c_str(), more.empty() ? "" : ("\n" + more).c_str());
        fflush(stdout);
    }

  private:
    Kind kind_;
    const char *file_;
    int line_;
    std::string told_;
};

template <class T, class = void> struct IsPrinted : std::false_type {};
template <class T>
struct IsPrinted<T, std::void_t<decltype(std::declval<std::ostream &>() << std::declval<const T &>())>>
    : std::true_type {};

template <class T> std::string Shown(const T &value) {
    std::ostringstream text;
    if constexpr (std::is_same_v<T, std::nullptr_t>) {
        text << "nullptr";
    } else if constexpr (std::is_enum_v<T>) {
        text << static_cast<long long>(value);
    } else if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
        text << static_cast<int>(value);
    } else if constexpr (IsPrinted<T>::value) {
        text.precision(9);
        text << value;
    } else {
        text << sizeof(T) << " bytes";
    }
    return text.str();
}

// Empty: it holds.
using Told = std::string;

template <class A, class B>
Told NotSo(const char *what, const char *left, const char *right, const A &a, const B &b) {
    return std::string("expected: (") + left + ") " + what + " (" + right + "), actual: " + Shown(a) + " and " + Shown(b);
}
template <class A, class B, class Holds>
Told Compared(bool isSo, const char *what, const char *left, const char *right, const A &a, const B &b, Holds) {
    return isSo ? Told() : NotSo(what, left, right, a, b);
}
inline Told Truth(bool value, bool wanted, const char *text) {
    return value == wanted ? Told() : std::string("value of: ") + text + ", expected: " + (wanted ? "true" : "false");
}
inline Told Truth(const AssertionResult &value, bool wanted, const char *text) {
    const Told told = Truth(static_cast<bool>(value), wanted, text);
    return told.empty() ? told : told + " (" + value.message() + ")";
}
inline Told Near(double a, double b, double limit, const char *left, const char *right) {
    if (fabs(a - b) <= limit || a == b) {
        return Told();
    }
    return std::string("the difference of ") + left + " and " + right + " is " + Shown(fabs(a - b)) + ", more than " +
           Shown(limit) + ": " + Shown(a) + " and " + Shown(b);
}
// Four units of the last place.
template <class T> Told Alike(T a, T b, const char *left, const char *right) {
    T low = a;
    T high = a;
    for (int step = 0; step < 4; ++step) {
        low = std::nextafter(low, -static_cast<T>(INFINITY));
        high = std::nextafter(high, static_cast<T>(INFINITY));
    }
    return a == b || (b >= low && b <= high) ? Told() : NotSo("==", left, right, a, b);
}
inline Told Texts(const char *a, const char *b, bool wanted, const char *left, const char *right) {
    const bool same = a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0;
    return same == wanted ? Told() : NotSo(wanted ? "==" : "!=", left, right, a ? a : "null", b ? b : "null");
}

} // namespace internal

class Test {
  public:
    virtual ~Test() = default;
    static void SetUpTestCase() {}
    static void TearDownTestCase() {}
    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}
    static bool HasFailure() { return SkRunning().failed; }
    static bool HasFatalFailure() { return SkRunning().fatal; }
    static bool IsSkipped() { return SkRunning().skipped; }

    void SkRun() {
        SetUp();
        if (!SkRunning().fatal && !SkRunning().skipped) {
            TestBody();
        }
        TearDown();
    }

  protected:
    virtual void SetUp() {}
    virtual void TearDown() {}
    virtual void TestBody() = 0;
};

class Environment {
  public:
    virtual ~Environment() = default;
    virtual void SetUp() {}
    virtual void TearDown() {}
};

template <class T> class WithParamInterface {
  public:
    using ParamType = T;
    virtual ~WithParamInterface() = default;
    static const ParamType &GetParam() { return *SkParam(); }
    static const ParamType *&SkParam() {
        static const ParamType *param = nullptr;
        return param;
    }
};
template <class T> class TestWithParam : public Test, public WithParamInterface<T> {};

template <class T> struct TestParamInfo {
    T param;
    size_t index;
};

namespace internal {

struct Case {
    std::string suite;
    std::string name;
    std::function<Test *()> make;
    std::function<void()> setUp;
    std::function<void()> tearDown;
};
struct Registry {
    std::vector<Case> cases;
    std::vector<std::function<void()>> instances;
    std::vector<std::unique_ptr<Environment>> environments;
    std::string filter = "*";
    bool onlyLists = false;
};
inline Registry &Registered() {
    static Registry registry;
    return registry;
}

template <class Body> bool Add(const char *suite, const char *name) {
    Registered().cases.push_back({suite, name, [] { return new Body; }, Body::SkBefore, Body::SkAfter});
    return true;
}

// Tests with parameters, by fixture.
template <class Fixture> std::vector<Case> &Bodies() {
    static std::vector<Case> bodies;
    return bodies;
}
template <class Fixture, class Body> bool AddBody(const char *name) {
    Bodies<Fixture>().push_back({"", name, [] { return new Body; }, Body::SkBefore, Body::SkAfter});
    return true;
}
inline std::string NameOf(size_t index) { return std::to_string(index); }

template <class Fixture, class Values, class... Namer>
bool Instantiate(const char *prefix, const char *suite, Values values, Namer... namer) {
    using Param = typename Fixture::ParamType;
    std::vector<Param> params = values.template As<Param>();
    Registered().instances.push_back([=] {
        for (const Case &body : Bodies<Fixture>()) {
            for (size_t index = 0; index < params.size(); ++index) {
                std::string name = NameOf(index);
                ((name = namer(TestParamInfo<Param>{params[index], index})), ...);
                auto param = std::make_shared<const Param>(params[index]);
                Case one = body;
                one.suite = std::string(prefix) + "/" + suite;
                one.name += "/" + name;
                one.make = [param, make = body.make] {
                    Fixture::SkParam() = param.get();
                    return make();
                };
                Registered().cases.push_back(std::move(one));
            }
        }
    });
    return true;
}

template <class... T> struct ListOf {
    std::tuple<T...> values;
    template <class Param> std::vector<Param> As() const {
        return std::apply([](const auto &...value) { return std::vector<Param>{static_cast<Param>(value)...}; }, values);
    }
};
template <class T> struct VectorOf {
    std::vector<T> values;
    template <class Param> std::vector<Param> As() const { return std::vector<Param>(values.begin(), values.end()); }
};
template <class... Lists> struct Product {
    std::tuple<Lists...> lists;
    template <class Param> std::vector<Param> As() const {
        std::vector<Param> all;
        Param one;
        Fill<Param, 0>(one, all);
        return all;
    }
    template <class Param, size_t At> void Fill(Param &one, std::vector<Param> &all) const {
        if constexpr (At == sizeof...(Lists)) {
            all.push_back(one);
        } else {
            for (const auto &value : std::get<At>(lists).template As<std::tuple_element_t<At, Param>>()) {
                std::get<At>(one) = value;
                Fill<Param, At + 1>(one, all);
            }
        }
    }
};

// Patterns with `*` and `?`, between colons; those behind `-` are left out.
inline bool Matches(const char *pattern, const char *end, const char *name) {
    if (pattern == end) {
        return *name == '\0';
    }
    if (*pattern == '*') {
        return Matches(pattern + 1, end, name) || (*name != '\0' && Matches(pattern, end, name + 1));
    }
    return *name != '\0' && (*pattern == '?' || *pattern == *name) && Matches(pattern + 1, end, name + 1);
}
inline bool MatchesOne(const std::string &patterns, const std::string &name) {
    size_t start = 0;
    while (start <= patterns.size()) {
        size_t end = patterns.find(':', start);
        end = end == std::string::npos ? patterns.size() : end;
        if (Matches(patterns.data() + start, patterns.data() + end, name.c_str())) {
            return true;
        }
        start = end + 1;
    }
    return false;
}
inline bool IsWanted(const std::string &filter, const std::string &name) {
    const size_t dash = filter.find('-');
    const std::string wanted = dash == 0 ? "*" : filter.substr(0, dash);
    return MatchesOne(wanted, name) && (dash == std::string::npos || !MatchesOne(filter.substr(dash + 1), name));
}

inline void RunBody(Test &test) {
    try {
        test.SkRun();
    } catch (const std::exception &error) {
        Report(Kind::Assert, "test", 0, std::string("exception: ") + error.what()) = Message();
    }
}

inline int RunAll() {
    Registry &registry = Registered();
    for (const auto &instance : registry.instances) {
        instance();
    }
    registry.instances.clear();
    std::vector<const Case *> wanted;
    for (const Case &one : registry.cases) {
        if (IsWanted(registry.filter, one.suite + "." + one.name)) {
            wanted.push_back(&one);
        }
    }
    if (registry.onlyLists) {
        for (const Case *one : wanted) {
            printf("%s.%s\n", one->suite.c_str(), one->name.c_str());
        }
        return 0;
    }
    for (const auto &environment : registry.environments) {
        environment->SetUp();
    }
    std::vector<std::string> failed;
    size_t skipped = 0;
    for (size_t at = 0; at < wanted.size(); ++at) {
        const Case &one = *wanted[at];
        const std::string name = one.suite + "." + one.name;
        if (at == 0 || wanted[at - 1]->suite != one.suite) {
            one.setUp();
        }
        printf("[ RUN      ] %s\n", name.c_str());
        fflush(stdout);
        SkRunning() = SkState();
        {
            std::unique_ptr<Test> test(one.make());
            RunBody(*test);
        }
        const SkState state = SkRunning();
        skipped += state.skipped && !state.failed;
        printf("%s %s\n", state.failed ? "[  FAILED  ]" : state.skipped ? "[  SKIPPED ]" : "[       OK ]", name.c_str());
        fflush(stdout);
        if (state.failed) {
            failed.push_back(name);
        }
        if (at + 1 == wanted.size() || wanted[at + 1]->suite != one.suite) {
            one.tearDown();
        }
    }
    for (const auto &environment : registry.environments) {
        environment->TearDown();
    }
    printf("[  PASSED  ] %zu tests\n", wanted.size() - failed.size() - skipped);
    if (skipped != 0) {
        printf("[  SKIPPED ] %zu tests\n", skipped);
    }
    for (const std::string &name : failed) {
        printf("[  FAILED  ] %s\n", name.c_str());
    }
    fflush(stdout);
    return failed.empty() ? 0 : 1;
}

} // namespace internal

template <class... T> internal::ListOf<T...> Values(T... values) { return {std::make_tuple(values...)}; }
template <class List> auto ValuesIn(const List &list) {
    using Value = std::decay_t<decltype(*std::begin(list))>;
    return internal::VectorOf<Value>{std::vector<Value>(std::begin(list), std::end(list))};
}
inline internal::VectorOf<bool> Bool() { return {{false, true}}; }
template <class T> internal::VectorOf<T> Range(T first, T end, T step = 1) {
    internal::VectorOf<T> made;
    for (T value = first; value < end; value = value + step) {
        made.values.push_back(value);
    }
    return made;
}
template <class... Lists> internal::Product<Lists...> Combine(Lists... lists) { return {std::make_tuple(lists...)}; }

inline Environment *AddGlobalTestEnvironment(Environment *environment) {
    internal::Registered().environments.emplace_back(environment);
    return environment;
}

// Takes its own arguments out of the program's.
inline void InitGoogleTest(int *count, char **words) {
    int kept = 1;
    for (int at = 1; at < *count; ++at) {
        const std::string word = words[at];
        if (word.rfind("--gtest_filter=", 0) == 0) {
            internal::Registered().filter = word.substr(strlen("--gtest_filter="));
        } else if (word == "--gtest_list_tests") {
            internal::Registered().onlyLists = true;
        } else if (word.rfind("--gtest_", 0) != 0) {
            words[kept++] = words[at];
        }
    }
    *count = kept;
}
inline void InitGoogleTest() {}

} // namespace testing

inline int RUN_ALL_TESTS() { return ::testing::internal::RunAll(); }

#define SK_TEST_CLASS_(suite, name) suite##_##name##_Test
#define SK_TEST_BODY_(suite, name, fixture, added)                                                                     \
    class SK_TEST_CLASS_(suite, name) : public fixture {                                                               \
      public:                                                                                                          \
        /* A fixture has one of each pair; the other one does nothing. */                                              \
        static void SkBefore() {                                                                                       \
            SetUpTestCase();                                                                                           \
            SetUpTestSuite();                                                                                          \
        }                                                                                                              \
        static void SkAfter() {                                                                                        \
            TearDownTestSuite();                                                                                       \
            TearDownTestCase();                                                                                        \
        }                                                                                                              \
                                                                                                                       \
      private:                                                                                                         \
        void TestBody() override;                                                                                      \
        static const bool added_;                                                                                      \
    };                                                                                                                 \
    const bool SK_TEST_CLASS_(suite, name)::added_ = added;                                                            \
    void SK_TEST_CLASS_(suite, name)::TestBody()

#define TEST(suite, name)                                                                                              \
    SK_TEST_BODY_(suite, name, ::testing::Test,                                                                        \
                  (::testing::internal::Add<SK_TEST_CLASS_(suite, name)>(#suite, #name)))
#define TEST_F(suite, name)                                                                                            \
    SK_TEST_BODY_(suite, name, suite,                                                                                  \
                  (::testing::internal::Add<SK_TEST_CLASS_(suite, name)>(#suite, #name)))
#define TEST_P(suite, name)                                                                                            \
    SK_TEST_BODY_(suite, name, suite, (::testing::internal::AddBody<suite, SK_TEST_CLASS_(suite, name)>(#name)))
#define INSTANTIATE_TEST_SUITE_P(prefix, suite, ...)                                                                   \
    static const bool sk_instance_##prefix##_##suite =                                                                 \
        ::testing::internal::Instantiate<suite>(#prefix, #suite, __VA_ARGS__)
#define INSTANTIATE_TEST_CASE_P(prefix, suite, ...) INSTANTIATE_TEST_SUITE_P(prefix, suite, __VA_ARGS__)
#define GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite) static_assert(true, "")

#define SK_TEST_REPORT_(kind, told) ::testing::internal::Report(kind, __FILE__, __LINE__, told) = ::testing::Message()
#define SK_TEST_EXPECT_(told)                                                                                          \
    if (const std::string sk_told = (told); sk_told.empty()) {                                                         \
    } else                                                                                                             \
        SK_TEST_REPORT_(::testing::internal::Kind::Expect, sk_told)
#define SK_TEST_ASSERT_(told)                                                                                          \
    if (const std::string sk_told = (told); sk_told.empty()) {                                                         \
    } else                                                                                                             \
        return SK_TEST_REPORT_(::testing::internal::Kind::Assert, sk_told)
#define SK_TEST_COMPARED_(a, op, b)                                                                                    \
    [&](const auto &left, const auto &right) {                                                                         \
        return ::testing::internal::Compared(left op right, #op, #a, #b, left, right, 0);                              \
    }((a), (b))

#define EXPECT_TRUE(value) SK_TEST_EXPECT_(::testing::internal::Truth((value) ? true : false, true, #value))
#define EXPECT_FALSE(value) SK_TEST_EXPECT_(::testing::internal::Truth((value) ? true : false, false, #value))
#define EXPECT_EQ(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, ==, b))
#define EXPECT_NE(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, !=, b))
#define EXPECT_LT(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, <, b))
#define EXPECT_LE(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, <=, b))
#define EXPECT_GT(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, >, b))
#define EXPECT_GE(a, b) SK_TEST_EXPECT_(SK_TEST_COMPARED_(a, >=, b))
#define EXPECT_NEAR(a, b, limit) SK_TEST_EXPECT_(::testing::internal::Near((a), (b), (limit), #a, #b))
#define EXPECT_FLOAT_EQ(a, b) SK_TEST_EXPECT_(::testing::internal::Alike<float>((a), (b), #a, #b))
#define EXPECT_DOUBLE_EQ(a, b) SK_TEST_EXPECT_(::testing::internal::Alike<double>((a), (b), #a, #b))
#define EXPECT_STREQ(a, b) SK_TEST_EXPECT_(::testing::internal::Texts((a), (b), true, #a, #b))
#define EXPECT_STRNE(a, b) SK_TEST_EXPECT_(::testing::internal::Texts((a), (b), false, #a, #b))
#define ASSERT_TRUE(value) SK_TEST_ASSERT_(::testing::internal::Truth((value) ? true : false, true, #value))
#define ASSERT_FALSE(value) SK_TEST_ASSERT_(::testing::internal::Truth((value) ? true : false, false, #value))
#define ASSERT_EQ(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, ==, b))
#define ASSERT_NE(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, !=, b))
#define ASSERT_LT(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, <, b))
#define ASSERT_LE(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, <=, b))
#define ASSERT_GT(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, >, b))
#define ASSERT_GE(a, b) SK_TEST_ASSERT_(SK_TEST_COMPARED_(a, >=, b))
#define ASSERT_NEAR(a, b, limit) SK_TEST_ASSERT_(::testing::internal::Near((a), (b), (limit), #a, #b))
#define ASSERT_FLOAT_EQ(a, b) SK_TEST_ASSERT_(::testing::internal::Alike<float>((a), (b), #a, #b))
#define ASSERT_DOUBLE_EQ(a, b) SK_TEST_ASSERT_(::testing::internal::Alike<double>((a), (b), #a, #b))
#define ASSERT_STREQ(a, b) SK_TEST_ASSERT_(::testing::internal::Texts((a), (b), true, #a, #b))
#define ADD_FAILURE() SK_TEST_REPORT_(::testing::internal::Kind::Expect, "")
#define FAIL() return SK_TEST_REPORT_(::testing::internal::Kind::Assert, "")
#define SUCCEED() static_cast<void>(::testing::Message())
#define GTEST_SKIP() return SK_TEST_REPORT_(::testing::internal::Kind::Skip, "")
#define SCOPED_TRACE(text) static_cast<void>(text)

#endif
