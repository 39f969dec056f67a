// A bot on the C++ kit that tells all it was told; see test_kits.py for what it says.

#include "arena_bot.hpp"

template <typename Pairs> std::string joined(const Pairs& pairs) {
    std::ostringstream text;
    for (const auto& [first, second] : pairs)
        text << (text.tellp() > 0 ? " " : "") << first << '-' << second;
    return text.str();
}

template <typename Values> std::string listed(const Values& values, const char* sign) {
    std::ostringstream text;
    for (const auto& value : values) text << (text.tellp() > 0 ? sign : "") << value;
    return text.str();
}

struct Probe : arena::Bot {
    Probe() {
        declare("depth", "int 1 20 6");
        declare("width", "float 0 2.5 0.5");
        declare("book", "bool true");
        declare("style", "choice fast|solid solid");
    }

    void new_game(const arena::Game& game) override {
        std::cout << "new game\n";
        std::ostringstream text;
        text << "game " << game.name << ' ';
        const char* sign = "";
        for (const auto& [key, value] : game.options) {
            text << sign << key << ':' << value;
            sign = ",";
        }
        text << "\noptions " << std::stoi(option("depth")) + 1 << ' ' << option_number("width") / 2
             << (option("book") == "false" ? " no" : " yes") << "\nstyle " << option("style");
        text << "\nseat " << game.you << " of " << game.seats << ", seed " << game.seed
             << "\ntimes " << game.time_ms << ' ' << game.inc_ms << ' ' << game.move_ms
             << (game.wall ? " wall" : " cpu");
        log(text.str());
    }

    std::string choose(const arena::Position& position) override {
        log("ply " + std::to_string(position.ply) + "\nmoves " + joined(position.moves) + ".");
        log("out " + joined(position.out) + ".");
        log("clocks " + listed(position.clocks_ms, " "));
        log("legal " + listed(position.legal, "+") + "\nposition " + position.state);
        number("budget", position.budget());
        expect(0.25, {position.legal.begin(), position.legal.begin() + 2}, 3);
        tag("told");
        const double used = position.used(), left = position.left();
        const double clock = position.clocks_ms[position.game.you - 1] / 1000.0;
        const bool right = used >= 0 && used < 0.5 && left > clock - 1 && left <= clock;
        log(right ? "times are right" : "wrong");
        if (position.ply == 0) {
            for (int i = 0; i < 40; ++i) log(std::string(3000, 'x'));
            std::string remark;
            for (int i = 0; i < 5000; ++i) remark += "\u00e9";
            return position.legal.front() + " " + remark;
        }
        return position.legal.back() + " a remark\nof two lines \u00e9";
    }

    void game_over(const arena::End& end) override {
        log("end " + listed(end.ranks, ",") + " " + listed(end.scores, ",") + " " + end.cause);
    }
};

int main() { Probe().run("probe", "legal,state"); }
