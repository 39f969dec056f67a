// Plays Oxono.
//
// Alpha-beta search with iterative deepening, a table of positions, and moves first that settled
// others (killer moves and history). A position is searched with the narrowest window until it
// proves better than the best (principal variation search; Marsland, 1983). A row that can be
// completed at once ends the search of a line; where it stops looking it counts the rows of four
// that each colour has pieces in and the other has none.
//
// By its option `nodes` it looks at no clock but at so many nodes, and plays the same game from the
// same seed on every machine.

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "arena_bot.hpp"

namespace {

using Squares = std::uint64_t;

constexpr int side = 6, all = side * side, hand = 8;
constexpr Squares board = (Squares{1} << all) - 1;
constexpr int win = 10'000;
constexpr std::array<int, 5> worth{0, 1, 4, 9, 0};  // of a row with so many pieces of one colour

constexpr Squares bit(int square) { return Squares{1} << square; }

int lowest(Squares squares) { return std::countr_zero(squares); }

// How far neighbours of a rank and of a file are apart, and where rows of four begin there.
struct Direction {
    int step;
    Squares begin;
};

constexpr Squares first_files() {
    Squares found = 0;
    for (int square = 0; square < all; ++square)
        if (square % side < 3) found |= bit(square);
    return found;
}

constexpr std::array<Direction, 2> directions{
    Direction{1, first_files()}, Direction{side, (Squares{1} << 3 * side) - 1}};

// For each square the rays of squares right of, left of, above and below it, the nearest first.
struct Rays {
    std::array<std::array<std::array<int, side>, 4>, all> rays{};  // each ends with -1
    std::array<Squares, all> near{};

    Rays() {
        for (int square = 0; square < all; ++square)
            for (int way = 0; way < 4; ++way) {
                const int across = way == 0 ? 1 : way == 1 ? -1 : 0;
                const int up = way == 2 ? 1 : way == 3 ? -1 : 0;
                int file = square % side + across, rank = square / side + up, count = 0;
                for (; file >= 0 && file < side && rank >= 0 && rank < side;
                     file += across, rank += up)
                    rays[square][way][count++] = rank * side + file;
                rays[square][way][count] = -1;
                if (count) near[square] |= bit(rays[square][way][0]);
            }
    }
};

const Rays rays;

// The free squares where another piece makes a row of four.
Squares completing(Squares pieces, Squares free) {
    Squares found = 0;
    for (const auto& [step, begin] : directions) {
        const Squares one = pieces & begin, two = pieces >> step & begin;
        const Squares three = pieces >> 2 * step & begin, four = pieces >> 3 * step & begin;
        found |= (two & three & four) | (one & three & four) << step |
            (one & two & four) << 2 * step | (one & two & three) << 3 * step;
    }
    return found & free;
}

// What the rows are worth that hold no piece of the other colour.
int rows(Squares pieces, Squares others) {
    int found = 0;
    const Squares open = board & ~others;
    for (const auto& [step, begin] : directions) {
        const Squares row = open & open >> step & open >> 2 * step & open >> 3 * step & begin;
        const Squares one = pieces, two = pieces >> step, three = pieces >> 2 * step,
                      four = pieces >> 3 * step;
        // The number of pieces in each row, in binary.
        const Squares odd = one ^ two ^ three ^ four;
        const Squares more = (one & two) ^ (three & four) ^ ((one ^ two) & (three ^ four));
        found += worth[1] * std::popcount(row & odd & ~more) +
            worth[2] * std::popcount(row & more & ~odd) +
            worth[3] * std::popcount(row & odd & more);
    }
    return found;
}

struct Move {
    std::int8_t symbol = -1, to = 0, put = 0;  // X is 0, O is 1

    bool operator==(const Move&) const = default;
    int code() const { return (symbol * all + to) * all + put; }
};

std::string name(int square) {
    return static_cast<char>('a' + square % side) + std::to_string(square / side + 1);
}

std::string word(Move move) { return "XO"[move.symbol] + name(move.to) + name(move.put); }

struct Board {
    Squares own = 0, other = 0;  // of the seat to move, and of the other
    std::array<Squares, 2> symbols{};
    std::array<int, 2> totems{};
    bool is_won = false;  // by the other

    explicit Board(const arena::Keys& options) {
        const bool crossed = options.at("totems") == "xd3";
        const int c4 = 3 * side + 2, d3 = 2 * side + 3;
        totems = {crossed ? d3 : c4, crossed ? c4 : d3};
    }

    bool over() const { return is_won || std::popcount(own | other) == 4 * hand; }

    bool holds(int symbol) const { return std::popcount(own & symbols[symbol]) < hand; }

    // Where a totem may go; for each square where the piece may then be put.
    template <class Take> void landings(int symbol, Take take) const {
        const int totem = totems[symbol];
        const Squares free = board & ~(own | other | bit(totems[1 - symbol]));  // its own is free
        const auto land = [&](int to) {
            const Squares puts = rays.near[to] & free;
            take(to, puts ? puts : free & ~bit(to));
        };
        if (rays.near[totem] & free) {
            for (const auto& ray : rays.rays[totem])
                for (int place = 0; ray[place] >= 0 && (free & bit(ray[place])); ++place)
                    land(ray[place]);
            return;
        }
        bool has_jump = false;
        for (const auto& ray : rays.rays[totem])
            for (int place = 0; ray[place] >= 0; ++place)
                if (free & bit(ray[place])) {
                    land(ray[place]);
                    has_jump = true;
                    break;
                }
        if (has_jump) return;
        for (Squares left = free & ~bit(totem); left; left &= left - 1) land(lowest(left));
    }

    void moves(std::vector<Move>& found) const {
        found.clear();
        if (over()) return;
        for (int symbol = 0; symbol < 2; ++symbol)
            if (holds(symbol)) landings(symbol, [&](int to, Squares puts) {
                for (; puts; puts &= puts - 1)
                    found.push_back({static_cast<std::int8_t>(symbol),
                                     static_cast<std::int8_t>(to),
                                     static_cast<std::int8_t>(lowest(puts))});
            });
    }

    // Where a piece of a symbol would complete a row.
    Squares wins(int symbol) const {
        const Squares free = board & ~(own | other);
        return completing(own, free | bit(totems[symbol])) |
            completing(symbols[symbol], free | bit(totems[symbol]));
    }

    // A move that wins at once, if there is one.
    bool winning(Move& found) const {
        for (int symbol = 0; symbol < 2; ++symbol) {
            if (!holds(symbol)) continue;
            const Squares good = wins(symbol);
            if (!good) continue;
            bool wins = false;
            landings(symbol, [&](int to, Squares puts) {
                if (!(puts & good)) return;
                wins = true;
                found = {static_cast<std::int8_t>(symbol), static_cast<std::int8_t>(to),
                         static_cast<std::int8_t>(lowest(puts & good))};
            });
            if (wins) return true;
        }
        return false;
    }

    Board after(Move move) const {
        Board next = *this;
        next.is_won = wins(move.symbol) & bit(move.put);
        next.own = other;
        next.other = own | bit(move.put);
        next.symbols[move.symbol] |= bit(move.put);
        next.totems[move.symbol] = move.to;
        return next;
    }

    int guess() const { return rows(own, other) - rows(other, own); }

    std::uint64_t hash() const {
        std::uint64_t mixed = 0;
        for (const std::uint64_t part : {own, other, symbols[0],
                 static_cast<std::uint64_t>(totems[0] * all + totems[1])}) {
            mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
            mixed ^= mixed >> 29;
        }
        return mixed;
    }

    std::vector<std::string> legal() const {
        std::vector<Move> found;
        moves(found);
        std::vector<std::string> words;
        for (const Move move : found) words.push_back(word(move));
        return words;
    }

    void play(const std::string& text) {
        const auto square = [&](std::size_t place) {
            return (text[place + 1] - '1') * side + text[place] - 'a';
        };
        *this = after({static_cast<std::int8_t>(text[0] == 'X' ? 0 : 1),
                       static_cast<std::int8_t>(square(1)), static_cast<std::int8_t>(square(3))});
    }
};

struct TimeUp {};

enum class Bound : std::uint8_t { none, low, high, exact };

struct Entry {
    std::uint64_t hash = 0;
    std::int16_t value = 0;
    std::int8_t depth = 0;
    Bound bound = Bound::none;
    Move best;
};

class Oxono : public arena::Bot {
public:
    Oxono() : table_(std::size_t{1} << 20) { declare("nodes", "int 0 1000000000 0"); }

    void new_game(const arena::Game& game) override {
        if (game.name != "oxono")
            throw std::runtime_error("this bot plays Oxono and not " + game.name);
        nodes_told_ = std::stol(option("nodes"));
        std::fill(table_.begin(), table_.end(), Entry());
    }

    std::string choose(const arena::Position& position) override {
        Board start(position.game.options);
        for (const auto& [seat, move] : position.moves) start.play(move);
        position_ = &position;
        limit_ = position.budget();
        nodes_ = 0;
        history_.fill(0);
        killers_.fill({});
        std::vector<Move> moves;
        start.moves(moves);
        Move best = moves[roll(moves.size())];
        int value = 0, depth = 0;
        const int left = 4 * hand - std::popcount(start.own | start.other);
        try {
            while (depth < left && std::abs(value) < win - 100) {
                value = search(start, depth + 1, 0, -win, win, &best);
                ++depth;
            }
        } catch (TimeUp&) {
        }
        number("nodes", static_cast<double>(nodes_));
        const double share = value > win - 100 ? 1 : value < 100 - win ? 0 :
            0.5 + std::clamp(value / 200.0, -0.49, 0.49);
        expect(share, {word(best)}, depth);
        return word(best);
    }

private:
    long nodes_told_ = 0;  // by its option; by the clock if it is 0
    std::vector<Entry> table_;
    std::array<int, 2 * all * all> history_{};
    std::array<Move, 64> killers_{};
    const arena::Position* position_ = nullptr;
    double limit_ = 0;
    long nodes_ = 0;

    // The value for the seat to move, exact only between `low` and `high`.
    int search(const Board& at, int depth, int ply, int low, int high, Move* chosen) {
        ++nodes_;
        if (nodes_told_ ? nodes_ > nodes_told_ : nodes_ % 1024 == 0 && position_->used() > limit_)
            throw TimeUp();
        if (at.is_won) return ply - win;
        if (at.over()) return 0;
        Move winning;
        if (at.winning(winning)) {
            if (chosen) *chosen = winning;
            return win - ply - 1;
        }
        if (depth <= 0) return at.guess();
        const std::uint64_t hash = at.hash();
        Entry& entry = table_[hash & (table_.size() - 1)];
        Move first;
        if (entry.bound != Bound::none && entry.hash == hash) {
            first = entry.best;
            // What is known to be won or lost is so however far one looks.
            if (!chosen && entry.depth >= depth) {
                const int value = entry.value > win / 2 ? entry.value - ply :
                    entry.value < -win / 2 ? entry.value + ply : entry.value;
                if (entry.bound == Bound::exact || (entry.bound == Bound::low && value >= high) ||
                    (entry.bound == Bound::high && value <= low))
                    return value;
            }
        }
        if (chosen) first = *chosen;
        std::vector<Move> moves;
        at.moves(moves);
        std::vector<std::pair<int, Move>> ordered;
        ordered.reserve(moves.size());
        for (const Move move : moves)
            ordered.emplace_back(move == first ? 1 << 30 : move == killers_[ply] ? 1 << 29 :
                                     history_[move.code()], move);
        std::stable_sort(ordered.begin(), ordered.end(),
                         [](const auto& one, const auto& two) { return one.first > two.first; });
        int best = -win, floor = low;
        Move choice = ordered[0].second;
        for (std::size_t number = 0; number < ordered.size(); ++number) {
            const Move move = ordered[number].second;
            const Board next = at.after(move);
            const int narrow = number ? -floor - 1 : -high;
            int value = -search(next, depth - 1, ply + 1, narrow, -floor, nullptr);
            if (number && value > floor && value < high)
                value = -search(next, depth - 1, ply + 1, -high, -floor, nullptr);
            if (value > best) {
                best = value;
                choice = move;
                // Also when time runs out later: the first move was the best one so far.
                if (chosen) *chosen = move;
            }
            floor = std::max(floor, best);
            if (floor >= high) {
                killers_[ply] = move;
                history_[move.code()] += depth * depth;
                break;
            }
        }
        const int kept = best > win / 2 ? best + ply : best < -win / 2 ? best - ply : best;
        table_[hash & (table_.size() - 1)] = {
            hash, static_cast<std::int16_t>(kept), static_cast<std::int8_t>(depth),
            best <= low ? Bound::high : best >= high ? Bound::low : Bound::exact, choice};
        return best;
    }
};

}  // namespace

int main() {
    Oxono().run("oxono-cpp", "");
    return 0;
}
