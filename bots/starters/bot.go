// Plays a random legal move: choose is where it thinks.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
)

// The longest line that a referee sends.
const longestLine = 16 << 20

func choose(legal []string, dice *rand.Rand) string {
	return legal[dice.Intn(len(legal))]
}

func seedIn(words []string) int64 {
	for _, word := range words {
		if strings.HasPrefix(word, "seed=") {
			seed, _ := strconv.ParseInt(word[len("seed="):], 10, 64)
			return seed
		}
	}
	return 0
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine+1)
	dice := rand.New(rand.NewSource(0))
	var legal []string
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "hello":
			fmt.Println("ready example-go want=legal")
		case "newgame":
			dice = rand.New(rand.NewSource(seedIn(words)))
			fmt.Println("ok")
		case "legal":
			legal = words[1:]
		case "go":
			fmt.Println("move", choose(legal, dice))
		case "quit":
			return
		}
	}
}
