// Plays a random legal move: choose is where it thinks.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Random;

public class Bot {
    private static String choose(List<String> legal, Random dice) {
        return legal.get(dice.nextInt(legal.size()));
    }

    private static long seedIn(List<String> words) {
        for (String word : words) {
            if (word.startsWith("seed=")) {
                return Long.parseLong(word.substring("seed=".length()));
            }
        }
        return 0;
    }

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        var dice = new Random();
        List<String> legal = List.of();
        for (String line; (line = lines.readLine()) != null; ) {
            List<String> words = List.of(line.trim().split(" +"));
            switch (words.get(0)) {
                case "hello" -> System.out.println("ready example-java want=legal");
                case "newgame" -> {
                    dice = new Random(seedIn(words));
                    System.out.println("ok");
                }
                case "legal" -> legal = words.subList(1, words.size());
                case "go" -> System.out.println("move " + choose(legal, dice));
                case "quit" -> {
                    return;
                }
                default -> { }
            }
        }
    }
}
