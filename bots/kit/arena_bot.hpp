// The kit for bots in C++17: write `choose`, and this file speaks the protocol for you. Copy it
// beside your bot; it is one header, and needs the standard library alone. A whole bot:
//
//   #include "arena_bot.hpp"
//
//   struct Mine : arena::Bot {
//       std::string choose(const arena::Position& position) override {
//           return position.legal[roll(position.legal.size())];
//       }
//   };
//
//   int main() { Mine().run("mine"); }
//
// Build it with `g++ -O2 -std=c++17 mine.cpp -o mine`. What you print with std::cout goes to
// standard error, which is kept for you, and never in between the lines of the protocol. An
// exception that escapes ends the bot, and with it the game.

#ifndef ARENA_BOT_HPP
#define ARENA_BOT_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace arena {

constexpr std::size_t longest_line = 4096;  // bytes of a line that the referee reads
constexpr std::size_t longest_log = 60'000; // bytes of # lines a ply; the referee takes 64 KiB

using Keys = std::map<std::string, std::string>;

struct Game {
    std::string name;            // which game, e.g. "clobber"
    Keys options;                // of its variant, e.g. size: 6x7
    int seats = 0;
    int you = 0;                 // your seat, counted from 1
    std::uint64_t seed = 0;      // for your own dice
    long time_ms = -1;           // your clock at the beginning, or -1 without clocks,
    long inc_ms = 0;             // and what it gains with every move
    long move_ms = -1;           // the time for each move if that is fixed, or -1
    bool wall = false;           // whether wall time is charged, and not your CPU time
};

struct Position {
    Game game;
    int ply = 0;                                    // how many moves were played
    std::vector<std::pair<int, std::string>> moves; // all of them, each with its seat
    std::vector<std::pair<int, int>> out;           // seats that left by a fault, before which ply
    std::vector<long> clocks_ms;                    // left on every seat's clock, seat 1 first
    std::vector<std::string> legal;                 // the legal moves, if you want them
    std::string state;                              // the position text, if you want it
    double start = 0;                               // on the clock that is charged, in seconds

    // A clock in seconds: this process's CPU time, all threads, or wall time.
    static double now(bool wall) {
        if (!wall) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(time).count();
    }

    // Seconds that this move has cost you so far.
    double used() const { return now(game.wall) - start; }

    // Seconds left on your clock now.
    double left() const { return clocks_ms.at(game.you - 1) / 1000.0 - used(); }

    // A sensible number of seconds for this move in all, with a margin for surprises: think
    // while used() < budget().
    double budget() const {
        const double clock = clocks_ms.at(game.you - 1) / 1000.0;
        const double most = clock - (0.02 + clock / 20);
        const double share = game.move_ms < 0 ? clock / 30 + 0.8 * game.inc_ms / 1000.0 : most;
        return std::max(0.0, std::min(share, most));
    }
};

struct End {
    std::vector<int> ranks;     // every seat's rank: 1 is best, ties share a rank
    std::vector<double> scores;
    std::string cause;          // "normal", or another word of the protocol's page
};

class Bot {
public:
    virtual ~Bot() = default;

    // A game begins; it may be the second in this process.
    virtual void new_game(const Game&) {}

    // Your move; behind it, after a space, there may be a remark for the replay.
    virtual std::string choose(const Position& position) = 0;

    // The game has ended.
    virtual void game_over(const End&) {}

    // Writes to the log of this game, which only you can read.
    void log(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) note("# " + line);
    }

    // Gives a number for this ply, drawn as a chart beside the replay.
    void number(const std::string& key, double value) {
        std::ostringstream text;
        text.precision(10);
        text << "# " << key << ' ' << value;
        note(text.str());
    }

    // Says what you expect of this ply; pages show it beside the board. The share is your side's:
    // 1 to win, 0 to lose, a half for a draw. The line has the moves that you expect, your own
    // first; the depth is how many plies you looked ahead, if it is not negative.
    void expect(double share, const std::vector<std::string>& line = {}, double depth = -1) {
        number("eval", share);
        if (depth >= 0) number("depth", depth);
        std::string text = "# pv";
        for (const std::string& move : line) text += ' ' + move;
        if (!line.empty()) note(text);
    }

    // Says what can be chosen about the bot, as `declare("depth", "int 1 20 6")`: a name with its
    // kind, the bounds or the choices, and what it is if nobody chooses (see the protocol's page).
    // To be called before `run`, as in the constructor.
    void declare(const std::string& name, const std::string& words) {
        declared_.emplace_back(name, words);
        options_[name] = words.substr(words.rfind(' ') + 1);
    }

    // What was chosen of that, or is so by default: known when a game begins.
    const std::string& option(const std::string& name) const { return options_.at(name); }
    double option_number(const std::string& name) const { return std::stod(option(name)); }

    // Marks this ply, and by it the game, with a word by which it is found again.
    void tag(const std::string& word) { note("# tag " + word); }

    // A random number from 0 to sides - 1; a game's seed gives the same ones again.
    std::size_t roll(std::size_t sides) { return static_cast<std::size_t>(dice_() % sides); }

    // Plays until the referee says `quit`. `want` is what you want to be told before each move:
    // "legal", "state", "legal,state" or nothing.
    void run(const std::string& name, const std::string& want = "legal") {
        std::ios::sync_with_stdio(false);
        replies_.rdbuf(std::cout.rdbuf());
        std::cout.rdbuf(std::cerr.rdbuf());
        Game game;
        std::string legal, state, line;
        double answered = Position::now(false), came = -1;
        while (std::getline(std::cin, line)) {
            if (came < 0) came = Position::now(true);
            if (!line.empty() && line.back() == '\r') line.pop_back();
            const std::size_t space = std::min(line.find(' '), line.size());
            const std::string verb = line.substr(0, space);
            const std::string rest = line.substr(std::min(space + 1, line.size()));
            if (verb == "legal" || verb == "state") {
                (verb == "legal" ? legal : state) = rest;
                continue;
            }
            if (verb == "set") {
                const std::size_t end = std::min(rest.find(' '), rest.size());
                options_[rest.substr(0, end)] = rest.substr(std::min(end + 1, rest.size()));
            } else if (verb == "hello") {
                for (const auto& [option, words] : declared_) write("# option " + option + ' ' + words);
                write("ready " + name + (want.empty() ? "" : " want=" + want));
            } else if (verb == "newgame") {
                game = read_game(split(rest, ' '));
                dice_.seed(game.seed);
                new_game(game);
                write("ok");
            } else if (verb == "go") {
                Position position = read_turn(game, split(rest, ' '));
                position.legal = split(legal, ' ');
                position.state = state;
                position.start = game.wall ? came : answered;
                write("move " + choose(position));
                noted_ = 0;
            } else if (verb == "end") {
                game_over(read_end(split(rest, ' ')));
            } else if (verb == "quit") {
                break;
            }
            answered = Position::now(false);
            came = -1;
        }
        std::cout.rdbuf(replies_.rdbuf());
    }

private:
    std::ostream replies_{nullptr};
    std::mt19937_64 dice_;
    std::size_t noted_ = 0;
    std::vector<std::pair<std::string, std::string>> declared_;
    Keys options_;

    void note(const std::string& line) {
        noted_ += std::min(line.size(), longest_line) + 1;
        if (noted_ <= longest_log) write(line);
    }

    // Writes one line, whatever is in the text, and no longer than the referee reads.
    void write(std::string text) {
        std::replace(text.begin(), text.end(), '\n', ' ');
        if (text.size() > longest_line) {
            std::size_t end = longest_line;
            // Not within a letter of several bytes: those after its first are 10xxxxxx.
            while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
            text.resize(end);
        }
        replies_ << text << '\n' << std::flush;
    }

    static std::vector<std::string> split(const std::string& text, char sign) {
        std::vector<std::string> words;
        std::istringstream stream(text);
        for (std::string word; std::getline(stream, word, sign);)
            if (!word.empty()) words.push_back(word);
        return words;
    }

    static Keys keys_in(const std::vector<std::string>& words) {
        Keys keys;
        for (const std::string& word : words) {
            const std::size_t equals = word.find('=');
            if (equals != std::string::npos) keys[word.substr(0, equals)] = word.substr(equals + 1);
        }
        return keys;
    }

    static long number_of(const Keys& keys, const std::string& key, long otherwise) {
        const auto found = keys.find(key);
        return found == keys.end() ? otherwise : std::stol(found->second);
    }

    static Game read_game(const std::vector<std::string>& words) {
        const Keys keys = keys_in(words);
        Game game;
        game.name = words.at(0);
        game.options = keys;
        for (const char* key : {"seats", "you", "time", "inc", "move", "clock", "seed"})
            game.options.erase(key);
        // In the Siege the number of seats is an option, too: then it is said twice.
        if (std::count_if(words.begin(), words.end(), [](const std::string& word) {
                return word.rfind("seats=", 0) == 0;
            }) > 1)
            game.options["seats"] = keys.at("seats");
        game.seats = static_cast<int>(number_of(keys, "seats", 0));
        game.you = static_cast<int>(number_of(keys, "you", 0));
        game.time_ms = number_of(keys, "time", -1);
        game.inc_ms = number_of(keys, "inc", 0);
        game.move_ms = number_of(keys, "move", -1);
        game.wall = keys.count("clock") && keys.at("clock") == "wall";
        game.seed = keys.count("seed") ? std::stoull(keys.at("seed")) : 0;
        return game;
    }

    static Position read_turn(const Game& game, const std::vector<std::string>& words) {
        const auto moves = std::find(words.begin(), words.end(), "moves");
        const Keys keys = keys_in({words.begin(), moves});
        Position position;
        position.game = game;
        position.ply = std::stoi(words.at(0));
        for (auto word = moves; word != words.end(); ++word) {
            const std::size_t colon = word->find(':');
            if (colon != std::string::npos)
                position.moves.emplace_back(std::stoi(*word), word->substr(colon + 1));
        }
        for (const std::string& clock : split(keys.at("clocks"), ','))
            position.clocks_ms.push_back(std::stol(clock));
        if (keys.count("out"))
            for (const std::string& gone : split(keys.at("out"), ','))
                position.out.emplace_back(std::stoi(gone),
                                          std::stoi(gone.substr(gone.find('@') + 1)));
        return position;
    }

    static End read_end(const std::vector<std::string>& words) {
        const Keys keys = keys_in(words);
        End end;
        for (const std::string& rank : split(keys.at("ranks"), ','))
            end.ranks.push_back(std::stoi(rank));
        for (const std::string& score : split(keys.at("scores"), ','))
            end.scores.push_back(std::stod(score));
        end.cause = keys.at("cause");
        return end;
    }
};

} // namespace arena

#endif
