// Solves positions of Mijnlieff on boards of 16 squares: by how much the seat to move wins.
//
// It does what engine/games/mijnlieff/endgame.py does, for tables, which take millions of searches.
// Read from standard input, all as numbers: for each of the four types of pieces the squares to
// which it sends the other seat from each square, as masks; how many rows of three there are, and
// their masks; how many symmetries the board has, and for each the square that every square becomes,
// as a mask; then the positions, each by the squares of the seat to move and of the other, the
// pieces in hand of both (four bits for each type), and the squares that are open to the mover.
// Written: a line with the value of each.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kTypes = 4, kSquares = 16, kFurthest = 99;
constexpr int kTableBits = 23;
// Free squares from which on a position is looked up as the first of those that look like it.
constexpr int kAlike = 8;

struct Position {
    uint32_t own, other, hand, others, open;
};

// What is known of a position: its value is at least low, and at most high; and how many squares
// are free, which is what it cost.
struct Entry {
    uint64_t key = 0;
    int8_t low = -kFurthest, high = kFurthest, free = 0;
};

// Of two positions that fall together one stays for as long as none comes that cost more.
struct Pair {
    Entry costly, latest;
};

uint32_t reach[kTypes][kSquares];
// For each set of squares how many rows of three are in it.
std::array<int8_t, 1 << kSquares> rows;
std::vector<Pair> table(size_t{1} << kTableBits);
// For each symmetry of the board what becomes of the squares of the lower and of the upper byte.
std::vector<std::array<std::array<uint16_t, 256>, 2>> symmetries;

// No seat begins with more than two pieces of a type, so that two bits are enough for each.
uint32_t packed(uint32_t hand) {
    uint32_t bits = 0;
    for (int type = 0; type < kTypes; ++type) bits |= (hand >> 4 * type & 3) << 2 * type;
    return bits;
}

// All of a position that decides how it goes on, in 64 bits; never 0 while a square is open.
uint64_t key_of(const Position& at, int free) {
    uint64_t squares = uint64_t{at.own} << 32 | uint64_t{at.other} << 16 | at.open;
    if (free >= kAlike) {
        const uint64_t as_it_is = squares;
        for (const auto& way : symmetries) {
            uint64_t moved = 0;
            for (int shift = 32; shift >= 0; shift -= 16)
                moved = moved << 16 | way[0][as_it_is >> shift & 255] |
                        way[1][as_it_is >> (shift + 8) & 255];
            squares = std::min(squares, moved);
        }
    }
    return squares << 16 | packed(at.hand) << 8 | packed(at.others);
}

// The position after a piece; says whether the same seat moves again, as the other one passes.
bool play(const Position& at, int type, int square, Position* after) {
    const uint32_t own = at.own | 1u << square;
    const uint32_t hand = at.hand - (1u << 4 * type);
    const uint32_t free = 0xffffu & ~(own | at.other);
    if (!at.others) {
        *after = {at.other, own, at.others, hand, 0};
        return false;
    }
    const uint32_t open = reach[type][square] & free;
    if (hand && !open) {
        *after = {own, at.other, hand, at.others, free};
        return true;
    }
    *after = {at.other, own, at.others, hand, open};
    return false;
}

int value(const Position& at, int low, int high) {
    const int points = rows[at.own] - rows[at.other];
    if (!at.open) return points;
    // Nobody makes more rows than the other seat leaves possible.
    int ceiling = rows[0xffff & ~at.other] - rows[at.other];
    int floor = rows[at.own] - rows[0xffff & ~at.own];
    if (ceiling <= low) return ceiling;
    if (floor >= high) return floor;
    const int free = kSquares - __builtin_popcount(at.own | at.other);
    const uint64_t key = key_of(at, free);
    Pair& pair = table[key * 0x9E3779B97F4A7C15u >> (64 - kTableBits)];
    const Entry& entry = pair.costly.key == key ? pair.costly : pair.latest;
    if (entry.key == key) {
        floor = std::max<int>(floor, entry.low);
        ceiling = std::min<int>(ceiling, entry.high);
        if (floor >= high || floor == ceiling) return floor;
        if (ceiling <= low) return ceiling;
    }
    struct Move {
        Position after;
        bool again;
        int order;
    } moves[kTypes * kSquares];
    int count = 0;
    for (int square = 0; square < kSquares; ++square) {
        if (!(at.open >> square & 1)) continue;
        for (int type = 0; type < kTypes; ++type) {
            if (!(at.hand >> 4 * type & 15)) continue;
            Move move;
            move.again = play(at, type, square, &move.after);
            // First what leaves the other seat few moves, makes rows, or takes rows from it;
            // weighed as it searched the fewest of 7 million positions.
            const uint32_t own = at.own | 1u << square;
            move.order = 4 * (move.again ? -1 : __builtin_popcount(move.after.open)) -
                         6 * (rows[own] - rows[at.own]) -
                         3 * (rows[0xffff & ~at.own] - rows[0xffff & ~own]);
            int place = count++;
            for (; place > 0 && moves[place - 1].order > move.order; --place)
                moves[place] = moves[place - 1];
            moves[place] = move;
        }
    }
    int best = -kFurthest;
    for (int n = 0; n < count && best < high; ++n) {
        const int from = std::max(low, best);
        const int found = moves[n].again ? value(moves[n].after, from, high)
                                         : -value(moves[n].after, -high, -from);
        best = std::max(best, found);
    }
    if (best > low) floor = std::max(floor, best);
    if (best < high) ceiling = std::min(ceiling, best);
    Entry& kept = pair.costly.key == key || pair.costly.free <= free ? pair.costly : pair.latest;
    if (kept.key != key && &kept == &pair.costly) pair.latest = pair.costly;
    kept = {key, static_cast<int8_t>(floor), static_cast<int8_t>(ceiling),
            static_cast<int8_t>(free)};
    return best;
}

}  // namespace

int main() {
    for (auto& of_type : reach)
        for (uint32_t& squares : of_type)
            if (std::scanf("%u", &squares) != 1) return 1;
    int count;
    if (std::scanf("%d", &count) != 1) return 1;
    for (; count > 0; --count) {
        uint32_t three;
        if (std::scanf("%u", &three) != 1) return 1;
        for (size_t squares = 0; squares < rows.size(); ++squares)
            rows[squares] += (squares & three) == three;
    }
    if (std::scanf("%d", &count) != 1) return 1;
    symmetries.resize(count);
    for (auto& way : symmetries) {
        uint32_t to[kSquares];
        for (uint32_t& square : to)
            if (std::scanf("%u", &square) != 1) return 1;
        for (int byte = 0; byte < 2; ++byte)
            for (int squares = 0; squares < 256; ++squares)
                for (int bit = 0; bit < 8; ++bit)
                    if (squares >> bit & 1) way[byte][squares] |= to[8 * byte + bit];
    }
    Position at;
    while (std::scanf("%u %u %u %u %u", &at.own, &at.other, &at.hand, &at.others, &at.open) == 5) {
        int low = -kFurthest, high = kFurthest, lead = 0;
        while (low < high) {
            const int goal = std::max(lead, low + 1);
            lead = value(at, goal - 1, goal);
            if (lead < goal)
                high = lead;
            else
                low = lead;
        }
        std::printf("%d\n", lead);
        std::fflush(stdout);
    }
    return 0;
}
