// A bot on the JavaScript kit that tells all it was told; see test_kits.py for what it says.

import { expect, log, number, options as chosen, play, tag } from "./arena_bot.mjs";

play({
  name: "probe",
  want: ["legal", "state"],
  declares: {
    depth: "int 1 20 6",
    width: "float 0 2.5 0.5",
    book: "bool true",
    style: "choice fast|solid solid",
  },
  newGame(game) {
    console.log("new game");
    const options = Object.keys(game.options).sort();
    log(`game ${game.name} ${options.map((key) => `${key}:${game.options[key]}`).join(",")}`);
    const { depth, width, book, style } = chosen;
    log(`options ${depth + 1} ${width / 2} ${book === false ? "no" : "yes"}`);
    log(`style ${style}`);
    log(`seat ${game.you} of ${game.seats}, seed ${game.seed}`);
    const wall = game.wall ? "wall" : "cpu";
    log(`times ${game.timeMs ?? -1} ${game.incMs} ${game.moveMs ?? -1} ${wall}`);
  },
  async choose(position) {
    const moves = position.moves.map(({ seat, move }) => `${seat}-${move}`).join(" ");
    log(`ply ${position.ply}\nmoves ${moves}.`);
    log(`out ${position.out.map(({ seat, ply }) => `${seat}-${ply}`).join(" ")}.`);
    log(`clocks ${position.clocksMs.join(" ")}`);
    log(`legal ${position.legal.join("+")}\nposition ${position.state}`);
    number("budget", position.budget);
    expect(0.25, position.legal.slice(0, 2), 3);
    tag("told");
    const [used, left] = [position.used(), position.left()];
    const clock = position.clocksMs[position.game.you - 1] / 1000;
    const right = used >= 0 && used < 0.5 && left > clock - 1 && left <= clock;
    log(right ? "times are right" : "wrong");
    if (position.ply === 0) {
      for (let i = 0; i < 40; i += 1) {
        log("x".repeat(3000));
      }
      return `${position.legal[0]} ${"\u00e9".repeat(5000)}`;
    }
    return `${position.legal.at(-1)} a remark\nof two lines \u00e9`;
  },
  gameOver({ ranks, scores, cause }) {
    log(`end ${ranks} ${scores} ${cause}`);
  },
});
