// A compiled sample, with one thing more: as `rules` it reads games, each a line of the options,
// the word `moves` and the moves, and says at every ply of them which moves it thinks legal.

#define main bot_main
#include SAMPLE
#undef main

int main(int count, char** words) {
    if (count < 2 || std::string(words[1]) != "rules") return bot_main();
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream told(line);
        arena::Keys options;
        std::string word;
        while (told >> word && word != "moves") {
            const std::size_t equals = word.find('=');
            options[word.substr(0, equals)] = word.substr(equals + 1);
        }
        Board board(options);
        do {
            for (const std::string& move : board.legal()) std::cout << move << ' ';
            std::cout << '\n';
        } while (told >> word && (board.play(word), true));
    }
}
