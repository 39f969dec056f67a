// Grows in the compiler's memory, twice as large with each step.
template <unsigned long Depth, typename... More>
struct Bomb {
    static constexpr unsigned long value =
        Bomb<Depth - 1, More..., int>::value + Bomb<Depth - 1, More..., char>::value;
};
template <typename... More>
struct Bomb<0, More...> {
    static constexpr unsigned long value = 1;
};
int main() { return static_cast<int>(Bomb<40>::value); }
