// Plays Clobber on boards of any size.
//
// A Monte Carlo tree search with the moves of random games counted wherever else they were
// possible (RAVE; Gelly and Silver, 2007), in which what is decided is decided for the positions
// above, too (MCTS-Solver; Winands, Bjornsson and Saito, 2008). Small positions are played to the
// end in every way, with a table; so is the position on the board before the tree grows, as soon
// as few stones can still meet.
//
// By its option `nodes` it looks at no clock but at so many nodes, and plays the same game from the
// same seed on every machine.

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "arena_bot.hpp"

namespace {

constexpr int empty = 2;
constexpr double explore = 0.3;  // how much what is little known is preferred; shares are 0 to 1
constexpr double alike = 400;    // visits until which like moves elsewhere count for more
constexpr int nearly_over = 15;  // stones that can meet, of a position that is played to its end
constexpr long patience = 3000;  // positions looked at for that
constexpr int endgame = 30;      // stones that can meet, of the position on the board
constexpr std::size_t largest_tree = 1'500'000;

// What stays the same in a game: the squares and how they lie, and room to count parts in.
struct Grid {
    int width, height;
    std::vector<std::array<int, 2>> edges;  // neighbours
    std::vector<std::vector<int>> at;       // the edges of each square
    std::vector<std::array<std::uint64_t, 2>> signs;
    std::vector<unsigned> seen;
    unsigned now = 0;
    std::vector<int> part;

    explicit Grid(const std::string& size) {
        width = std::stoi(size);
        height = std::stoi(size.substr(size.find('x') + 1));
        const int squares = width * height;
        at.resize(squares);
        seen.assign(squares, 0);
        std::mt19937_64 dice(1);
        for (int square = 0; square < squares; ++square) {
            signs.push_back({dice(), dice()});
            if (square % width + 1 < width) add_edge(square, square + 1);
            if (square + width < squares) add_edge(square, square + width);
        }
    }

    void add_edge(int one, int other) {
        at[one].push_back(static_cast<int>(edges.size()));
        at[other].push_back(static_cast<int>(edges.size()));
        edges.push_back({one, other});
    }
};

// The stones and whose turn it is. A move is an edge: two neighbours of different colours, of
// which either side may take the other.
class Board {
public:
    int mover = 0;
    std::vector<int> active;  // the edges that are moves

    explicit Board(const arena::Keys& options)
        : grid_(std::make_shared<Grid>(options.at("size"))), places_(grid_->edges.size(), -1) {
        // a1 is Black's, and White is the first seat.
        for (int square = 0; square < grid_->width * grid_->height; ++square)
            cells_.push_back((square % grid_->width + square / grid_->width) % 2 ? 0 : 1);
        for (int edge = 0; edge < static_cast<int>(places_.size()); ++edge) refresh(edge);
    }

    std::size_t edges() const { return places_.size(); }
    bool over() const { return active.empty(); }

    // Where the move along an edge starts; it ends at the other end.
    int start(int edge) const {
        const auto& ends = grid_->edges[edge];
        return ends[cells_[ends[0]] == mover ? 0 : 1];
    }
    int beyond(int edge, int from) const {
        return grid_->edges[edge][0] ^ grid_->edges[edge][1] ^ from;
    }

    // Plays a move, and says from where.
    int play(int edge) {
        const int from = start(edge), to = beyond(edge, from);
        cells_[from] = empty;
        cells_[to] = static_cast<signed char>(mover);
        mover = 1 - mover;
        refresh_at(from);
        refresh_at(to);
        return from;
    }

    void take_back(int edge, int from) {
        const int to = beyond(edge, from);
        mover = 1 - mover;
        cells_[from] = static_cast<signed char>(mover);
        cells_[to] = static_cast<signed char>(1 - mover);
        refresh_at(from);
        refresh_at(to);
    }

    // What matters of the position: its stones in parts where both colours are. Of two pairs of
    // just two stones each is the other's answer, so they go together.
    // Gives the number of stones, the moves among them, and a hash of it all.
    int live(std::vector<int>& moves, std::uint64_t& hash) {
        std::vector<unsigned>& seen = grid_->seen;
        std::vector<int>& part = grid_->part;
        unsigned& now = grid_->now;
        hash = mover ? 0x9e3779b97f4a7c15 : 0;
        moves.clear();
        if (++now == 0) {
            std::fill(seen.begin(), seen.end(), 0);
            now = 1;
        }
        int stones = 0, pair = -1;
        std::uint64_t hash_of_pair = 0;
        for (const int edge : active) {
            const int first = grid_->edges[edge][0];
            if (seen[first] == now) continue;
            part.assign(1, first);
            seen[first] = now;
            for (std::size_t next = 0; next < part.size(); ++next)
                for (const int other : grid_->at[part[next]]) {
                    const int square = beyond(other, part[next]);
                    if (cells_[square] == empty || seen[square] == now) continue;
                    seen[square] = now;
                    part.push_back(square);
                }
            stones += static_cast<int>(part.size());
            std::uint64_t its = 0;
            for (const int square : part) its ^= grid_->signs[square][cells_[square]];
            hash ^= its;
            if (part.size() > 2) {
                for (const int square : part)
                    for (const int other : grid_->at[square])
                        if (grid_->edges[other][0] == square && places_[other] >= 0)
                            moves.push_back(other);
            } else if (pair < 0) {
                pair = edge;
                hash_of_pair = its;
                moves.push_back(edge);
            } else {
                moves.erase(std::find(moves.begin(), moves.end(), pair));
                hash ^= its ^ hash_of_pair;
                pair = -1;
                stones -= 4;
            }
        }
        return stones;
    }

    std::string name(int square) const {
        const int width = grid_->width;
        return static_cast<char>('a' + square % width) + std::to_string(square / width + 1);
    }
    int square(const std::string& name) const {
        return (std::stoi(name.substr(1)) - 1) * grid_->width + name[0] - 'a';
    }
    std::string word(int edge) const { return name(start(edge)) + name(beyond(edge, start(edge))); }

    std::vector<std::string> legal() const {
        std::vector<std::string> words;
        for (const int edge : active) words.push_back(word(edge));
        return words;
    }

    void play(const std::string& word) {
        const std::size_t second = word.find_first_not_of("0123456789", 1);
        const int from = square(word.substr(0, second)), to = square(word.substr(second));
        for (const int edge : grid_->at[from])
            if (beyond(edge, from) == to) {
                play(edge);
                return;
            }
    }

    // Who wins after random moves; tells each move with its seat.
    template <class Told> int random_game(std::mt19937_64& dice, Told told) {
        while (!active.empty()) {
            const int edge = active[static_cast<std::size_t>(dice() % active.size())];
            told(edge, mover);
            play(edge);
        }
        return 1 - mover;
    }

private:
    std::shared_ptr<Grid> grid_;
    std::vector<signed char> cells_;
    std::vector<int> places_;  // where each edge is among the active ones, or -1

    void refresh_at(int square) {
        for (const int edge : grid_->at[square]) refresh(edge);
    }

    void refresh(int edge) {
        const int one = cells_[grid_->edges[edge][0]], other = cells_[grid_->edges[edge][1]];
        const bool is_move = one + other == 1;  // White is 0, Black 1, and a free square 2
        int& place = places_[edge];
        if (is_move == (place >= 0)) return;
        if (is_move) {
            place = static_cast<int>(active.size());
            active.push_back(edge);
        } else {
            active[place] = active.back();
            places_[active[place]] = place;
            active.pop_back();
            place = -1;
        }
    }
};

// Plays positions to their ends in every way.
class Endgame {
public:
    long looked_at = 0;

    Endgame() : table_(std::size_t{1} << 20) {}

    // Whether the seat to move wins, if that can be found out within so many positions and while
    // `go_on` says so.
    template <class GoOn> std::optional<bool> wins(Board& board, long& most, GoOn go_on) {
        ++looked_at;
        if (--most < 0 || (most % 512 == 0 && !go_on())) {
            most = -1;
            return std::nullopt;
        }
        std::vector<int> moves;
        std::uint64_t hash;
        board.live(moves, hash);
        if (moves.empty()) return false;
        const std::uint64_t key = hash | 1;
        if (table_[place(hash)] >> 1 == key >> 1) return table_[place(hash)] & 1;
        bool won = false;
        for (const int edge : moves) {
            const int from = board.play(edge);
            const std::optional<bool> answer = wins(board, most, go_on);
            board.take_back(edge, from);
            if (!answer) return std::nullopt;
            if (!*answer) {
                won = true;
                break;
            }
        }
        table_[place(hash)] = (key ^ 1) | (won ? 1 : 0);
        return won;
    }

private:
    std::vector<std::uint64_t> table_;
    std::size_t place(std::uint64_t hash) const { return (hash >> 20) & (table_.size() - 1); }
};

enum class Fate : signed char { open, won, lost };  // of the seat to move

struct Node {
    int edge = -1;
    Fate fate = Fate::open;
    int first = 0, children = 0;  // where its children are
    float visits = 0, gained = 0;  // rounds, and those won by the seat that moved here
    float met = 2, met_won = 1;    // rounds with this move then or later
};

class Clobber : public arena::Bot {
public:
    Clobber() {
        declare("nodes", "int 0 1000000000 0");
        tree_.reserve(largest_tree);
    }

    void new_game(const arena::Game& game) override {
        if (game.name != "clobber")
            throw std::runtime_error("this bot plays Clobber and not " + game.name);
        nodes_told_ = std::stol(option("nodes"));
        dice_.seed(game.seed);
        // What another game left there would make this one another.
        endgame_ = Endgame();
    }

    std::string choose(const arena::Position& position) override {
        Board board(position.game.options);
        for (const auto& [seat, move] : position.moves) board.play(move);
        if (board.active.size() == 1) return board.word(board.active[0]) + " at once";
        const double budget = position.budget();
        endgame_.looked_at = 0;
        tree_.clear();
        const auto before = [&](double part) {
            return [&, part] {
                const double steps = endgame_.looked_at + (tree_.empty() ? 0 : tree_[0].visits);
                return nodes_told_ ? steps < part * nodes_told_ : position.used() < part * budget;
            };
        };
        bool is_lost = false;
        std::vector<int> moves;
        std::uint64_t hash;
        if (board.live(moves, hash) <= endgame) {
            const auto go_on = before(0.6);
            is_lost = true;
            for (const int edge : moves) {
                long most = 1L << 40;
                const std::string word = board.word(edge);
                const int from = board.play(edge);
                const std::optional<bool> answer = endgame_.wins(board, most, go_on);
                board.take_back(edge, from);
                if (answer && !*answer) {
                    expect(1, {word});
                    return word + " wins";
                }
                is_lost = is_lost && answer.has_value();
                if (!go_on()) break;
            }
            is_lost = is_lost && go_on();
        }
        // The other seat may not know that it has won: then the tree seeks what is hard to answer.
        grow(board, is_lost ? 0 : nearly_over, before(1.0));
        const Node* best = nullptr;
        for (int child = 0; child < tree_[0].children; ++child) {
            const Node& node = tree_[tree_[0].first + child];
            if (!best || rank(node) > rank(*best)) best = &node;
        }
        const double lost = tree_[0].gained / tree_[0].visits;
        const double share = is_lost ? 0 : best->fate == Fate::lost ? 1 : 1 - lost;
        const std::string word = board.word(best->edge);
        number("nodes", tree_[0].visits);
        expect(share, {word});
        return word;
    }

private:
    long nodes_told_ = 0;  // by its option; by the clock if it is 0
    std::mt19937_64 dice_;
    Endgame endgame_;
    std::vector<Node> tree_;
    std::array<std::vector<unsigned>, 2> played_;  // when each seat last played along an edge
    unsigned round_ = 0;

    static double rank(const Node& node) {
        if (node.fate == Fate::lost) return 1e12;
        return node.fate == Fate::won ? node.visits - 1e12 : node.visits;
    }

    template <class GoOn> void grow(const Board& board, int solved, GoOn go_on) {
        Board at_hand = board;
        tree_.assign(1, Node());
        for (auto& played : played_) played.assign(board.edges(), 0);
        round_ = 0;
        do {
            at_hand = board;
            round(at_hand, solved);
        } while (tree_[0].fate == Fate::open && go_on());
    }

    void round(Board& board, int solved) {
        std::vector<int> path{0};
        while (tree_[path.back()].children && tree_[path.back()].fate == Fate::open) {
            path.push_back(most_promising(tree_[path.back()]));
            board.play(tree_[path.back()].edge);
        }
        const int mover = board.mover;
        if (tree_[path.back()].fate == Fate::open && !tree_[path.back()].children)
            expand(board, path.back(), solved);
        ++round_;
        const Fate fate = tree_[path.back()].fate;
        int winner = fate == Fate::won ? mover : 1 - mover;
        if (fate == Fate::open)
            winner = board.random_game(dice_, [&](int edge, int seat) {
                played_[seat][edge] = round_;
            });
        else
            settle(path);
        int seat = mover;
        for (auto place = path.rbegin(); place != path.rend(); ++place, seat = 1 - seat) {
            Node& node = tree_[*place];
            node.visits += 1;
            node.gained += seat != winner;
            for (int child = 0; child < node.children; ++child) {
                Node& other = tree_[node.first + child];
                if (played_[seat][other.edge] != round_) continue;
                other.met += 1;
                other.met_won += seat == winner;
            }
            if (node.edge >= 0) played_[1 - seat][node.edge] = round_;
        }
    }

    int most_promising(const Node& node) const {
        const double known = explore * explore * std::log(node.visits + 1);
        int best = node.first;
        double highest = -1;
        for (int child = node.first; child < node.first + node.children; ++child) {
            const Node& other = tree_[child];
            if (other.fate == Fate::won) continue;
            const double trust = std::sqrt(alike / (alike + 3 * other.visits));
            const double share = other.visits > 0 ? other.gained / other.visits : 0;
            const double promise = share + trust * (other.met_won / other.met - share) +
                std::sqrt(known / (other.visits + 1));
            if (promise > highest) {
                highest = promise;
                best = child;
            }
        }
        return best;
    }

    void expand(Board& board, int place, int solved) {
        std::vector<int> moves;
        std::uint64_t hash;
        const int stones = board.live(moves, hash);
        if (board.over()) {
            tree_[place].fate = Fate::lost;
            return;
        }
        // The beginning is to have children to choose from, whatever is known of it.
        if (stones <= solved && place != 0) {
            long most = patience;
            if (const auto won = endgame_.wins(board, most, [] { return true; })) {
                tree_[place].fate = *won ? Fate::won : Fate::lost;
                return;
            }
        }
        if (place != 0 && tree_.size() + board.active.size() > largest_tree) return;
        tree_[place].first = static_cast<int>(tree_.size());
        tree_[place].children = static_cast<int>(board.active.size());
        for (const int edge : board.active) {
            tree_.emplace_back();
            tree_.back().edge = edge;
        }
    }

    // Decides the nodes of a path that the last of them decides.
    void settle(const std::vector<int>& path) {
        for (std::size_t place = path.size() - 1; place > 0; --place) {
            Node& parent = tree_[path[place - 1]];
            if (tree_[path[place]].fate == Fate::lost) {
                parent.fate = Fate::won;
                continue;
            }
            for (int child = 0; child < parent.children; ++child)
                if (tree_[parent.first + child].fate != Fate::won) return;
            parent.fate = Fate::lost;
        }
    }
};

}  // namespace

int main() {
    Clobber().run("clobber-cpp", "");
    return 0;
}
