// Plays the Siege of Paris, with two seats or three and with all its options.
//
// Alpha-beta search with iterative deepening, a table of positions, and moves first that settled
// others (killer moves and history); forced replies cost no depth. White and Black search as one.
// Where it stops looking, a position is worth what the engine's outlook says: how near a team of
// attackers is to the fortress, how many were taken, and how near Yellow's hunters are to a prey;
// to Yellow at its turn also what it says after a capture at hand.
//
// By its option `nodes` it looks at no clock but at so many nodes, and plays the same game from the
// same seed on every machine.

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "arena_bot.hpp"

namespace {

constexpr int files = 12, ranks = 16, pitch = 13, places = pitch * ranks;
constexpr int pieces = 44, first_white = 8, first_black = 26;
constexpr int quiet_plies = 100, max_plies = 2000;
constexpr int win = 1'000'000, to_spare = 6, far_off = 8;

enum Army { yellow, white, black };
enum Kind { general, colonel, captain, lieutenant, soldier };
enum Turn { y1, w, y2, b, setup };
constexpr std::array<Army, 5> army_at{yellow, white, yellow, black, yellow};

constexpr std::string_view cell_names = "d9f9g9i9d8f8g8i8";
constexpr std::string_view segments = "d9f9f9g9g9i9d8f8f8g8g8i8d8d9f8f9g8g9i8i9";
constexpr std::string_view gates = "c9d9c8d8i9j9i8j8";
constexpr std::string_view letters = "GCKLS";
constexpr std::array<std::string_view, 5> white_setup{
    "f1", "h1", "d1j1", "b1l1", "a2c2e2g2i2k2b3d3f3h3j3l3"};

int place_of(std::string_view name) {
    int rank = 0;
    for (const char digit : name.substr(1)) rank = 10 * rank + digit - '0';
    return (rank - 1) * pitch + name[0] - 'a';
}

std::string name_of(int place) {
    return static_cast<char>('a' + place % pitch) + std::to_string(place / pitch + 1);
}

constexpr bool orthogonal(Kind kind) {
    return kind == general || kind == colonel || kind == captain;
}
constexpr bool diagonal(Kind kind) {
    return kind == general || kind == lieutenant || kind == soldier;
}
constexpr int reach(Kind kind) {
    return kind == general ? 3 : kind == colonel || kind == lieutenant ? 2 : 1;
}

// The board: where each step leads, and what is where at the beginning.
struct Map {
    std::array<bool, places> outside{}, inside{};
    std::array<std::array<int, 8>, places> step{};   // to the next square, or -1; diagonals last
    std::array<std::vector<int>, places> by_segment, by_gate;
    std::array<std::array<std::uint8_t, places>, places> steps{};  // between squares, by any
    std::array<std::array<int, places>, 3> to_enter{};  // steps; for ranks upwards, downwards, any
    std::array<Kind, pieces> kind{};
    std::array<Army, pieces> army{};
    std::array<int, pieces> start{};
    std::array<std::array<std::uint64_t, places>, 15> signs{};
    std::array<std::uint64_t, 10> signs_of_turn{};

    static constexpr std::array<std::array<int, 2>, 8> ways{
        {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

    Map() {
        for (int place = 0; place < places; ++place) {
            const int file = place % pitch, rank = place / pitch + 1;
            outside[place] = file < files && !(file >= 3 && file <= 8 && rank >= 6 && rank <= 11);
        }
        for (std::size_t at = 0; at < cell_names.size(); at += 2)
            inside[place_of(cell_names.substr(at, 2))] = true;
        for (int place = 0; place < places; ++place)
            for (int way = 0; way < 8; ++way) {
                const int file = place % pitch + ways[way][0], rank = place / pitch + ways[way][1];
                const int to = rank * pitch + file;
                const bool is_there = file >= 0 && file < files && rank >= 0 && rank < ranks &&
                    outside[place] && outside[to];
                step[place][way] = is_there ? to : -1;
            }
        link(segments, by_segment);
        link(gates, by_gate);
        for (auto& row : steps) row.fill(far_off + 1);
        for (int place = 0; place < places; ++place)
            if (outside[place]) measure(place);
        enter();
        std::mt19937_64 dice(1);
        for (auto& row : signs)
            for (auto& sign : row) sign = dice();
        for (auto& sign : signs_of_turn) sign = dice();
        for (int piece = 0; piece < first_white; ++piece) {
            army[piece] = yellow;
            kind[piece] = piece == 0 ? general : piece == 1 ? colonel : soldier;
            start[piece] = -1;
        }
        int piece = first_white;
        for (int its = general; its <= soldier; ++its)
            for (std::size_t at = 0; at < white_setup[its].size(); at += 2, ++piece) {
                const int place = place_of(white_setup[its].substr(at, 2));
                const int mirrored = piece - first_white + first_black;
                kind[piece] = kind[mirrored] = static_cast<Kind>(its);
                army[piece] = white;
                army[mirrored] = black;
                start[piece] = place;
                start[mirrored] = (ranks - 1 - place / pitch) * pitch + place % pitch;
            }
    }

private:
    static void link(std::string_view joined, std::array<std::vector<int>, places>& links) {
        for (std::size_t at = 0; at < joined.size(); at += 4) {
            const int one = place_of(joined.substr(at, 2));
            const int other = place_of(joined.substr(at + 2, 2));
            links[one].push_back(other);
            links[other].push_back(one);
        }
    }

    void measure(int from) {
        std::vector<int> found{from};
        steps[from][from] = 0;
        for (std::size_t next = 0; next < found.size(); ++next)
            for (const int to : step[found[next]])
                if (to >= 0 && steps[from][to] > far_off && steps[from][found[next]] < far_off) {
                    steps[from][to] = static_cast<std::uint8_t>(steps[from][found[next]] + 1);
                    found.push_back(to);
                }
    }

    // Who may not go back and has passed the gates comes in no more.
    void enter() {
        for (int heading = 0; heading < 3; ++heading) {
            to_enter[heading].fill(far_off + 1);
            std::vector<int> found;
            for (const char* name : {"c8", "c9", "j8", "j9"}) {
                found.push_back(place_of(name));
                to_enter[heading][found.back()] = 1;
            }
            for (std::size_t next = 0; next < found.size(); ++next)
                for (const int to : step[found[next]]) {
                    if (to < 0 || to_enter[heading][to] <= far_off) continue;
                    const int rank = to / pitch + 1;
                    if ((heading == 0 && rank > 9) || (heading == 1 && rank < 8)) continue;
                    if (to_enter[heading][found[next]] >= far_off) continue;
                    to_enter[heading][to] = to_enter[heading][found[next]] + 1;
                    found.push_back(to);
                }
        }
    }
};

const Map map;

struct Rules {
    int seats, soldiers;
    bool is_placed, able_only, demands, retreat;

    explicit Rules(const arena::Keys& options)
        : seats(std::stoi(options.at("seats"))), soldiers(std::stoi(options.at("soldiers"))),
          is_placed(options.at("setup") == "free"), able_only(options.at("protection") == "able"),
          demands(options.at("demand") == "yes"), retreat(options.at("retreat") == "yes") {}

    int heading(Army army) const { return retreat ? 0 : army == white ? 1 : -1; }
};

struct Move {
    std::uint8_t from = 0, to = 0;
    bool demand = false;

    bool operator==(const Move&) const = default;
};

enum class Ending : std::uint8_t { none, attackers, draw, yellow };

using History = std::vector<std::uint64_t>;  // what stood since the last capture

// What stands on the board, and whose turn it is.
struct Stand {
    std::array<std::int8_t, places> cells;  // a piece's number, or -1
    std::array<std::int16_t, pieces> where;
    Turn turn = setup;
    bool demanded = false;
    bool captured = false;  // by the move that led here
    int quiet = 0, plies = 0;
    std::uint64_t hash = 0;

    Stand() {
        cells.fill(-1);
        where.fill(-1);
        for (int piece = first_white; piece < pieces; ++piece) put(piece, map.start[piece]);
    }

    std::uint64_t key() const { return hash ^ map.signs_of_turn[2 * turn + demanded]; }

    void put(int piece, int place) {
        cells[place] = static_cast<std::int8_t>(piece);
        where[piece] = static_cast<std::int16_t>(place);
        hash ^= sign(piece, place);
    }

    void take(int piece) {
        hash ^= sign(piece, where[piece]);
        cells[where[piece]] = -1;
        where[piece] = -1;
    }

    bool is_attacker(int place) const { return cells[place] >= first_white; }

    // The moves of White or Black, demands apart; `take` says whether to stop.
    template <class Take> bool attackers_moves(const Rules& rules, Army army, Take take) const {
        const int heading = rules.heading(army), first = army == white ? first_white : first_black;
        for (int piece = first; piece < first + 18; ++piece) {
            const int from = where[piece];
            if (from < 0) continue;
            const Kind kind = map.kind[piece];
            if (map.outside[from])
                for (int way = orthogonal(kind) ? 0 : 4; way < (diagonal(kind) ? 8 : 4); ++way) {
                    if (Map::ways[way][1] * heading < 0) continue;
                    int to = from;
                    for (int far = 0; far < reach(kind); ++far) {
                        to = map.step[to][way];
                        if (to < 0 || cells[to] >= 0) break;
                        if (take(from, to)) return true;
                    }
                }
            for (const auto* links : {&map.by_segment[from], &map.by_gate[from]})
                for (const int to : *links)
                    if (cells[to] < 0 && take(from, to)) return true;
        }
        return false;
    }

    template <class Take> bool captures(const Rules& rules, Take take) const {
        for (int piece = 0; piece < first_white; ++piece) {
            const int from = where[piece];
            if (!map.outside[from]) continue;
            const Kind kind = map.kind[piece];
            for (int way = orthogonal(kind) ? 0 : 4; way < (diagonal(kind) ? 8 : 4); ++way) {
                const int to = map.step[from][way];
                if (to < 0 || !is_attacker(to)) continue;
                const int behind = map.step[to][way];
                if (behind >= 0 && is_attacker(behind)) {
                    const Kind guard = map.kind[cells[behind]];
                    if (!rules.able_only || (way < 4 ? orthogonal(guard) : diagonal(guard)))
                        continue;
                }
                if (take(from, to)) return true;
            }
        }
        return false;
    }

    template <class Take> bool yellow_moves(const Rules& rules, Take take) const {
        bool has_outside = false, is_shut = true;
        std::array<int, 2> soldiers{};  // outside, on light squares and on dark ones
        for (int piece = 0; piece < first_white; ++piece) {
            const int from = where[piece];
            if (!map.outside[from]) continue;
            has_outside = true;
            const Kind kind = map.kind[piece];
            if (kind == soldier) ++soldiers[shade(from)];
            for (int way = orthogonal(kind) ? 0 : 4; way < (diagonal(kind) ? 8 : 4); ++way) {
                const int to = map.step[from][way];
                if (to < 0 || cells[to] >= 0) continue;
                is_shut = false;
                if (take(from, to)) return true;
            }
            for (const int to : map.by_gate[from]) {
                if (cells[to] >= 0) continue;
                is_shut = false;
                if (take(from, to)) return true;
            }
        }
        const bool stopped = captures(rules, [&](int from, int to) {
            is_shut = false;
            return take(from, to);
        });
        if (stopped) return true;
        for (int piece = 0; piece < first_white; ++piece) {
            const int from = where[piece];
            if (!map.inside[from]) continue;
            if (!has_outside || !is_shut)
                for (const int to : map.by_segment[from])
                    if (cells[to] < 0 && take(from, to)) return true;
            for (const int to : map.by_gate[from]) {
                if (cells[to] >= 0) continue;
                if (map.kind[piece] == soldier && soldiers[shade(to)] >= 3) continue;
                if (take(from, to)) return true;
            }
        }
        return false;
    }

    // All moves of whoever has the turn, demands apart.
    template <class Take> bool moves(const Rules& rules, Take take) const {
        const Army army = army_at[turn];
        if (army != yellow) return attackers_moves(rules, army, take);
        return demanded ? captures(rules, take) : yellow_moves(rules, take);
    }

    bool can_move(const Rules& rules) const {
        return moves(rules, [](int, int) { return true; });
    }

    Stand after(const Rules& rules, Move move) const {
        Stand next = *this;
        const int piece = cells[move.from];
        next.captured = next.cells[move.to] >= 0;
        if (next.captured) next.take(next.cells[move.to]);
        next.take(piece);
        next.put(piece, move.to);
        const bool progress = next.captured || brings_on(map.army[piece], move.from, move.to);
        next.quiet = progress ? 0 : quiet + 1;
        next.plies = plies + 1;
        next.demanded = move.demand;
        next.turn = following(turn);
        if (army_at[turn] == yellow && !next.can_move(rules)) next.turn = following(next.turn);
        return next;
    }

    Stand placed(const std::string& placing) const {
        Stand next = *this;
        int soldiers = 2;
        for (int cell = 0; cell < 8; ++cell) {
            const char letter = placing[cell + 1];
            next.put(letter == 'G' ? 0 : letter == 'C' ? 1 : soldiers++,
                     place_of(cell_names.substr(2 * cell, 2)));
        }
        next.turn = y1;
        return next;
    }

    // How the game has ended here, after what is in the history; what stands here is none of that.
    Ending ending(const Rules& rules, const History& history) const {
        int soldiers_in = 0, officers_in = 0, soldiers_left = 0, left = 0;
        for (int piece = first_white; piece < pieces; ++piece) {
            if (where[piece] < 0) continue;
            const bool is_soldier = map.kind[piece] == soldier;
            ++left;
            soldiers_left += is_soldier;
            if (map.inside[where[piece]]) ++(is_soldier ? soldiers_in : officers_in);
        }
        if (soldiers_in >= rules.soldiers && officers_in) return Ending::attackers;
        if (army_at[turn] == yellow && !can_move(rules)) return Ending::attackers;
        if (left <= to_spare && !soldiers_left)
            return soldiers_in + officers_in ? Ending::draw : Ending::yellow;
        if (std::count(history.begin(), history.end(), key()) >= 2) return Ending::draw;
        return plies >= max_plies || quiet >= quiet_plies ? Ending::draw : Ending::none;
    }

    // What Yellow may hope for, from about -10,000 to 10,000.
    int guess(const Rules& rules) const {
        const int team = rules.soldiers + 1;
        std::array<int, far_off + 2> soldiers{}, officers{};  // by the steps to the fortress
        int soldiers_left = 0, officers_left = 0;
        for (int piece = first_white; piece < pieces; ++piece) {
            const int place = where[piece];
            if (place < 0) continue;
            const int heading = rules.retreat ? 2 : piece < first_black ? 0 : 1;
            const int steps = map.inside[place] ? 0 : map.to_enter[heading][place];
            const bool is_soldier = map.kind[piece] == soldier;
            ++(is_soldier ? soldiers_left : officers_left);
            ++(is_soldier ? soldiers : officers)[steps];
        }
        const int entered = std::min(rules.soldiers, soldiers[0]) + (officers[0] > 0);
        int missing = 0, near_soldiers = soldiers[0], near_officers = officers[0];
        for (int steps = 1; steps <= far_off; ++steps) {
            near_soldiers += soldiers[steps];
            near_officers += officers[steps];
            missing += team - std::min(rules.soldiers, near_soldiers) - (near_officers > 0);
        }
        int hunters = 0, idle = 0;
        for (int piece = 0; piece < first_white; ++piece) {
            if (!map.outside[where[piece]]) continue;
            ++hunters;
            int nearest = far_off + 1;
            for (int prey = first_white; prey < pieces; ++prey)
                if (where[prey] >= 0)
                    nearest = std::min<int>(nearest, map.steps[where[piece]][where[prey]]);
            idle += nearest - 1;
        }
        const int prey = soldiers_left + std::max(0, officers_left - to_spare);
        const double share = 0.5 * (1 - prey / 30.0) -
            0.05 * (hunters ? idle / (1.0 * far_off * hunters) : 1.0) - 0.3 * entered / team -
            0.15 * (1 - missing / (1.0 * team * far_off));
        return static_cast<int>(20'000 * share);
    }

    static Turn following(Turn turn) { return static_cast<Turn>((turn + 1) % 4); }

private:
    static std::uint64_t sign(int piece, int place) {
        return map.signs[5 * map.army[piece] + map.kind[piece]][place];
    }

    static int shade(int place) { return (place % pitch + place / pitch) % 2; }

    static bool brings_on(Army army, int from, int to) {
        if (army == yellow || map.inside[from] || map.inside[to]) return false;
        const int before = from / pitch + 1, then = to / pitch + 1;
        return army == white ? before < then && then <= 8 : before > then && then >= 9;
    }
};

// A game: what stands, and what stood.
class Board {
public:
    Rules rules;
    Stand stand;
    History history;  // without what stands now
    Ending ending = Ending::none;

    explicit Board(const arena::Keys& options) : rules(options) {
        if (!rules.is_placed) reach(stand.placed("=GSSSSSSC"), false);
    }

    std::vector<std::string> legal() const {
        std::vector<std::string> words;
        if (ending != Ending::none) return words;
        if (stand.turn == setup) {
            for (int one = 0; one < 8; ++one)
                for (int other = 0; other < 8; ++other) {
                    std::string word = "=SSSSSSSS";
                    word[one + 1] = 'G';
                    word[other + 1] = 'C';
                    if (one != other) words.push_back(word);
                }
            return words;
        }
        for (const Move move : moves()) words.push_back(word(move));
        return words;
    }

    std::vector<Move> moves() const {
        std::vector<Move> found;
        all_moves(rules, stand, history, found);
        return found;
    }

    static std::string word(Move move) {
        return name_of(move.from) + name_of(move.to) + (move.demand ? "!" : "");
    }

    void play(const std::string& word) {
        if (stand.turn == setup) {
            Stand next = stand.placed(word);
            next.plies = 1;
            reach(next, false);
            return;
        }
        const std::size_t second = word.find_first_not_of("0123456789", 1);
        Move move;
        move.from = static_cast<std::uint8_t>(place_of(word.substr(0, second)));
        move.demand = word.back() == '!';
        move.to = static_cast<std::uint8_t>(
            place_of(word.substr(second, word.size() - second - move.demand)));
        reach(stand.after(rules, move), true);
    }

    // The moves at hand, of the attackers' those first that demand nothing.
    static void all_moves(const Rules& rules, const Stand& stand, History& history,
                          std::vector<Move>& found) {
        found.clear();
        stand.moves(rules, [&](int from, int to) {
            found.push_back({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to)});
            return false;
        });
        if (!rules.demands || army_at[stand.turn] == yellow) return;
        const std::size_t quiet_moves = found.size();
        history.push_back(stand.key());
        for (std::size_t number = 0; number < quiet_moves; ++number) {
            Move move = found[number];
            move.demand = true;
            const Stand next = stand.after(rules, move);
            // The first test is cheap and mostly says no; the second says the same and more.
            if (next.can_move(rules) && next.ending(rules, history) == Ending::none)
                found.push_back(move);
        }
        history.pop_back();
    }

    static void all_moves(const Rules& rules, const Stand& stand, const History& history,
                          std::vector<Move>& found) {
        History copy = history;
        all_moves(rules, stand, copy, found);
    }

private:
    void reach(const Stand& next, bool has_past) {
        if (next.captured) history.clear();
        else if (has_past) history.push_back(stand.key());
        stand = next;
        ending = stand.ending(rules, history);
    }
};

struct TimeUp {};

enum class Bound : std::uint8_t { none, low, high, exact };

struct Entry {
    std::uint64_t key = 0;
    int value = 0;
    std::int8_t depth = 0;
    Bound bound = Bound::none;
    Move best;
};

class Siege : public arena::Bot {
public:
    Siege() : table_(std::size_t{1} << 19) { declare("nodes", "int 0 1000000000 0"); }

    void new_game(const arena::Game& game) override {
        if (game.name != "siege")
            throw std::runtime_error("this bot plays the Siege and not " + game.name);
        nodes_told_ = std::stol(option("nodes"));
        std::fill(table_.begin(), table_.end(), Entry());
    }

    std::string choose(const arena::Position& position) override {
        Board board(position.game.options);
        for (const auto& [seat, move] : position.moves) board.play(move);
        if (board.stand.turn == setup) return "=GSSSSSSC";
        rules_ = board.rules;
        history_ = board.history;
        position_ = &position;
        limit_ = position.budget();
        nodes_ = 0;
        for (auto& row : past_) row.fill(0);
        killers_.fill({});
        std::vector<Move> moves = board.moves();
        Move best = moves[roll(moves.size())];
        int value = 0, depth = 0;
        const History history = history_;
        try {
            while (moves.size() > 1 && depth < 40 && std::abs(value) < win - 1000) {
                value = search(board.stand, depth + 1, 0, -win, win, &best);
                ++depth;
            }
        } catch (TimeUp&) {
            history_ = history;
        }
        number("nodes", static_cast<double>(nodes_));
        const std::string word = Board::word(best);
        expect(std::clamp(0.5 + value / 20'000.0, 0.0, 1.0), {word}, depth);
        return word;
    }

private:
    long nodes_told_ = 0;  // by its option; by the clock if it is 0
    std::vector<Entry> table_;
    std::array<std::array<int, places * places>, 2> past_{};
    std::array<Move, 128> killers_{};
    std::optional<Rules> rules_;
    History history_;
    const arena::Position* position_ = nullptr;
    double limit_ = 0;
    long nodes_ = 0;

    // The value for the side to move, exact only between `low` and `high`.
    int search(const Stand& at, int depth, int ply, int low, int high, Move* chosen) {
        ++nodes_;
        if (nodes_told_ ? nodes_ > nodes_told_ : nodes_ % 256 == 0 && position_->used() > limit_)
            throw TimeUp();
        const Rules& rules = *rules_;
        const bool is_yellow = army_at[at.turn] == yellow;
        if (!chosen) {
            const Ending ending = at.ending(rules, history_);
            if (ending == Ending::draw) return 0;
            if (ending != Ending::none)
                return (ending == Ending::yellow) == is_yellow ? win - ply : ply - win;
        }
        if ((depth <= 0 && !at.demanded) || ply > 100)
            return is_yellow ? after_captures(at, high) : -at.guess(rules);
        const std::uint64_t key = at.key();
        Entry& entry = table_[key & (table_.size() - 1)];
        std::optional<Move> first;
        if (entry.bound != Bound::none && entry.key == key) {
            first = entry.best;
            // Not what is won or lost: that depends on the plies before.
            if (!chosen && entry.depth >= depth && std::abs(entry.value) < win / 2 &&
                (entry.bound == Bound::exact ||
                 (entry.bound == Bound::low && entry.value >= high) ||
                 (entry.bound == Bound::high && entry.value <= low)))
                return entry.value;
        }
        if (chosen) first = *chosen;
        std::vector<Move> moves;
        Board::all_moves(rules, at, history_, moves);
        std::vector<std::pair<int, Move>> ordered;
        ordered.reserve(moves.size());
        const auto& past = past_[is_yellow];
        for (const Move move : moves)
            ordered.emplace_back(
                first && move == *first ? 1 << 30 : at.cells[move.to] >= 0 ? 1 << 29 :
                move == killers_[ply] ? 1 << 28 : past[move.from * places + move.to], move);
        std::stable_sort(ordered.begin(), ordered.end(),
                         [](const auto& one, const auto& two) { return one.first > two.first; });
        const int less = ordered.size() == 1 && depth > 0 ? 0 : 1;
        const std::size_t before = history_.size();
        int best = -win, floor = low;
        Move choice = ordered[0].second;
        for (const auto& [_, move] : ordered) {
            const Stand next = at.after(rules, move);
            History kept;
            if (next.captured) kept.swap(history_);
            else history_.push_back(key);
            const bool same_side = (army_at[next.turn] == yellow) == is_yellow;
            const int value = same_side
                ? search(next, depth - less, ply + 1, floor, high, nullptr)
                : -search(next, depth - less, ply + 1, -high, -floor, nullptr);
            if (next.captured) history_.swap(kept);
            else history_.resize(before);
            if (value > best) {
                best = value;
                choice = move;
                // Also when time runs out later: the first move was the best one so far.
                if (chosen) *chosen = move;
            }
            floor = std::max(floor, best);
            if (floor >= high) {
                killers_[ply] = move;
                past_[is_yellow][move.from * places + move.to] += depth * depth;
                break;
            }
        }
        table_[key & (table_.size() - 1)] = {
            key, best, static_cast<std::int8_t>(depth),
            best <= low ? Bound::high : best >= high ? Bound::low : Bound::exact, choice};
        return best;
    }

    // What a position is worth to Yellow, who may also take what stands unprotected.
    int after_captures(const Stand& at, int high) const {
        int best = at.guess(*rules_);
        at.captures(*rules_, [&](int from, int to) {
            const Move move{static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to)};
            best = std::max(best, at.after(*rules_, move).guess(*rules_));
            return best >= high;
        });
        return best;
    }
};

}  // namespace

int main() {
    Siege().run("siege-cpp", "");
    return 0;
}
