// A process of its own for the host code of an operator: it may crash or run for ever.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

// Arguments: library, question, answer.
int main(int count, char **arguments) {
    if (count != 4) {
        return 2;
    }
    // A function that is nowhere is missed when it is called, and not before.
    void *library = dlopen(arguments[1], RTLD_LAZY | RTLD_GLOBAL);
    if (library == nullptr) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    using Ask = int (*)(const char *, const char *);
    auto *ask = reinterpret_cast<Ask>(dlsym(library, "sk_op_host_ask"));
    if (ask == nullptr) {
        return 4;
    }
    const int result = ask(arguments[2], arguments[3]);
    fflush(nullptr);
    // Not by returning: what static objects of the operator do at the end is nobody's business.
    _exit(result);
}
