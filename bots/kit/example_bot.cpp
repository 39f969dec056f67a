// A whole bot on the kit: it plays a random legal move.

#include "arena_bot.hpp"

struct ExampleBot : arena::Bot {
    std::string choose(const arena::Position& position) override {
        return position.legal[roll(position.legal.size())];
    }
};

int main() { ExampleBot().run("example-cpp"); }
