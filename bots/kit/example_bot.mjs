// A whole bot on the kit: it plays a random legal move.

import { play } from "./arena_bot.mjs";

play({
  name: "example-js",
  choose: (position) => position.legal[position.roll(position.legal.length)],
});
