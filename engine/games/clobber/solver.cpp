// Solves positions of Clobber: whether the seat to move makes the last move.
//
// It does what engine/games/clobber/endgame.py does, by code of its own, for boards of 7 files and
// 8 ranks at most: parts of the board that do not touch are games of their own, small ones are
// replaced by their canonical forms, what cancels is left out, and sums are searched to the end.
// Beyond that it takes parts for the same that are turned or mirrored, and adds small values up.
//
// Read from standard input, as numbers: positions, each by the stones of the seat to move and of
// the other, a byte for each rank. Written: for each a line with 1 if it is won and 0 if not, and
// how many sums were searched.

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

// Stones of a part that is replaced by its value, and of parts whose values are added up.
constexpr int kSmall = 8, kSum = 11;
constexpr int kTableBits = 23, kSeenBits = 20;

uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Two numbers of 64 bits for what must not be taken for something else.
struct Name {
    uint64_t first = 0, second = 0;
    bool operator==(const Name& other) const {
        return first == other.first && second == other.second;
    }
};

Name name_of(uint64_t x, uint64_t y) {
    return {mixed(mixed(x + 0x9e3779b97f4a7c15u) ^ (y * 0xd6e8feb86659fd93u + 1)),
            mixed(mixed(y ^ 0x5851f42d4c957f2du) + (x ^ 0xa0761d6478bd642fu) * 0xe7037ed1a0b428dbu)};
}

// --- values, as in Values of endgame.py -----------------------------------------------------

using Options = std::vector<int>;

std::vector<Options> lefts, rights;
std::map<std::pair<Options, Options>, int> numbers;
std::unordered_map<uint64_t, bool> order;
std::unordered_map<uint64_t, int> sums;
std::unordered_map<int, int> negatives;

uint64_t pair_of(int one, int other) { return uint64_t(uint32_t(one)) << 32 | uint32_t(other); }

int number_of(Options left, Options right) {
    for (Options* options : {&left, &right}) std::sort(options->begin(), options->end());
    const auto [at, is_new] = numbers.try_emplace({left, right}, int(lefts.size()));
    if (is_new) {
        lefts.push_back(left);
        rights.push_back(right);
    }
    return at->second;
}

bool at_most(int one, int other) {
    if (one == other) return true;
    const uint64_t key = pair_of(one, other);
    if (const auto known = order.find(key); known != order.end()) return known->second;
    bool found = true;
    for (const int option : lefts[one]) found = found && !at_most(other, option);
    for (const int option : rights[other]) found = found && !at_most(option, one);
    return order[key] = found;
}

bool is_above(int value, const Options& left, const Options& right);

bool is_below(int value, const Options& left, const Options& right) {
    for (const int option : lefts[value])
        if (is_above(option, left, right)) return false;
    for (const int option : right)
        if (at_most(option, value)) return false;
    return true;
}

bool is_above(int value, const Options& left, const Options& right) {
    for (const int option : rights[value])
        if (is_below(option, left, right)) return false;
    for (const int option : left)
        if (at_most(value, option)) return false;
    return true;
}

void make_set(Options* options) {
    std::sort(options->begin(), options->end());
    options->erase(std::unique(options->begin(), options->end()), options->end());
}

// Goes past one option that the other seat answers at no loss; false if there is none.
bool bypass(Options* left, Options* right) {
    for (const bool is_left : {true, false}) {
        Options* own = is_left ? left : right;
        for (size_t n = 0; n < own->size(); ++n) {
            for (const int back : (is_left ? rights : lefts)[(*own)[n]]) {
                if (!(is_left ? is_below : is_above)(back, *left, *right)) continue;
                own->erase(own->begin() + n);
                const Options& more = (is_left ? lefts : rights)[back];
                own->insert(own->end(), more.begin(), more.end());
                make_set(own);
                return true;
            }
        }
    }
    return false;
}

int value_with(Options left, Options right) {
    make_set(&left);
    make_set(&right);
    while (bypass(&left, &right)) {
    }
    Options best_left, best_right;
    for (const int one : left)
        if (std::none_of(left.begin(), left.end(),
                         [&](int other) { return other != one && at_most(one, other); }))
            best_left.push_back(one);
    for (const int one : right)
        if (std::none_of(right.begin(), right.end(),
                         [&](int other) { return other != one && at_most(other, one); }))
            best_right.push_back(one);
    return number_of(best_left, best_right);
}

int add(int one, int other) {
    if (!one || !other) return one + other;
    if (one > other) std::swap(one, other);
    const uint64_t key = pair_of(one, other);
    if (const auto known = sums.find(key); known != sums.end()) return known->second;
    Options left, right;
    // By copies: what is added up may move the lists.
    for (const int option : Options(lefts[one])) left.push_back(add(option, other));
    for (const int option : Options(lefts[other])) left.push_back(add(one, option));
    for (const int option : Options(rights[one])) right.push_back(add(option, other));
    for (const int option : Options(rights[other])) right.push_back(add(one, option));
    return sums[key] = value_with(left, right);
}

int negative(int value) {
    if (const auto known = negatives.find(value); known != negatives.end()) return known->second;
    Options left, right;
    for (const int option : Options(rights[value])) left.push_back(negative(option));
    for (const int option : Options(lefts[value])) right.push_back(negative(option));
    return negatives[value] = number_of(left, right);
}

// --- stones ---------------------------------------------------------------------------------

struct Stones {
    uint64_t own, other;
    bool operator==(const Stones& with) const { return own == with.own && other == with.other; }
    bool operator<(const Stones& with) const {
        return own != with.own ? own < with.own : other < with.other;
    }
};

uint64_t mirrored(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    return (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
}

uint64_t transposed(uint64_t x) {
    uint64_t t = (x ^ x << 28) & 0x0f0f0f0f00000000u;
    x ^= t ^ t >> 28;
    t = (x ^ x << 14) & 0x3333000033330000u;
    x ^= t ^ t >> 14;
    t = (x ^ x << 7) & 0x5500550055005500u;
    return x ^ t ^ t >> 7;
}

// How far stones lie from the corner, as a shift.
int corner(uint64_t stones) {
    const int rank = __builtin_ctzll(stones) / 8;
    stones |= stones >> 32;
    stones |= stones >> 16;
    stones |= stones >> 8;
    return 8 * rank + __builtin_ctz(uint32_t(stones & 255));
}

uint64_t beside(uint64_t stones) { return stones << 1 | stones >> 1 | stones << 8 | stones >> 8; }

// Of all that look like a part the first, and the same with the colours exchanged.
std::pair<Stones, Stones> firsts(const Stones& part) {
    Stones first = part, exchanged = {part.other, part.own};
    for (int way = 0; way < 8; ++way) {
        uint64_t own = part.own, other = part.other;
        for (uint64_t* stones : {&own, &other}) {
            if (way & 1) *stones = __builtin_bswap64(*stones);
            if (way & 2) *stones = mirrored(*stones);
            if (way & 4) *stones = transposed(*stones);
        }
        const int shift = corner(own | other);
        own >>= shift;
        other >>= shift;
        first = std::min(first, {own, other});
        exchanged = std::min(exchanged, {other, own});
    }
    return {first, exchanged};
}

// The connected parts in which both colours meet.
template <class Take>
void split(const Stones& all, Take take) {
    uint64_t meeting = all.own & beside(all.other);
    while (meeting) {
        uint64_t part = 0, grown = meeting & -meeting;
        while (grown != part) {
            part = grown;
            grown = (grown | beside(grown)) & (all.own | all.other);
        }
        take(Stones{all.own & part, all.other & part});
        meeting &= ~part;
    }
}

// The stones after each move of the seat that owns the first, its own first.
template <class Take>
void moves(const Stones& at, Take take) {
    for (const int step : {1, 8}) {
        for (uint64_t from = at.own & at.other >> step; from; from &= from - 1) {
            const uint64_t one = from & -from;
            take(Stones{at.own ^ one ^ one << step, at.other ^ one << step});
        }
        for (uint64_t from = at.own & at.other << step; from; from &= from - 1) {
            const uint64_t one = from & -from;
            take(Stones{at.own ^ one ^ one >> step, at.other ^ one >> step});
        }
    }
}

int mobility(const Stones& at) {
    int count = 0;
    for (const int step : {1, 8})
        count += __builtin_popcountll(at.own & at.other >> step) +
                 __builtin_popcountll(at.own & at.other << step);
    return count;
}

std::map<Stones, int> small;

int value_of(const Stones& first);

int total(const Stones& all) {
    int found = 0;
    split(all, [&](const Stones& part) { found = add(found, value_of(firsts(part).first)); });
    return found;
}

// The value of a small part for whoever owns the first stones.
int value_of(const Stones& first) {
    if (const auto known = small.find(first); known != small.end()) return known->second;
    Options left, right;
    moves(first, [&](const Stones& after) { left.push_back(total(after)); });
    moves({first.other, first.own},
          [&](const Stones& after) { right.push_back(total({after.other, after.own})); });
    return small[first] = value_with(left, right);
}

// --- sums -----------------------------------------------------------------------------------

// A part as the seat to move sees it: a value, or, if that is below 0, stones.
struct Part {
    Stones stones;
    int value, size;
    Name name, exchanged;
};

Part with_value(int value, int size) {
    return {{0, 0}, value, size, name_of(value, ~0u), name_of(negative(value), ~0u)};
}

Part turned(const Part& part) {
    return {{part.stones.other, part.stones.own},
            part.value < 0 ? part.value : negative(part.value),
            part.size,
            part.exchanged,
            part.name};
}

Part part_of(Stones stones) {
    static std::vector<std::pair<Stones, Part>> seen(size_t{1} << kSeenBits);
    const int shift = corner(stones.own | stones.other);
    stones = {stones.own >> shift, stones.other >> shift};
    auto& [known, part] = seen[name_of(stones.own, stones.other).first >> (64 - kSeenBits)];
    if (!(known == stones)) {
        known = stones;
        const auto [first, exchanged] = firsts(stones);
        const int size = __builtin_popcountll(stones.own | stones.other);
        part = size <= kSmall ? with_value(value_of(first), size)
                              : Part{stones, -1, size, name_of(first.own, first.other),
                                     name_of(exchanged.own, exchanged.other)};
    }
    return part;
}

struct Sum {
    std::vector<Part> parts;  // first the larger ones
    Name name;
    int size = 0, freedom = 0;
};

// A sum by 96 bits of its name; none if its size is 0.
struct Entry {
    uint64_t first;
    uint32_t second;
    uint8_t size, won;
    bool is_of(const Name& name) const {
        return size && first == name.first && second == uint32_t(name.second);
    }
};

// Of two sums that fall together one stays for as long as none comes that is larger.
struct Pair {
    Entry large, latest;
};

Pair table[size_t{1} << kTableBits];
uint64_t steps = 0;

enum Outcome { kLost, kWon, kOpen };

Outcome look_up(const Name& name) {
    const Pair& pair = table[name.first >> (64 - kTableBits)];
    for (const Entry* entry : {&pair.large, &pair.latest})
        if (entry->is_of(name)) return entry->won ? kWon : kLost;
    return kOpen;
}

void keep(const Sum& sum, bool won) {
    Pair& pair = table[sum.name.first >> (64 - kTableBits)];
    const bool is_large = pair.large.size <= sum.size;
    if (is_large && !pair.large.is_of(sum.name)) pair.latest = pair.large;
    (is_large ? pair.large : pair.latest) = {sum.name.first, uint32_t(sum.name.second),
                                             uint8_t(sum.size ? sum.size : 1), won};
}

void cancel(std::vector<Part>* parts) {
    for (size_t one = 0; one < parts->size(); ++one)
        for (size_t other = one + 1; other < parts->size(); ++other)
            if ((*parts)[one].name == (*parts)[other].exchanged) {
                parts->erase(parts->begin() + other);
                parts->erase(parts->begin() + one--);
                break;
            }
}

// Brings a sum to its shortest form, and says who wins it, as far as that is clear at once.
Outcome reduce(Sum* sum) {
    std::vector<Part>& parts = sum->parts;
    cancel(&parts);
    std::sort(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
        if ((one.value < 0) != (other.value < 0)) return one.value < 0;
        return one.size != other.size ? one.size < other.size : one.value < other.value;
    });
    size_t large = 0;
    while (large < parts.size() && parts[large].value < 0) ++large;
    while (parts.size() >= large + 2 && parts[large].size + parts[large + 1].size <= kSum) {
        const int size = parts[large].size + parts[large + 1].size;
        const int value = add(parts[large].value, parts[large + 1].value);
        parts.erase(parts.begin() + large, parts.begin() + large + 2);
        if (!value) continue;
        size_t at = large;
        while (at < parts.size() && parts[at].size < size) ++at;
        parts.insert(parts.begin() + at, with_value(value, size));
    }
    cancel(&parts);
    large = 0;
    bool is_good = true, is_bad = true;
    int open = 0;
    Name added, stones;
    for (const Part& part : parts) {
        added.first += part.name.first;
        added.second += part.name.second;
        sum->size += part.size;
        if (part.value < 0) {
            ++large;
            stones = added;
            continue;
        }
        const bool good = at_most(0, part.value), bad = at_most(part.value, 0);
        is_good = is_good && (good || !bad);
        is_bad = is_bad && (bad || !good);
        open += !good && !bad;
    }
    if (parts.empty()) return kLost;
    if (!large) {
        // Who has nothing but what is good for it wins, with one thing more that is good for
        // whoever moves, too.
        if (is_good && open <= 1) return kWon;
        if (is_bad && !open) return kLost;
    }
    sum->name = name_of(added.first, added.second);
    const Outcome known = look_up(sum->name);
    if (known != kOpen || !large || large == parts.size() || open) return known;
    const Outcome without = look_up(name_of(stones.first, stones.second));
    if (without == kWon && is_good) return kWon;
    if (without == kLost && is_bad) return kLost;
    return kOpen;
}

bool is_won(const Sum& sum) {
    ++steps;
    std::vector<Sum> answers;
    bool won = false;
    for (size_t n = sum.parts.size(); n-- > 0 && !won;) {
        const Part& part = sum.parts[n];
        const auto is_same = [&](const Part& other) { return other.name == part.name; };
        if (std::any_of(sum.parts.begin() + n + 1, sum.parts.end(), is_same)) continue;
        const auto take = [&](const std::vector<Part>& more) {
            if (won) return;
            Sum after;
            after.parts.reserve(sum.parts.size() + more.size());
            for (size_t other = 0; other < sum.parts.size(); ++other)
                if (other != n) after.parts.push_back(turned(sum.parts[other]));
            after.parts.insert(after.parts.end(), more.begin(), more.end());
            const Outcome outcome = reduce(&after);
            won = outcome == kLost;
            if (outcome != kOpen) return;
            for (const Sum& other : answers)
                if (other.name == after.name) return;
            for (const Part& left : after.parts)
                after.freedom += left.value < 0 ? 2 * mobility(left.stones)
                                                : int(lefts[left.value].size());
            answers.push_back(std::move(after));
        };
        std::vector<Part> more;
        if (part.value < 0) {
            moves(part.stones, [&](const Stones& after) {
                more.clear();
                split({after.other, after.own}, [&](const Stones& one) {
                    if (const Part found = part_of(one); found.value) more.push_back(found);
                });
                take(more);
            });
        } else {
            for (const int option : Options(lefts[part.value])) {
                more.clear();
                if (option) more.push_back(with_value(negative(option), std::max(1, part.size - 1)));
                take(more);
            }
        }
    }
    // First what leaves the other seat few moves.
    std::sort(answers.begin(), answers.end(),
              [](const Sum& one, const Sum& other) { return one.freedom < other.freedom; });
    for (size_t n = 0; n < answers.size() && !won; ++n) {
        const Outcome known = look_up(answers[n].name);
        won = known == kOpen ? !is_won(answers[n]) : known == kLost;
    }
    keep(sum, won);
    return won;
}

}  // namespace

int main() {
    number_of({}, {});
    Stones at;
    while (std::scanf("%" SCNu64 " %" SCNu64, &at.own, &at.other) == 2) {
        steps = 0;
        Sum sum;
        split(at, [&](const Stones& one) {
            if (const Part found = part_of(one); found.value) sum.parts.push_back(found);
        });
        const Outcome outcome = reduce(&sum);
        const bool won = outcome == kOpen ? is_won(sum) : outcome == kWon;
        std::printf("%d %" PRIu64 "\n", won, steps);
        std::fflush(stdout);
    }
    return 0;
}
