// The kit for bots in JavaScript (Node 16 or later): write `choose`, and this file speaks the
// protocol for you. Copy it beside your bot. A whole bot:
//
//   import { play } from "./arena_bot.mjs";
//
//   play({
//     name: "mine",
//     choose: (position) => position.legal[position.roll(position.legal.length)],
//   });
//
// `play` takes an object with
//
//   name       what the bot calls itself (default "bot")
//   want       what it wants to be told before each move: ["legal"] (the default), ["state"],
//              both, or []
//   declares   what can be chosen about it: { depth: "int 1 20 6" } (see the protocol's page)
//   newGame(game)       a game begins; it may be the second in this process
//   choose(position)    returns the move; behind it, after a space, there may be a remark
//   gameOver(end)       the game has ended: { ranks, scores, cause }
//
// A position has legal (["a2a1", ...]), state (its text), moves ([{ seat: 1, move: "a2a1" }, ...]),
// ply, out, clocksMs, roll(sides), used(), left() and budget (seconds), and game, which has name,
// options, seats, you (your seat, from 1) and seed; readTurn and readGame below say the rest.
//
// What was chosen of what it declares, or is so by default, is in `options`, which you import as
// you do `play`: `options.depth` is a number then.
//
// Each of the three may be async. `console.log` is safe: what it prints goes to standard error,
// which is kept for you, and never in between the lines of the protocol. An exception ends the
// bot, and with it the game.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const LONGEST_LINE = 4096; // bytes of a line that the referee reads
const LONGEST_LOG = 60_000; // bytes of # lines that we send a ply; the referee takes 64 KiB
const NOT_OPTIONS = ["seats", "you", "time", "inc", "move", "clock", "seed"];

/** What is chosen about the bot, or is so by default: known when a game begins. */
export const options = {};

let noted = 0;

/** Writes to the log of this game, which only you can read. */
export function log(text) {
  for (const line of String(text).split(/\r?\n/)) {
    note(`# ${line}`);
  }
}

/** Gives a number for this ply, drawn as a chart beside the replay. */
export function number(key, value) {
  note(`# ${key} ${Number(Number(value).toPrecision(10))}`);
}

/**
 * Says what you expect of this ply; pages show it beside the board. The share is your side's: 1 to
 * win, 0 to lose, a half for a draw. The line has the moves that you expect, your own first; the
 * depth is how many plies you looked ahead.
 */
export function expect(share, line = [], depth = undefined) {
  number("eval", share);
  if (depth !== undefined) {
    number("depth", depth);
  }
  if (line.length) {
    note(`# pv ${line.join(" ")}`);
  }
}

/** Marks this ply, and by it the game, with a word by which it is found again. */
export function tag(word) {
  note(`# tag ${word}`);
}

function note(line) {
  noted += Math.min(Buffer.byteLength(line), LONGEST_LINE) + 1;
  if (noted <= LONGEST_LOG) {
    write(line);
  }
}

/** Writes one line, whatever is in the text, and no longer than the referee reads. */
function write(text) {
  let line = Buffer.from(text.replace(/[\r\n]+/g, " "));
  if (line.length > LONGEST_LINE) {
    // A letter that is cut in two becomes U+FFFD, of three bytes, and is dropped.
    line = Buffer.from(line.toString("utf8", 0, LONGEST_LINE).replace(/\uFFFD+$/, ""));
  }
  writeSync(1, `${line}\n`);
}

/** A word in two, before and behind its first `sign`. */
function halves(word, sign) {
  const place = word.indexOf(sign);
  return [word.slice(0, place), word.slice(place + 1)];
}

function keysIn(words) {
  const pairs = words.filter((word) => word.includes("="));
  return Object.fromEntries(pairs.map((word) => halves(word, "=")));
}

function numbers(text) {
  return text.split(",").map(Number);
}

/** A function that returns a random whole number from 0 to sides - 1 (mulberry32). */
function dice(seed) {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * sides);
  };
}

/** The game of the words behind `newgame`. */
function readGame([name, ...words]) {
  const keys = keysIn(words);
  // In the Siege the number of seats is an option, too: then it is said twice.
  const twice = words.filter((word) => word.startsWith("seats=")).length > 1;
  const options = Object.entries(keys).filter(
    ([key]) => !NOT_OPTIONS.includes(key) || (key === "seats" && twice),
  );
  const seed = Number(keys.seed ?? 0);
  return {
    name, // which game, e.g. "clobber"
    options: Object.fromEntries(options), // of its variant, e.g. { size: "6x7" }
    seats: Number(keys.seats),
    you: Number(keys.you), // your seat, counted from 1
    seed, // for your own dice
    timeMs: keys.time === undefined ? null : Number(keys.time), // the clock, if there are clocks,
    incMs: Number(keys.inc ?? 0), // and what a move adds to it
    moveMs: keys.move === undefined ? null : Number(keys.move), // the time for each move, if fixed
    wall: keys.clock === "wall", // whether wall time is charged, and not CPU time
    roll: dice(seed), // roll(6) is a random number from 0 to 5
  };
}

/** The position of the words behind `go`. */
function readTurn(game, words, told, used) {
  const start = words.indexOf("moves");
  const keys = keysIn(words.slice(0, start));
  const clocksMs = numbers(keys.clocks);
  const left = clocksMs[game.you - 1] / 1000;
  const most = left - (0.02 + left / 20);
  const share = game.moveMs === null ? left / 30 + (0.8 * game.incMs) / 1000 : most;
  return {
    game,
    ply: Number(words[0]), // how many moves were played
    moves: words.slice(start + 1).map((word) => {
      const [seat, move] = halves(word, ":");
      return { seat: Number(seat), move };
    }),
    out: (keys.out ? keys.out.split(",") : []).map((word) => {
      const [seat, ply] = halves(word, "@").map(Number);
      return { seat, ply }; // left the game by a fault, before this ply
    }),
    clocksMs, // what is left on every seat's clock, seat 1 first
    legal: told.legal ? told.legal.split(/\s+/) : [], // the legal moves, if you want them
    state: told.state, // the position text, if you want it
    roll: game.roll,
    used, // used() is the seconds that this move has cost you so far
    left: () => left - used(), // seconds left on your clock now
    budget: Math.max(0, Math.min(share, most)), // a sensible number of seconds for this move
  };
}

/** The value of an option that is declared as `int 1 20 6` or so. */
function valueOf(declared, text) {
  const kind = declared.split(" ", 1)[0];
  if (kind === "bool") {
    return text === "true";
  }
  return kind === "int" || kind === "float" ? Number(text) : text;
}

/** Plays until the referee says `quit`. */
export async function play({
  name = "bot",
  want = ["legal"],
  declares = {},
  newGame,
  choose,
  gameOver,
}) {
  for (const [option, words] of Object.entries(declares)) {
    options[option] = valueOf(words, words.split(" ").at(-1));
  }
  console.log = console.info = console.debug = console.error;
  const wanted = want.length ? ` want=${want.join(",")}` : "";
  const told = { legal: "", state: "" };
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  const wall = () => performance.now() / 1000;
  let game = null;
  let answered = cpu();
  let came = null;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    came ??= wall();
    const [verb] = line.split(/\s/, 1);
    const rest = line.slice(verb.length).trim();
    if (verb === "hello") {
      for (const [option, words] of Object.entries(declares)) {
        write(`# option ${option} ${words}`);
      }
      write(`ready ${name}${wanted}`);
    } else if (verb === "newgame") {
      game = readGame(rest.split(/\s+/));
      await newGame?.(game);
      write("ok");
    } else if (verb === "legal" || verb === "state") {
      told[verb] = rest;
      continue;
    } else if (verb === "set") {
      const [option, value] = halves(rest, " ");
      options[option] = valueOf(declares[option] ?? "text", value);
    } else if (verb === "go") {
      const start = game.wall ? came : answered;
      const used = () => (game.wall ? wall() : cpu()) - start;
      write(`move ${await choose(readTurn(game, rest.split(/\s+/), told, used))}`);
      noted = 0;
    } else if (verb === "end") {
      const { ranks, scores, cause } = keysIn(rest.split(/\s+/));
      await gameOver?.({ ranks: numbers(ranks), scores: numbers(scores), cause });
    } else if (verb === "quit") {
      break;
    }
    answered = cpu();
    came = null;
  }
  process.exit();
}
