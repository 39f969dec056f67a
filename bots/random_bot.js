// Plays a random legal move. It knows no rules: the referee lists the moves.

const readline = require("node:readline");

let dice = 0;
let legal = [];

function roll(sides) {
  // The generator of ANSI C: 31 bits, of which the upper ones are the good dice.
  dice = (Math.imul(dice, 1103515245) + 12345) & 0x7fffffff;
  return (dice >> 16) % sides;
}

const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });

lines.on("line", (line) => {
  const [verb, ...words] = line.trim().split(/\s+/);
  if (verb === "hello") {
    console.log("ready random-js want=legal");
  } else if (verb === "newgame") {
    const seed = words.find((word) => word.startsWith("seed="));
    dice = seed ? Number(seed.slice(5)) : 0;
    console.log("ok");
  } else if (verb === "legal") {
    legal = words;
  } else if (verb === "go") {
    console.log(`move ${legal[roll(legal.length)]}`);
  } else if (verb === "quit") {
    process.exit();
  }
});
