// Solves Oxoxo: which seat can force a win, of all positions in which some pieces lie.
//
// It does what engine/games/oxoxo/faces.py does, for tables, which begin with the empty board.
// Where the pieces of both seats lie is a placement, and the faces of its n pieces are a number of
// n bits: which of them show X, from the lowest square on. A set of faces is a row of 2^n bits.
// Placements are solved from those of 16 pieces down, since pieces never leave the board, and of
// placements that look alike by symmetry one is solved.
//
// Read from standard input, all as numbers:
//     0 pieces form colour        solve all placements of so many pieces among which are those of a
//                                 root, given as masks of squares; before it, those of one more.
//                                 Written: in how many positions the game goes on, in how many of
//                                 them Form and Colour win, and in how many plies at most.
//     1 form colour crosses mover count barred...
//                                 who wins a position; to reach one of the barred faces of the same
//                                 placement is a draw. Its placement, or the root, is solved.
//                                 Written: 1 for Form, -1 for Colour, 0 for nobody; and in how many
//                                 plies at most.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kSide = 4, kSquares = kSide * kSide, kHand = 8, kSeats = 2, kSymmetries = 8;
constexpr uint32_t kBoard = (1u << kSquares) - 1;
// Placements of so many pieces, and of fewer, are kept; of more pieces the last two layers are.
// (All of them are 7 GB, these 3.)
constexpr int kKept = 8;
constexpr int kWordBits = 6, kMostWords = 1 << (kSquares - kWordBits);
// The faces among 64 that follow each other in which one of the first six pieces shows O.
constexpr uint64_t kShowsO[kWordBits] = {0x5555555555555555, 0x3333333333333333,
                                         0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff,
                                         0x0000ffff0000ffff, 0x00000000ffffffff};

using Faces = std::array<uint64_t, kMostWords>;
// The same for each seat.
using BySeat = std::array<Faces, kSeats>;

std::vector<uint32_t> lines;
// What becomes of the squares of the lower and of the upper byte of a mask.
std::array<std::array<std::array<uint16_t, 256>, 2>, kSymmetries> symmetries;
// A mask as a number to the base of three, so that two of them are one number.
std::array<uint32_t, 1 << kSquares> ternary;
// For each placement that is solved, by its number to the base of three, where it is in its layer.
std::vector<uint32_t> places;

int count(uint64_t mask) { return __builtin_popcountll(mask); }
int lowest(uint32_t mask) { return __builtin_ctz(mask); }

void prepare() {
    for (int i = 0; i < kSide; ++i) {
        uint32_t rank = 0, file = 0;
        for (int j = 0; j < kSide; ++j) {
            rank |= 1u << (kSide * i + j);
            file |= 1u << (kSide * j + i);
        }
        lines.push_back(rank);
        lines.push_back(file);
    }
    uint32_t rising = 0, falling = 0;
    for (int i = 0; i < kSide; ++i) {
        rising |= 1u << (kSide + 1) * i;
        falling |= 1u << (kSide - 1) * (i + 1);
    }
    lines.push_back(rising);
    lines.push_back(falling);
    for (int way = 0; way < kSymmetries; ++way)
        for (int byte = 0; byte < 2; ++byte)
            for (int mask = 0; mask < 256; ++mask)
                for (int bit = 0; bit < 8; ++bit) {
                    if (!(mask >> bit & 1)) continue;
                    int rank = (8 * byte + bit) / kSide, file = bit % kSide;
                    if (way & 1) rank = kSide - 1 - rank;
                    if (way & 2) file = kSide - 1 - file;
                    if (way & 4) std::swap(rank, file);
                    symmetries[way][byte][mask] |= 1u << (kSide * rank + file);
                }
    uint32_t power = 1;
    for (int square = 0; square < kSquares; ++square, power *= 3)
        for (uint32_t mask = 0; mask <= kBoard; ++mask)
            if (mask >> square & 1) ternary[mask] += power;
    places.resize(power);
}

uint32_t moved(int way, uint32_t mask) {
    return symmetries[way][0][mask & 255] | symmetries[way][1][mask >> 8];
}

struct Placement {
    uint32_t form = 0, colour = 0;

    uint32_t both() const { return form | colour; }
    int pieces() const { return count(both()); }
    uint32_t of(int seat) const { return seat ? colour : form; }
    uint32_t number() const { return ternary[form] + 2 * ternary[colour]; }
    Placement with(int seat, uint32_t square) const {
        return {form | (seat ? 0 : square), colour | (seat ? square : 0)};
    }
    Placement after(int way) const { return {moved(way, form), moved(way, colour)}; }
    bool operator<(const Placement& other) const {
        return form != other.form ? form < other.form : colour < other.colour;
    }
    // The symmetry after which it comes first of those that look alike.
    int way_to_first() const {
        int best = 0;
        for (int way = 1; way < kSymmetries; ++way)
            if (after(way) < after(best)) best = way;
        return best;
    }
    bool contains(const Placement& root) const {
        for (int way = 0; way < kSymmetries; ++way) {
            const Placement one = root.after(way);
            if (!(one.form & ~form) && !(one.colour & ~colour)) return true;
        }
        return false;
    }
};

// Of a mask of squares those that hold pieces, from the lowest on: the bits of faces.
struct Squares {
    uint32_t held;

    int bit(int square) const { return count(held & ((1u << square) - 1)); }
    uint32_t faces(uint32_t mask) const {
        uint32_t bits = 0;
        for (uint32_t rest = mask & held; rest; rest &= rest - 1)
            bits |= 1u << bit(lowest(rest));
        return bits;
    }
};

// Half a byte for a position that was reached: a bit for who has moved there and who wins then.
int flag(int mover, int winner) { return kSeats * mover + winner; }

// The placements of so many pieces, and what is known of them.
struct Layer {
    std::vector<Placement> placements;
    // Two faces a byte.
    std::vector<uint8_t> reached;
    // In how many plies either seat wins at most.
    std::vector<std::array<uint16_t, kSeats>> longest;
    size_t bytes = 0;

    const uint8_t* of(size_t place) const { return &reached[place * bytes]; }
};

int flags(const uint8_t* reached, uint32_t faces) {
    return reached[faces >> 1] >> (faces & 1) * 4 & 15;
}

std::array<Layer, kSquares + 1> layers;

// Solves one placement after the other, all of its faces at once.
class Solving {
  public:
    // Whoever reaches one of the barred faces draws.
    void solve(const Placement& at, const std::vector<uint32_t>& barred) {
        at_ = at;
        squares_ = {at.both()};
        size_ = uint32_t{1} << at.pieces();
        words_ = std::max<int>(1, size_ >> kWordBits);
        all_ = size_ < 64 ? (uint64_t{1} << size_) - 1 : ~uint64_t{0};
        find_goals();
        for (int mover = 0; mover < kSeats; ++mover) put(mover);
        std::fill_n(open_.begin(), words_, all_);
        for (const uint32_t faces : barred) open_[faces >> 6] &= ~(uint64_t{1} << (faces & 63));
        for (int winner = 0; winner < kSeats; ++winner) attract(winner);
    }

    // Whether a seat wins with a seat to move, however often the faces were seen.
    bool wins(int winner, int mover, uint32_t faces) const {
        return won_[winner][mover][faces >> 6] >> (faces & 63) & 1;
    }
    int longest(int winner) const { return longest_[winner]; }
    uint64_t positions() const {
        uint64_t open = 0;
        for (int word = 0; word < words_; ++word) open += count(live(word));
        return kSeats * open;
    }
    uint64_t won(int winner) const {
        uint64_t found = 0;
        for (int mover = 0; mover < kSeats; ++mover)
            for (int word = 0; word < words_; ++word) found += count(won_[winner][mover][word]);
        return found;
    }
    void write(uint8_t* reached) const {
        std::fill_n(reached, std::max<uint32_t>(1, size_ / 2), 0);
        for (int mover = 0; mover < kSeats; ++mover)
            for (int winner = 0; winner < kSeats; ++winner)
                for (int word = 0; word < words_; ++word) {
                    uint64_t bits = is_won(mover, winner, word, won_[winner][!mover]) & all_;
                    for (; bits; bits &= bits - 1) {
                        const uint32_t faces = word << kWordBits | __builtin_ctzll(bits);
                        reached[faces >> 1] |= 1 << flag(mover, winner) << (faces & 1) * 4;
                    }
                }
    }

  private:
    // Where each seat's goal stands.
    void find_goals() {
        for (Faces& of_seat : goals_) std::fill_n(of_seat.begin(), words_, 0);
        for (const uint32_t line : lines) {
            if (line & ~at_.both()) continue;
            const uint32_t bits = squares_.faces(line), others = (size_ - 1) & ~bits;
            // Colour's pieces that show O are dark, and Form's that show X.
            const uint32_t dark = squares_.faces(line & at_.form);
            for (int seat = 0; seat < kSeats; ++seat)
                for (const uint32_t made : {seat ? dark : bits, seat ? bits ^ dark : 0u})
                    for (uint32_t rest = others;; rest = (rest - 1) & others) {
                        const uint32_t faces = made | rest;
                        goals_[seat][faces >> 6] |= uint64_t{1} << (faces & 63);
                        if (!rest) break;
                    }
        }
    }

    uint64_t live(int word) const { return ~(goals_[0][word] | goals_[1][word]) & all_; }

    // Where a seat wins if the other, or itself, has moved there; beyond goals it is as said.
    uint64_t is_won(int mover, int winner, int word, const Faces& goes_on) const {
        const uint64_t goal = goals_[winner][word], others = goals_[!winner][word];
        // Whoever makes both goals at once loses.
        const uint64_t at_once = goal & (mover == winner ? ~others : ~uint64_t{0});
        return at_once | (live(word) & goes_on[word]);
    }

    // What putting a piece down brings: whether some wins for the mover, and whether all do for
    // the other seat.
    void put(int mover) {
        Faces &some = by_putting_[mover][mover], &all = by_putting_[mover][!mover];
        std::fill_n(some.begin(), words_, 0);
        std::fill_n(all.begin(), words_, ~uint64_t{0});
        for (int winner = 0; winner < kSeats; ++winner) later_[mover][winner] = 0;
        if (count(at_.of(mover)) == kHand) return;
        const Layer& next = layers[at_.pieces() + 1];
        for (uint32_t free = kBoard & ~at_.both(); free; free &= free - 1) {
            const Placement put = at_.with(mover, free & -free);
            const int way = put.way_to_first();
            const Placement first = put.after(way);
            const uint32_t place = places[first.number()];
            for (int winner = 0; winner < kSeats; ++winner)
                later_[mover][winner] =
                    std::max<int>(later_[mover][winner], next.longest[place][winner]);
            gather(next.of(place), {first.both()}, way, lowest(free), mover, &some, &all);
        }
    }

    // Takes over what is known of a placement with one piece more, with either face of it.
    void gather(const uint8_t* reached, Squares theirs, int way, int added, int mover, Faces* some,
                Faces* all) const {
        std::array<std::array<uint32_t, 256>, 2> to{};
        int bit = 0;
        for (uint32_t rest = at_.both(); rest; rest &= rest - 1, ++bit) {
            const uint32_t its = theirs.faces(moved(way, rest & -rest));
            for (int faces = 0; faces < 256; ++faces)
                if (faces >> (bit & 7) & 1) to[bit >> 3][faces] |= its;
        }
        const uint32_t x = theirs.faces(moved(way, 1u << added));
        const int wins = flag(mover, mover), loses = flag(mover, !mover);
        for (int word = 0; word < words_; ++word) {
            uint64_t won = 0, lost = 0;
            for (uint32_t bits = 0; bits < std::min<uint32_t>(64, size_); ++bits) {
                const uint32_t faces = word << kWordBits | bits;
                const uint32_t its = to[0][faces & 255] | to[1][faces >> 8];
                const int with_o = flags(reached, its), with_x = flags(reached, its | x);
                won |= uint64_t((with_o | with_x) >> wins & 1) << bits;
                lost |= uint64_t((with_o & with_x) >> loses & 1) << bits;
            }
            (*some)[word] |= won;
            (*all)[word] &= lost;
        }
    }

    // The positions from which a seat forces a win: those that lead to it in one ply, in two and
    // so on, until there are no more.
    void attract(int winner) {
        const int other = !winner;
        BySeat& won = won_[winner];
        for (Faces& of_mover : won) std::fill_n(of_mover.begin(), words_, 0);
        // How many plies the last that was found takes before a piece is put down or the game ends.
        int longest = 0;
        for (int plies = 1;; plies += 2) {
            if (step(winner, winner, won[other], &won[winner])) longest = plies;
            if (!step(other, winner, won[winner], &won[other])) break;
            longest = plies + 1;
        }
        longest_[winner] = longest ? longest + std::max(later_[0][winner], later_[1][winner]) : 0;
    }

    // From where the mover comes to what is won, or can't but come there; whether that is new.
    bool step(int mover, int winner, const Faces& goes_on, Faces* won) {
        const bool some = mover == winner;
        Faces& from = from_;
        std::copy_n(by_putting_[mover][winner].begin(), words_, from.begin());
        for (int word = 0; word < words_; ++word)
            to_[word] = is_won(mover, winner, word, goes_on) & (open_[word] | ~live(word));
        for (uint32_t own = squares_.faces(at_.of(mover)); own; own &= own - 1) {
            const int bit = lowest(own);
            if (bit < kWordBits) {
                const int shift = 1 << bit;
                const uint64_t o = kShowsO[bit];
                for (int word = 0; word < words_; ++word) {
                    const uint64_t turned = (to_[word] >> shift & o) | (to_[word] & o) << shift;
                    from[word] = some ? from[word] | turned : from[word] & turned;
                }
            } else {
                const int apart = 1 << (bit - kWordBits);
                for (int word = 0; word < words_; ++word)
                    from[word] = some ? from[word] | to_[word ^ apart] : from[word] & to_[word ^ apart];
            }
        }
        bool is_new = false;
        for (int word = 0; word < words_; ++word) {
            const uint64_t now = from[word] & live(word);
            is_new = is_new || now != (*won)[word];
            (*won)[word] = now;
        }
        return is_new;
    }

    Placement at_;
    Squares squares_{0};
    uint32_t size_ = 1;
    int words_ = 1;
    uint64_t all_ = 0;
    BySeat goals_;
    Faces open_, from_, to_;
    // By mover and winner, and by winner and who is to move.
    std::array<BySeat, kSeats> by_putting_, won_;
    std::array<std::array<int, kSeats>, kSeats> later_{};
    std::array<int, kSeats> longest_{};
};

Solving solving;

void solve_layer(int pieces, const Placement& root) {
    if (pieces + 2 > kKept && pieces + 2 <= kSquares) layers[pieces + 2] = {};
    Layer& layer = layers[pieces];
    layer = {};
    for (uint32_t both = 0; both <= kBoard; ++both) {
        const bool may = Placement{both, 0}.contains({root.both(), 0});
        if (count(both) != pieces || !may) continue;
        for (uint32_t form = both;; form = (form - 1) & both) {
            const Placement one{form, both ^ form};
            if (count(one.form) <= kHand && count(one.colour) <= kHand && one.contains(root) &&
                !one.way_to_first()) {
                places[one.number()] = layer.placements.size();
                layer.placements.push_back(one);
            }
            if (!form) break;
        }
    }
    layer.bytes = std::max(1, (1 << pieces) / 2);
    layer.reached.resize(layer.bytes * layer.placements.size());
    uint64_t positions = 0, won[kSeats] = {};
    int longest = 0;
    for (size_t place = 0; place < layer.placements.size(); ++place) {
        solving.solve(layer.placements[place], {});
        solving.write(&layer.reached[place * layer.bytes]);
        positions += solving.positions();
        layer.longest.push_back({});
        for (int winner = 0; winner < kSeats; ++winner) {
            layer.longest[place][winner] = solving.longest(winner);
            longest = std::max(longest, solving.longest(winner));
            won[winner] += solving.won(winner);
        }
    }
    std::printf("%llu %llu %llu %d\n", (unsigned long long)positions, (unsigned long long)won[0],
                (unsigned long long)won[1], longest);
}

}  // namespace

int main() {
    prepare();
    int what;
    while (std::scanf("%d", &what) == 1) {
        Placement at;
        if (what == 0) {
            int pieces;
            if (std::scanf("%d %u %u", &pieces, &at.form, &at.colour) != 3) return 1;
            solve_layer(pieces, at);
        } else {
            uint32_t crosses;
            int mover;
            size_t barred_count;
            if (std::scanf("%u %u %u %d %zu", &at.form, &at.colour, &crosses, &mover,
                           &barred_count) != 5)
                return 1;
            std::vector<uint32_t> barred(barred_count);
            for (uint32_t& faces : barred)
                if (std::scanf("%u", &faces) != 1) return 1;
            const Squares squares{at.both()};
            for (uint32_t& faces : barred) faces = squares.faces(faces);
            solving.solve(at, barred);
            const uint32_t faces = squares.faces(crosses);
            const bool form = solving.wins(0, mover, faces), colour = solving.wins(1, mover, faces);
            std::printf("%d %d\n", form - colour, form || colour ? solving.longest(colour) : 0);
        }
        std::fflush(stdout);
    }
    return 0;
}
