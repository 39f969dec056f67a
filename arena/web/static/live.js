// Shows a match while it is played, as its stream tells: every ply, at a speed that eyes can follow,
// and back and forth meanwhile. Where streams do not come through it asks again and again; and where
// nobody answers that, the page's own part renews itself. Everything goes on from the last event's
// id, without a gap.
"use strict";
const watch = (show) => {
  const SLOWEST = 700, QUICKEST = 150, CATCH_UP = 3000, REST = 2500; // milliseconds
  const FAR = 60, NEAR = 20; // plies: nobody follows so many, and is brought so near
  const muted = show.classList.contains("muted"); // a board alone, among other things
  const gone = new AbortController(); // of a show whose place another has taken
  const part = (name) => document.getElementById(`show-${name}`);
  const texts = show.dataset; // the page's, as are the names of the seats in the reader's language
  const seatNames = JSON.parse(texts.seats); // of each what it is called, and its class
  const called = (name) => seatNames[name]?.[0] ?? name;
  const [board, where, slider, moves, seats] = ["board", "where", "slider", "moves", "seats"].map(part);
  const rest = document.getElementById("live"); // what the page shows without this script
  const hasEnded = "ended" in show.dataset; // its end alone is played, below which its games stand
  const plays = new Map(); // what is known of each play of a game
  let seen = "";
  let shown = null; // the play that is looked at
  let ply = 0;
  let follows = true;
  let timer = null;
  let ended = null; // how the match ended, once it has
  let source = null;
  let failures = 0; // of its questions, since the last answer
  const logs = [...show.querySelectorAll("[data-player]")]; // of who looks: nobody else has any
  const written = new Map(), exchanged = new Map(); // of their bots, by game, try, player and ply
  const soon = (seconds) => 1000 * seconds * (0.75 + Math.random() / 2);

  const last = () => shown.boards.length - 1;
  const following = () => {
    const all = [...plays.values()];
    return all[all.indexOf(shown) + 1];
  };
  const clock = (ms) => {
    const tenths = Math.max(0, Math.ceil(ms / 100));
    const seconds = (tenths % 600) / 10;
    return tenths < 600 ? `${seconds.toFixed(1)} s` : `${Math.floor(tenths / 600)}:${String(Math.floor(seconds)).padStart(2, "0")}`;
  };

  const drawClocks = () => {
    if (!shown?.left) return;
    const runs = !ended && !following() ? shown.due : null;
    [...seats.rows].forEach((row, seat) => {
      const gone = seat === runs ? performance.now() - shown.since : 0;
      row.lastElementChild.textContent = clock(shown.left[seat] - gone);
    });
  };
  const drawSeats = () => {
    part("title").textContent = filled(texts.title, { number: shown.game + 1, games: shown.games });
    seats.replaceChildren(...shown.players.map(([name, player], seat) => {
      const row = document.createElement("tr");
      row.classList.toggle("picked", seat === shown.due);
      const its = document.createElement("span"); // with its colours, if its name says any
      its.className = seatNames[name]?.[1] ?? "";
      its.textContent = called(name);
      for (const part of [its, player, ""]) row.insertCell().append(part);
      row.cells[1].className = "text";
      const left = shown.out.find(([gone]) => gone === seat);
      if (left) {
        const words = document.createElement("small");
        words.className = "lost";
        words.textContent = filled(texts.left, { ply: left[1] + 1 });
        row.cells[1].append(" ", words);
      }
      row.lastElementChild.className = "number";
      return row;
    }));
    part("left").hidden = !shown.left;
    drawClocks();
  };
  // As the page of the ended game has them (arena/web/strips.py).
  const short = (value, digits) => String(Number(value.toPrecision(digits)));
  const told = (key) => shown.said.flatMap(([seat, values], at) => key in values ? [[at, seat, values[key]]] : []);
  const evaluations = () => shown.players.flatMap(([name], seat) => {
    const its = told("eval").filter(([, one]) => one === seat);
    if (!its.length) return [];
    const two = new Set(shown.sides).size === 2;
    const isShare = its.every(([, , value]) => value >= 0 && value <= 1);
    const turned = two && shown.sides[seat] !== shown.sides[0] ? -1 : 1;
    const values = its.map(([, , value]) => turned * (value - (isShare ? 0.5 : 0)));
    const sizes = values.map(Math.abs).sort((a, b) => a - b);
    const furthest = sizes.at(-1);
    const most = isShare ? 0.5 : Math.min(furthest, 1.5 * sizes[Math.ceil(0.9 * sizes.length) - 1]) || furthest || 1;
    const points = values.map((value, number) => [its[number][0], seat, 0.5 + Math.max(-1, Math.min(1, value / most)) / 2]);
    const side = called(two ? shown.players[0][0] : name);
    const [low, high] = isShare ? [0, 1] : [short(-most, 4), short(most, 4)];
    const isClipped = !isShare && furthest > most;
    const note = filled(isClipped ? texts.clipped : texts.range, { low, high, side, furthest: short(furthest, 4) });
    return [{ title: filled(texts.eval, { name: called(name) }), note, points, even: true }];
  });
  const numbers = () => {
    const keys = new Set(shown.said.flatMap(([, values]) => Object.keys(values)));
    keys.delete("eval");
    return [...keys].sort().slice(0, 4).map((key) => {
      const its = told(key);
      const [low, high] = [Math.min, Math.max].map((end) => its.reduce((most, [, , value]) => end(most, value), its[0][2]));
      const share = (value) => high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5; // the whole span may be too much
      const points = its.map(([at, seat, value]) => [at, seat, share(value)]);
      return { title: key, note: filled(texts.span, { low: short(low, 6), high: short(high, 6) }), points };
    });
  };
  const drawSaid = () => {
    const strips = [...evaluations(), ...numbers()];
    part("charts").hidden = !strips.length;
    const step = 1000 / Math.max(1, shown.said.length);
    const made = (name, attributes) => {
      const one = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
      return one;
    };
    const dressed = (seat) => `ink dash-${seat + 1} of-${shown.players[seat][0].toLowerCase().replaceAll(" ", "-")}`;
    part("values").replaceChildren(...strips.map(({ title, note, points, even }) => {
      const lines = new Map();
      for (const [at, seat, share] of points) {
        lines.set(seat, [...(lines.get(seat) ?? []), `${((at + 0.5) * step).toFixed(1)},${(37 - 34 * share).toFixed(1)}`]);
      }
      const picture = made("svg", { class: "strip", viewBox: "0 0 1000 40", preserveAspectRatio: "none", role: "img", "aria-label": `${title}, ${note}`, "data-step": step });
      if (even) picture.append(made("line", { class: "even", x2: 1000, y1: 20, y2: 20 }));
      for (const [seat, its] of lines) {
        const drawn = (its.length > 1 ? its : [...its, ...its]).join(" "); // a line of one is a dot
        picture.append(made("polyline", { class: `line ${dressed(seat)}`, points: drawn, fill: "none" }));
      }
      picture.append(made("line", { class: "now", y1: 0, y2: 40 }));
      const figure = document.createElement("figure"), name = document.createElement("strong");
      const caption = document.createElement("figcaption"), words = document.createElement("span");
      figure.className = "strip-figure";
      words.className = "faint";
      name.textContent = title;
      words.textContent = note;
      caption.append(name, " ", words);
      figure.append(caption, picture);
      return figure;
    }));
    part("legend").replaceChildren(...shown.players.flatMap(([name], seat) => {
      const one = document.createElement("span");
      one.className = `key ${dressed(seat)}`;
      one.textContent = called(name);
      return [one, " "];
    }));
  };
  const reads = (log) => !log.closest("[role=tabpanel]").hidden;
  const drawn = ([ms, text]) => {
    const line = document.createElement("li"), way = document.createElement("span");
    const sign = document.createElement("abbr"), words = document.createElement("code");
    sign.textContent = ms === null ? ">" : "<";
    sign.title = ms === null ? texts.told : texts.said;
    way.append(ms === null ? "" : `${short(ms, 3)} ms `, sign);
    words.textContent = text;
    line.append(way, " ", words);
    return line;
  };
  const nothing = () => {
    const line = document.createElement("li");
    line.className = "none faint";
    line.textContent = texts.noLog;
    return line;
  };
  const drawLogs = () => {
    for (const log of logs) {
      if (!shown || !reads(log)) continue;
      const at = [shown.game, shown.again, log.dataset.player, ply - 1].join(".");
      if (log.matches("pre")) log.textContent = written.get(at) ?? `${texts.noLog}\n`;
      else log.replaceChildren(...exchanged.get(at)?.map(drawn) ?? [nothing()]);
    }
  };
  const drawPly = () => {
    drawLogs();
    const lines = [], runs = shown.boards[ply];
    for (let at = 0; at < runs.length; at += 2) lines.push(...shown.parts.slice(runs[at], runs[at] + runs[at + 1]));
    board.innerHTML = lines.join("\n");
    for (let made = moves.children.length; made < shown.items.length; made += 1) {
      moves.insertAdjacentHTML("beforeend", shown.items[made]);
    }
    slider.max = String(last());
    slider.value = String(ply);
    where.textContent = filled(texts.where, { ply, last: last() });
    part("before").replaceChildren(...shown.before.map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    }));
    part("result").textContent = ply === last() ? shown.result : "";
    part("live").setAttribute("aria-pressed", String(follows));
    for (const now of part("values").querySelectorAll(".now")) {
      const x = ply * Number(now.parentNode.dataset.step);
      now.setAttribute("x1", x);
      now.setAttribute("x2", x);
    }
    moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    moves.children[ply - 1]?.setAttribute("aria-current", "true");
    follow();
  };
  const follow = () => {
    // Only the list scrolls: the page must not jump while the board is looked at.
    const move = moves.children[ply - 1];
    const top = move ? move.offsetTop - moves.offsetTop : 0;
    if (top < moves.scrollTop || top + (move?.offsetHeight ?? 0) > moves.scrollTop + moves.clientHeight) {
      moves.scrollTop = top - moves.clientHeight / 2;
    }
  };
  const choose = (play, at) => {
    shown = play;
    ply = at;
    moves.replaceChildren();
    show.hidden = false;
    rest.hidden = !hasEnded;
    drawSeats();
    drawSaid();
    drawPly();
  };

  // One ply after the other, the quicker the more there are to come, but so that eyes can follow.
  const step = () => {
    timer = null;
    if (!shown || !follows) return;
    const behind = last() - ply;
    if (behind > 0) {
      ply = behind > FAR ? last() - NEAR : ply + 1;
      drawPly();
      wait(Math.max(QUICKEST, Math.min(SLOWEST, CATCH_UP / behind)));
    } else if (following()) {
      wait(REST, () => choose(following(), 0));
    } else if (ended !== null) {
      finish();
    }
  };
  const wait = (ms, first = () => {}) => {
    timer ??= setTimeout(() => {
      timer = null;
      if (follows) first();
      step();
    }, ms);
  };
  const finish = () => {
    part("words").textContent = ended;
    if (muted) {
      setTimeout(() => htmx.trigger(show, "next"), 1000 * show.dataset.next);
      return;
    }
    rest.hidden = false;
    if (!hasEnded) htmx.trigger(rest, "look"); // which games it had, and what came of them
    if (show.dataset.next) reload(Number(show.dataset.next));
  };

  const takePlies = (id, told) => {
    const attempt = id.split(".")[0];
    if (plays.size && attempt !== show.dataset.attempt) {
      plays.clear(); // it is played anew
      written.clear();
      exchanged.clear();
      shown = null;
    }
    show.dataset.attempt = attempt;
    const name = `${told.game}.${told.again}`;
    if (!plays.has(name)) {
      if (told.first) return;
      plays.set(name, { parts: [], boards: [], items: [], said: [], game: told.game, again: told.again });
    }
    const play = plays.get(name);
    play.parts.splice(told.at, Infinity, ...told.parts);
    play.boards.splice(told.first, Infinity, ...told.boards);
    play.items.splice(Math.max(0, told.first - 1), Infinity, ...told.items);
    play.said.splice(Math.max(0, told.first - 1), Infinity, ...told.said);
    for (const key of ["out", "due", "left", "result", "games", "players", "sides", "before"]) if (key in told) play[key] = told[key];
    play.since = performance.now();
    if (!shown) {
      choose(play, Math.max(0, play.boards.length - 1 - (hasEnded ? NEAR : 0)));
    } else if (play === shown) {
      drawSeats();
      drawSaid();
      drawPly();
    }
    wait(0);
  };
  const take = (kind, id, told) => {
    seen = id;
    if (kind === "plies") {
      takePlies(id, told);
    } else if (kind === "log") {
      for (const [known, its] of [[written, told.logs], [exchanged, told.lines]]) {
        for (const [player, at, what] of its) known.set([told.game, told.again, player, at].join("."), what);
      }
      drawLogs();
    } else if (kind === "words") {
      part("words").textContent = told;
    } else {
      ended = told;
      source?.close();
      if (shown) wait(0); else finish();
    }
  };

  const asked = () => logs.filter(reads).map((log) => `log=${log.dataset.player}&`).join("");
  const address = (more) => `${show.dataset.stream}?${more}${asked()}after=${seen}`;
  const listen = () => {
    source?.close();
    if (ended !== null) return;
    const mine = (source = new EventSource(address("")));
    const ask = () => { mine.close(); if (source === mine) poll(1); };
    const silent = setTimeout(ask, 8000); // something always comes at once
    for (const kind of ["plies", "words", "log", "over"]) {
      mine.addEventListener(kind, (event) => {
        clearTimeout(silent);
        take(kind, event.lastEventId, JSON.parse(event.data));
      });
    }
    mine.addEventListener("error", () => {
      if (mine.readyState !== EventSource.CLOSED) return; // it comes back by itself
      clearTimeout(silent);
      // Of thousands whom a process had told that has ended not all are to ask all the time.
      if (seen && !asked()) setTimeout(() => { if (source === mine) listen(); }, soon(4)); else ask();
    });
  };
  const poll = async (count) => {
    source = null;
    try {
      const found = await fetch(address("once=1&"));
      if (asked() && (found.redirected || [401, 403].includes(found.status))) {
        // Whoever asks has signed out, or the bot is another's by now.
        for (const log of logs.splice(0)) log.closest("[role=tabpanel]").remove();
        show.querySelector("[role=tablist]").remove();
        moves.parentNode.hidden = false;
        written.clear();
        exchanged.clear();
        listen();
        return;
      }
      if (!found.ok) throw new Error(found.statusText);
      for (const [kind, id, told] of await found.json()) take(kind, id, told);
      failures = 0;
    } catch {
      failures += 1;
      rest.hidden = false;
      htmx.trigger(rest, "look");
    }
    const seconds = Math.min(1 + failures, 15);
    if (ended === null) setTimeout(() => { if (!source) (count % 20 ? poll(count + 1) : listen()); }, soon(seconds));
  };
  // Nobody looks at a page in the background.
  const { signal } = gone;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) source?.close();
    else if (muted && ended !== null) htmx.trigger(show, "next");
    else listen();
  }, { signal });
  addEventListener("pagehide", () => source?.close(), { signal });

  const go = (target) => {
    ply = Math.min(Math.max(target, 0), last());
    follows = false;
    drawPly();
  };
  const steps = {
    first: () => go(0), previous: () => go(ply - 1), next: () => go(ply + 1), last: () => go(last()),
    live: () => {
      follows = true;
      const newest = [...plays.values()].at(-1);
      choose(newest, newest.boards.length - 1);
      wait(0);
    },
  };
  const chosen = () => {
    drawLogs();
    follow(); // what is hidden has no height
    listen();
  };
  document.addEventListener("tabs:chosen", chosen, { signal });
  slider.addEventListener("input", () => go(Number(slider.value)));
  part("values").addEventListener("click", (event) => {
    const strip = event.target.closest(".strip");
    if (!strip) return;
    const box = strip.getBoundingClientRect();
    go(Math.ceil(((event.clientX - box.left) / box.width) * last()));
  });
  show.addEventListener("click", (event) => {
    const button = event.target.closest("[data-go]");
    const move = event.target.closest("a[data-ply]");
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(button || move)) return;
    event.preventDefault();
    if (button) steps[button.dataset.go](); else go(Number(move.dataset.ply));
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.composedPath()[0].isContentEditable) return; // as in an editor
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "live" };
    const wanted = keys[event.key];
    if (!wanted || !shown || muted || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    steps[wanted]();
  }, { signal });
  const clocks = setInterval(drawClocks, 200);
  signal.addEventListener("abort", () => {
    clearInterval(clocks);
    clearTimeout(timer);
    source?.close();
    ended ??= ""; // it asks no more
  });
  listen();
  return gone;
};

const reload = (seconds) => { setTimeout(() => location.reload(), seconds * 1000); };
document.addEventListener("DOMContentLoaded", () => {
  if (document.querySelector("[data-again]")) reload(5); // nothing is played: perhaps soon
  let shown = null, gone = null;
  const look = () => {
    const show = document.getElementById("show");
    if (show === shown) return;
    gone?.abort();
    shown = show;
    gone = show && watch(show);
  };
  look();
  document.addEventListener("htmx:after:swap", look); // where one match takes another's place
});
