// Plays Blokus in all its modes.
//
// Monte Carlo tree search (UCT; Kocsis and Szepesvari, 2006) without random games: a round adds a
// position to the tree and credits every seat with how much better or worse its outlook is than
// that of today. The outlook is the engine's, the squares that a colour covers and those that its
// next piece could reach, but that these count for less (docs/samples.md). Moves are tried in the
// order of what they promise, the more the oftener their position was visited (progressive
// widening; Coulom, 2007). A set of squares is a set of bits, so that all places for a shape are
// found at once.
//
// By its option `nodes` it looks at no clock but at so many nodes, and plays the same game from the
// same seed on every machine.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "arena_bot.hpp"

namespace {

constexpr int side = 20, stride = side + 1, colours = 4, pieces = 21, monomino = 0;
constexpr double reached = 0.2, to_play = 0.1;  // what a square is worth that can be reached
constexpr double explore = 0.1, width = 0.4;
constexpr double spread = 5;      // how much a change of the outlook is stretched
constexpr std::size_t looked_at = 20, most_looked_at = 100;  // moves of a position at a time
constexpr std::size_t largest_tree = 8'000'000;  // moves in the nodes of a tree
constexpr int everything = 89;    // squares of a colour

constexpr std::array<std::string_view, colours> colour_names{"blue", "yellow", "red", "green"};
constexpr std::array<std::string_view, pieces> patterns{
    "X", "XX", "XXX", "XX/X.", "XXXX", "XXX/X..", "XX/XX", "XXX/.X.", "XX./.XX", ".XX/XX./.X.",
    "XXXXX", "XXXX/X...", "XX../.XXX", "XXX/XX.", "XXX/.X./.X.", "XXX/X.X", "XXX/X../X..",
    "XX./.XX/..X", ".X./XXX/.X.", "XXXX/.X..", "XX./.X./.XX"};

// Squares of the board; square (file, rank) is bit `file * stride + rank`. A bit between two files
// is no square.
struct Squares {
    static constexpr int words = 7;
    std::array<std::uint64_t, words> bits{};

    static Squares of(int bit) {
        Squares one;
        one.bits[bit / 64] = std::uint64_t{1} << bit % 64;
        return one;
    }
    bool any() const {
        std::uint64_t all = 0;
        for (const std::uint64_t word : bits) all |= word;
        return all;
    }
    bool has(int bit) const { return bits[bit / 64] >> bit % 64 & 1; }
    int count() const {
        int found = 0;
        for (const std::uint64_t word : bits) found += std::popcount(word);
        return found;
    }
    template <class Take> void each(Take take) const {
        for (int word = 0; word < words; ++word)
            for (std::uint64_t left = bits[word]; left; left &= left - 1)
                take(64 * word + std::countr_zero(left));
    }
    Squares& operator|=(const Squares& other) {
        for (int word = 0; word < words; ++word) bits[word] |= other.bits[word];
        return *this;
    }
    friend Squares operator|(Squares one, const Squares& other) { return one |= other; }
    friend Squares operator&(Squares one, const Squares& other) {
        for (int word = 0; word < words; ++word) one.bits[word] &= other.bits[word];
        return one;
    }
    friend Squares operator-(Squares one, const Squares& other) {
        for (int word = 0; word < words; ++word) one.bits[word] &= ~other.bits[word];
        return one;
    }
    friend Squares operator>>(const Squares& one, int by) {
        Squares found;
        const int whole = by / 64, part = by % 64;
        for (int word = 0; word + whole < words; ++word) {
            found.bits[word] = one.bits[word + whole] >> part;
            if (part && word + whole + 1 < words)
                found.bits[word] |= one.bits[word + whole + 1] << (64 - part);
        }
        return found;
    }
    friend Squares operator<<(const Squares& one, int by) {
        Squares found;
        const int whole = by / 64, part = by % 64;
        for (int word = words - 1; word >= whole; --word) {
            found.bits[word] = one.bits[word - whole] << part;
            if (part && word > whole)
                found.bits[word] |= one.bits[word - whole - 1] >> (64 - part);
        }
        return found;
    }
};

// The neighbours of some squares, in one pass: most of the time goes here.
Squares edges(const Squares& of) {
    Squares found;
    std::uint64_t before = 0, here = of.bits[0];
    for (int word = 0; word < Squares::words; ++word) {
        const std::uint64_t next = word + 1 < Squares::words ? of.bits[word + 1] : 0;
        found.bits[word] = here << 1 | before >> 63 | here >> 1 | next << 63 | here << stride |
            before >> (64 - stride) | here >> stride | next << (64 - stride);
        before = here;
        here = next;
    }
    return found;
}

Squares diagonals(const Squares& of) {
    const Squares beside = of << stride | of >> stride;
    return beside << 1 | beside >> 1;
}

// A piece in one orientation, its lowest square at bit 0. Each but the single square is another
// shape, its parent, and one square more: shapes are in the order of that tree.
struct Shape {
    int piece, size;
    Squares squares;
    std::vector<int> bits;
    int added = 0;       // the bit that its parent has not
    int beyond = 0;      // the next shape that is none of its descendants
    unsigned branch = 0; // the pieces of it and of its descendants
};

struct Geometry {
    std::vector<Shape> shapes;
    Squares full, corners;
    std::array<Squares, colours> own_corners;  // with corners=fixed

    Geometry() {
        for (int file = 0; file < side; ++file)
            for (int rank = 0; rank < side; ++rank) full |= Squares::of(file * stride + rank);
        const int last = side - 1;
        own_corners = {Squares::of(last), Squares::of(last * stride + last),
                       Squares::of(last * stride), Squares::of(0)};
        for (const Squares& corner : own_corners) corners |= corner;
        std::vector<Shape> all;
        for (int piece = 0; piece < pieces; ++piece) orient(piece, all);
        std::vector<int> parents(all.size(), -1);
        for (std::size_t child = 0; child < all.size(); ++child)
            for (int place = 1; place < all[child].size && parents[child] < 0; ++place) {
                std::vector<int> less = all[child].bits;
                less.erase(less.begin() + place);
                for (std::size_t other = 0; other < all.size(); ++other)
                    if (all[other].bits == less) {
                        parents[child] = static_cast<int>(other);
                        all[child].added = all[child].bits[place];
                    }
            }
        add(all, parents, 0);
    }

private:
    // Files and ranks of a piece, turned and mirrored in every way, each once.
    static void orient(int piece, std::vector<Shape>& all) {
        std::vector<std::array<int, 2>> cells;
        int x = 0, y = 0;
        for (const char sign : patterns[piece]) {
            if (sign == 'X') cells.push_back({x, y});
            ++x;
            if (sign == '/') ++y, x = 0;
        }
        for (int turn = 0; turn < 8; ++turn) {
            for (auto& cell : cells) cell = {cell[1], -cell[0]};
            if (turn == 4)
                for (auto& cell : cells) cell[0] = -cell[0];
            Shape shape{piece, static_cast<int>(cells.size()), {}, {}};
            for (const auto& cell : cells) shape.bits.push_back(cell[0] * stride + cell[1]);
            std::sort(shape.bits.begin(), shape.bits.end());
            const int lowest = shape.bits[0];
            for (int& bit : shape.bits) {
                bit -= lowest;
                shape.squares |= Squares::of(bit);
            }
            if (std::none_of(all.begin(), all.end(),
                             [&](const Shape& other) { return other.bits == shape.bits; }))
                all.push_back(shape);
        }
    }

    void add(const std::vector<Shape>& all, const std::vector<int>& parents, int which) {
        const std::size_t place = shapes.size();
        shapes.push_back(all[which]);
        unsigned branch = 1u << all[which].piece;
        for (std::size_t child = 0; child < all.size(); ++child)
            if (parents[child] == which) {
                const std::size_t its = shapes.size();
                add(all, parents, static_cast<int>(child));
                branch |= shapes[its].branch;
            }
        shapes[place].branch = branch;
        shapes[place].beyond = static_cast<int>(shapes.size());
    }
};

const Geometry the_board;

struct Move {
    std::int16_t shape = 0, anchor = 0;

    const Shape& its() const { return the_board.shapes[shape]; }
    Squares squares() const { return its().squares << anchor; }
};

struct Room {
    Squares inside, seeds;  // where a colour may place, and what a piece must cover some of
};

constexpr int nobody = -1;

struct Rules {
    int seats = 4;
    std::array<int, colours> owners{0, 1, 2, 3};
    std::vector<int> sides{0, 1, 2, 3};
    bool is_fixed;

    explicit Rules(const arena::Keys& options) : is_fixed(options.at("corners") == "fixed") {
        const std::string& mode = options.at("mode");
        if (mode == "teams") sides = {0, 1, 0, 1};
        if (mode == "duel") *this = Rules(2, {0, 1, 0, 1}, {0, 1}, is_fixed);
        if (mode == "trio") *this = Rules(3, {0, 1, 2, nobody}, {0, 1, 2}, is_fixed);
    }

    Rules(int its_seats, std::array<int, colours> its_owners, std::vector<int> its_sides,
          bool fixed)
        : seats(its_seats), owners(its_owners), sides(std::move(its_sides)), is_fixed(fixed) {}

    const Squares& start(int colour) const {
        return is_fixed ? the_board.own_corners[colour] : the_board.corners;
    }
};

Squares reach_in(const Squares& room, const Squares& seeds) {
    Squares reach = seeds;
    for (int step = 1; step < 5; ++step) reach |= edges(reach) & room;
    return reach;
}

struct State {
    std::array<Squares, colours> covered{};
    std::array<unsigned, colours> left;
    std::array<int, colours> last{nobody, nobody, nobody, nobody};
    std::vector<int> gone;  // seats that left
    int turn = 0;           // a colour, or nobody's when the game is over
    unsigned stuck = 0;     // colours that are out

    State() { left.fill((1u << pieces) - 1); }

    Room room(const Rules& rules, int colour) const {
        const Squares& own = covered[colour];
        Room found;
        found.inside = the_board.full - covered[0] - covered[1] - covered[2] - covered[3];
        found.inside = found.inside - edges(own);
        found.seeds = found.inside & (own.any() ? diagonals(own) : rules.start(colour));
        return found;
    }

    // The moves of a colour, shape by shape with their anchors; `take` says whether to stop.
    template <class Take> bool placements(int colour, const Room& room, Take take) const {
        if (!room.seeds.any()) return false;
        std::array<Squares, 6> fits, touches;
        fits[0] = room.inside;
        touches[0] = {};
        const int end = static_cast<int>(the_board.shapes.size());
        for (int number = 0; number < end;) {
            const Shape& shape = the_board.shapes[number];
            const int size = shape.size;
            if (!(left[colour] & shape.branch)) {
                number = shape.beyond;
                continue;
            }
            fits[size] = fits[size - 1] & room.inside >> shape.added;
            if (!fits[size].any()) {
                number = shape.beyond;
                continue;
            }
            touches[size] = touches[size - 1] | room.seeds >> shape.added;
            if (left[colour] >> shape.piece & 1) {
                const Squares anchors = fits[size] & touches[size];
                if (anchors.any() && take(number, anchors)) return true;
            }
            ++number;
        }
        return false;
    }

    bool is_out(int seat) const { return std::find(gone.begin(), gone.end(), seat) != gone.end(); }

    bool can_place(const Rules& rules, int colour) const {
        if (!gone.empty() && (is_out(rules.owners[colour]) ||
                              static_cast<int>(gone.size()) == rules.seats - 1))
            return false;
        const Room its = room(rules, colour);
        if (its.seeds.any() && left[colour] >> monomino & 1) return true;
        return placements(colour, its, [](int, const Squares&) { return true; });
    }

    // Gives the turn to a colour, or to the next one that is not out.
    void go_on(const Rules& rules, int colour) {
        for (int later = 0; later < colours; ++later) {
            turn = (colour + later) % colours;
            if (stuck >> turn & 1) continue;
            if (can_place(rules, turn)) return;
            stuck |= 1u << turn;
        }
        turn = nobody;
    }

    int seat(const Rules& rules) const {
        if (rules.owners[turn] != nobody) return rules.owners[turn];
        int its = (pieces - std::popcount(left[turn])) % rules.seats;
        while (is_out(its)) its = (its + 1) % rules.seats;
        return its;
    }

    State after(const Rules& rules, Move move) const {
        State next = *this;
        next.covered[turn] |= move.squares();
        next.left[turn] ^= 1u << move.its().piece;
        next.last[turn] = move.its().piece;
        next.go_on(rules, turn + 1);
        return next;
    }

    void moves(const Rules& rules, std::vector<Move>& found) const {
        found.clear();
        if (turn == nobody) return;
        placements(turn, room(rules, turn), [&](int shape, const Squares& anchors) {
            anchors.each([&](int anchor) {
                found.push_back(
                    {static_cast<std::int16_t>(shape), static_cast<std::int16_t>(anchor)});
            });
            return false;
        });
    }

    double worth_of_reach(int colour, int whose_turn) const {
        return stuck >> colour & 1 ? 0 : reached + (colour >= whose_turn ? to_play : 0);
    }

    // For each seat how far its side is ahead of the others, as a hope from 0 to 1.
    std::vector<double> outlook(const Rules& rules) const {
        std::array<double, colours> squares{};
        for (int colour = 0; colour < colours; ++colour) {
            if (rules.owners[colour] == nobody || is_out(rules.owners[colour])) continue;
            squares[colour] = covered[colour].count();
            const double worth = worth_of_reach(colour, std::max(turn, 0));
            if (worth > 0) {
                const Room its = room(rules, colour);
                squares[colour] += worth * reach_in(its.inside, its.seeds).count();
            }
        }
        return compare(rules, squares, [](double lead) {
            return std::clamp(0.5 + lead / (2 * everything), 0.0, 1.0);
        });
    }

    // For each seat what share of the other sides its side is ahead of, when the game is over.
    std::vector<double> result(const Rules& rules) const {
        std::array<double, colours> points{};
        for (int colour = 0; colour < colours; ++colour) {
            points[colour] = covered[colour].count() - everything;
            if (!left[colour]) points[colour] = last[colour] == monomino ? 20 : 15;
        }
        std::vector<double> of_side(4), gains(rules.seats);
        std::vector<bool> is_there(4);
        for (int colour = 0; colour < colours; ++colour) {
            const int owner = rules.owners[colour];
            if (owner == nobody) continue;
            const auto left_at = std::find(gone.begin(), gone.end(), owner) - gone.begin();
            of_side[rules.sides[owner]] +=
                is_out(owner) ? -1e6 + static_cast<double>(left_at) : points[colour];
            is_there[rules.sides[owner]] = true;
        }
        for (int seat = 0; seat < rules.seats; ++seat) {
            const double own = of_side[rules.sides[seat]];
            double beaten = 0, others = 0;
            for (int other = 0; other < 4; ++other)
                if (is_there[other] && other != rules.sides[seat]) {
                    beaten += own > of_side[other] ? 1 : own == of_side[other] ? 0.5 : 0;
                    ++others;
                }
            gains[seat] = beaten / others;
        }
        return gains;
    }

private:
    template <class Hope>
    std::vector<double> compare(const Rules& rules, const std::array<double, colours>& squares,
                                Hope hope) const {
        std::array<double, colours> sum{}, number{};
        for (int colour = 0; colour < colours; ++colour) {
            const int owner = rules.owners[colour];
            if (owner == nobody || is_out(owner)) continue;
            sum[rules.sides[owner]] += squares[colour];
            number[rules.sides[owner]] += 1;
        }
        double total = 0, sides = 0;
        for (int its = 0; its < colours; ++its)
            if (number[its] > 0) total += sum[its] / number[its], ++sides;
        std::vector<double> found(rules.seats);
        for (int seat = 0; seat < rules.seats; ++seat) {
            if (is_out(seat)) continue;
            const double mean = sum[rules.sides[seat]] / number[rules.sides[seat]];
            found[seat] = hope(mean - (total - mean) / std::max(1.0, sides - 1));
        }
        return found;
    }
};

std::string word(int colour, Move move) {
    std::string text = std::string(colour_names[colour]) + ":";
    for (const int bit : move.its().bits) {
        const int square = bit + move.anchor;
        if (text.back() != ':') text += ',';
        text += static_cast<char>('a' + square / stride) + std::to_string(square % stride + 1);
    }
    return text;
}

// A game as it is told.
class Board {
public:
    Rules rules;
    State state;

    explicit Board(const arena::Keys& options) : rules(options) {}

    std::vector<std::string> legal() const {
        std::vector<Move> found;
        state.moves(rules, found);
        std::vector<std::string> words;
        for (const Move move : found) words.push_back(word(state.turn, move));
        return words;
    }

    void play(const std::string& text) {
        std::istringstream squares(text.substr(text.find(':') + 1));
        std::vector<int> bits;
        for (std::string square; std::getline(squares, square, ',');)
            bits.push_back((square[0] - 'a') * stride + std::stoi(square.substr(1)) - 1);
        std::sort(bits.begin(), bits.end());
        const int anchor = bits[0];
        for (int& bit : bits) bit -= anchor;
        for (std::size_t shape = 0; shape < the_board.shapes.size(); ++shape)
            if (the_board.shapes[shape].bits == bits) {
                state = state.after(rules, {static_cast<std::int16_t>(shape),
                                            static_cast<std::int16_t>(anchor)});
                return;
            }
    }

    void retire(int seat) {
        if (state.turn == nobody || state.is_out(seat)) return;
        state.gone.push_back(seat);
        state.go_on(rules, state.turn);
    }
};

struct Node {
    State state;
    Move move;
    int seat = nobody;       // whose turn it is
    double visits = 0, gained = 0;  // rounds, and what they brought the seat that moved here
    bool is_known = false;   // whether its moves were listed
    std::vector<Move> untried;                   // not looked at
    std::vector<std::pair<float, Move>> liked;   // looked at, the best last
    std::vector<std::unique_ptr<Node>> children;
};

class Blokus : public arena::Bot {
public:
    Blokus() { declare("nodes", "int 0 1000000000 0"); }

    void new_game(const arena::Game& game) override {
        if (game.name != "blokus")
            throw std::runtime_error("this bot plays Blokus and not " + game.name);
        nodes_told_ = std::stol(option("nodes"));
        dice_.seed(game.seed);
    }

    std::string choose(const arena::Position& position) override {
        Board board(position.game.options);
        for (int ply = 0; ply <= position.ply; ++ply) {
            for (const auto& [seat, left] : position.out)
                if (left == ply) board.retire(seat - 1);
            if (ply < position.ply) board.play(position.moves[ply].second);
        }
        rules_ = std::make_unique<Rules>(board.rules);
        for (auto& its : promised_)
            its.assign(the_board.shapes.size() * stride * side, unknown);
        Node root;
        root.state = board.state;
        root.seat = board.state.seat(*rules_);
        now_ = board.state.outlook(*rules_);
        listed_ = 0;
        const double budget = position.budget();
        const auto go_on = [&](double part) {
            return nodes_told_ ? root.visits < static_cast<double>(nodes_told_)
                          : position.used() < part * budget;
        };
        list(root);
        const bool has_choice = root.untried.size() > 1;
        do {
            look(root);
        } while (!root.untried.empty() && go_on(0.3));
        do {
            round(root);
        } while (has_choice && listed_ < largest_tree && go_on(1));
        const Node* best = root.children[0].get();
        for (const auto& child : root.children)
            if (child->visits > best->visits) best = child.get();
        const std::string move = word(board.state.turn, best->move);
        number("nodes", root.visits);
        expect(std::clamp(best->gained / best->visits, 0.0, 1.0), {move});
        return move;
    }

private:
    static constexpr float unknown = 2;
    long nodes_told_ = 0;  // by its option; by the clock if it is 0
    std::mt19937_64 dice_;
    std::unique_ptr<Rules> rules_;
    std::array<std::vector<float>, colours> promised_;  // by each move where it was last looked at
    std::vector<double> now_;
    std::size_t listed_ = 0;

    static std::size_t code(Move move) {
        return static_cast<std::size_t>(move.shape) * stride * side + move.anchor;
    }

    void list(Node& node) {
        if (node.is_known) return;
        node.is_known = true;
        node.state.moves(*rules_, node.untried);
        listed_ += node.untried.size();
    }

    void round(Node& root) {
        std::vector<Node*> path{&root};
        while (path.back()->seat != nobody) {
            Node& node = *path.back();
            if (static_cast<double>(node.children.size()) <= width * std::sqrt(node.visits)) {
                list(node);
                if (node.liked.empty() && !node.untried.empty()) look(node);
                if (!node.liked.empty()) {
                    node.children.push_back(child(node));
                    path.push_back(node.children.back().get());
                    break;
                }
            }
            path.push_back(&most_promising(node));
        }
        const State& reached_state = path.back()->state;
        std::vector<double> gains;
        if (path.back()->seat == nobody) {
            gains = reached_state.result(*rules_);
        } else {
            gains = reached_state.outlook(*rules_);
            for (std::size_t seat = 0; seat < gains.size(); ++seat)
                gains[seat] = std::clamp(0.5 + spread * (gains[seat] - now_[seat]), 0.0, 1.0);
        }
        root.visits += 1;
        for (std::size_t place = 1; place < path.size(); ++place) {
            path[place]->visits += 1;
            path[place]->gained += gains[path[place - 1]->seat];
        }
    }

    Node& most_promising(Node& node) const {
        const double known = explore * explore * std::log(node.visits);
        Node* best = nullptr;
        double highest = -1;
        for (const auto& other : node.children) {
            const double promise = other->gained / other->visits + std::sqrt(known / other->visits);
            if (promise > highest) highest = promise, best = other.get();
        }
        return *best;
    }

    std::unique_ptr<Node> child(Node& node) {
        auto made = std::make_unique<Node>();
        made->move = node.liked.back().second;
        node.liked.pop_back();
        made->state = node.state.after(*rules_, made->move);
        made->seat = made->state.turn == nobody ? nobody : made->state.seat(*rules_);
        return made;
    }

    // Looks at some moves more: those that are new for their colour, drawn by lot, and then those
    // that promised most elsewhere, since that depends little on the way there.
    void look(Node& node) {
        auto& promised = promised_[node.state.turn];
        auto& untried = node.untried;
        std::shuffle(untried.begin(), untried.end(), dice_);
        std::size_t is_new = 0;
        for (const Move move : untried) is_new += promised[code(move)] == unknown;
        const std::size_t number =
            std::min({untried.size(), most_looked_at, std::max(looked_at, is_new)});
        const auto less = [&](Move one, Move other) {
            return promised[code(one)] < promised[code(other)];
        };
        const auto first = untried.end() - static_cast<std::ptrdiff_t>(number);
        std::nth_element(untried.begin(), first, untried.end(), less);
        prospects(node, {first, untried.end()}, promised);
        untried.erase(first, untried.end());
        std::sort(node.liked.begin(), node.liked.end(),
                  [](const auto& one, const auto& two) { return one.first < two.first; });
    }

    // What the side to move may hope for after each of some moves, as a lead in squares.
    void prospects(Node& node, const std::vector<Move>& moves, std::vector<float>& promised) {
        const State& state = node.state;
        const Rules& rules = *rules_;
        const int mover = state.turn, its_side = rules.sides[node.seat];
        int turn = mover;
        for (int later = 1; later <= colours; ++later) {
            turn = (mover + later) % colours;
            if (!(state.stuck >> turn & 1)) break;
        }
        std::array<double, colours> share{}, weight{};
        std::array<Room, colours> rooms;
        std::array<Squares, colours> reach;
        std::array<int, colours> before{};
        double ours = 0, others = 0;
        for (int colour = 0; colour < colours; ++colour) {
            const int owner = rules.owners[colour];
            if (owner == nobody || state.is_out(owner)) continue;
            (rules.sides[owner] == its_side ? ours : others) += 1;
        }
        for (int colour = 0; colour < colours; ++colour) {
            const int owner = rules.owners[colour];
            if (owner == nobody || state.is_out(owner)) continue;
            share[colour] = rules.sides[owner] == its_side ? 1 / ours : -1 / others;
            weight[colour] = share[colour] * state.worth_of_reach(colour, turn);
            if (weight[colour] == 0) continue;
            rooms[colour] = state.room(rules, colour);
            reach[colour] = reach_in(rooms[colour].inside, rooms[colour].seeds);
            before[colour] = reach[colour].count();
        }
        for (const Move move : moves) {
            const Squares squares = move.squares();
            double lead = share[mover] * move.its().size;
            for (int colour = 0; colour < colours; ++colour) {
                if (weight[colour] == 0) continue;
                if (colour != mover && !(squares & reach[colour]).any()) continue;
                Squares inside = rooms[colour].inside - squares, seeds = rooms[colour].seeds;
                if (colour == mover) {
                    inside = inside - edges(squares);
                    seeds = state.covered[mover].any() ? seeds | diagonals(squares)
                                                       : diagonals(squares);
                }
                lead += weight[colour] *
                    (reach_in(inside, seeds & inside).count() - before[colour]);
            }
            const float promise = static_cast<float>(lead / 1000);  // less than `unknown`
            promised[code(move)] = promise;
            node.liked.emplace_back(promise, move);
        }
    }
};

}  // namespace

int main() {
    Blokus().run("blokus-cpp", "");
    return 0;
}
