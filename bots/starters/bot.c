// Plays a random legal move: choose() is where it thinks.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dice;

// A number below sides, by the generator of Knuth's MMIX, whose upper bits are the good ones.
static size_t roll(size_t sides) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (dice >> 33) % sides;
}

static const char *choose(char **legal, size_t count) {
    return legal[roll(count)];
}

int main(void) {
    const char *space = " \r\n";
    char *line = NULL, *listed = NULL, **legal = NULL;
    size_t room = 0, count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); // a line leaves at once
    while (getline(&line, &room, stdin) > 0) {
        char *rest = line;
        const char *verb = strtok_r(line, space, &rest);
        if (!verb) {
            continue;
        } else if (!strcmp(verb, "hello")) {
            puts("ready example-c want=legal");
        } else if (!strcmp(verb, "newgame")) {
            const char *seed = strstr(rest, "seed=");
            dice = seed ? strtoull(seed + 5, NULL, 10) : 0;
            puts("ok");
        } else if (!strcmp(verb, "legal")) {
            free(listed);
            listed = strdup(rest);
            count = 0;
            char *place;
            for (char *move = strtok_r(listed, space, &place); move; move = strtok_r(NULL, space, &place)) {
                legal = realloc(legal, (count + 1) * sizeof *legal);
                legal[count++] = move;
            }
        } else if (!strcmp(verb, "go")) {
            printf("move %s\n", choose(legal, count));
        } else if (!strcmp(verb, "quit")) {
            return 0;
        }
    }
}
