// Steps through a game without loading the page anew. Every step also works without this script;
// boards come from the server, which alone knows the game's rules. A game that no server keeps has
// them in its page: the lines that they are made of, and for each board runs of these.
"use strict";
const NORMAL = 700; // milliseconds for a ply
const unpacked = ({ parts, boards }) => boards.map((runs) => {
  const lines = [];
  for (let at = 0; at < runs.length; at += 2) lines.push(...parts.slice(runs[at], runs[at] + runs[at + 1]));
  return lines.join("\n");
});
document.addEventListener("DOMContentLoaded", () => {
  const replay = document.getElementById("replay");
  const board = document.getElementById("replay-board");
  const where = document.getElementById("replay-where");
  const slider = document.getElementById("replay-slider");
  const speed = document.getElementById("replay-speed");
  const keys = document.getElementById("replay-keys");
  const picture = document.getElementById("replay-picture");
  const analyse = document.getElementById("analyse");
  const moves = replay.querySelector(".moves");
  const button = (action) => replay.querySelector(`[data-go="${action}"]`);
  const playing = button("play").querySelector("path");
  const plies = Number(replay.dataset.plies);
  const base = replay.dataset.base;
  const embedded = "embedded" in replay.dataset; // only the board and its buttons
  const inside = document.getElementById("replay-boards");
  const boards = new Map(inside ? unpacked(JSON.parse(inside.textContent)).entries() : []);
  const language = document.documentElement.lang;
  const shown = replay.dataset.drawn ?? (language === "en" ? "/board" : `/board?lang=${language}`);
  const address = (target) => inside ? `#${target}` : `${base}/${target}${location.search}`;
  const made = moves ? [...moves.querySelectorAll(":scope > li:not(.left)")] : []; // faults are in it, too
  const playLabel = button("play").getAttribute("aria-label");
  const at = (its, text = where.dataset.at) => filled(text, { ply: its, last: plies });
  let ply = Number(replay.dataset.ply);
  let run = null; // the present play, for only one may go on

  const drawn = (target) => {
    if (!boards.has(target)) {
      const answer = fetch(`${base}/${target}${shown}`).then((found) => {
        if (!found.ok) throw new Error(found.statusText);
        return found.text();
      });
      answer.catch(() => boards.delete(target));
      boards.set(target, answer);
    }
    return boards.get(target);
  };

  const follow = () => {
    // Only the list scrolls: the page must not jump while the board is looked at.
    const move = made[ply - 1];
    const top = move ? move.offsetTop - moves.offsetTop : 0;
    if (top < moves.scrollTop || top + (move?.offsetHeight ?? 0) > moves.scrollTop + moves.clientHeight) {
      moves.scrollTop = top - moves.clientHeight / 2;
    }
  };
  document.addEventListener("tabs:chosen", follow); // what is hidden has no height
  const mark = () => {
    replay.dispatchEvent(new CustomEvent("replay:ply", { detail: ply }));
    slider.value = String(ply);
    where.textContent = at(ply);
    button("previous").href = address(Math.max(ply - 1, 0));
    button("next").href = address(Math.min(ply + 1, plies));
    if (embedded) return;
    if (picture) picture.href = `${base}/${ply}.svg`;
    for (const link of replay.querySelectorAll("[data-go-on]")) {
      link.href = `${base}/${ply}/${link.dataset.goOn}`;
      link.hidden = ply > Number(link.dataset.until ?? plies);
    }
    if (analyse) analyse.href = `${base}/analysis?node=${ply}`;
    moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    made[ply - 1]?.setAttribute("aria-current", "true");
    follow();
    for (const strip of replay.querySelectorAll("[data-step]")) {
      const line = strip.querySelector(".now");
      for (const end of ["x1", "x2"]) line.setAttribute(end, String(ply * Number(strip.dataset.step)));
    }
  };

  const go = async (wanted) => {
    const target = Math.min(Math.max(wanted, 0), plies);
    ply = target;
    mark();
    if (!embedded) history.replaceState(null, "", address(target));
    try {
      const found = await drawn(target);
      // Whoever stepped on meanwhile does not want this board any more.
      if (ply === target) board.innerHTML = found;
      if (ply === target && target < plies) drawn(target + 1);
    } catch {
      stop();
      if (ply === target) where.textContent = at(ply, where.dataset.noBoard);
    }
  };

  const stop = () => {
    run = null;
    playing.setAttribute("d", "M4 2v12l9-6z");
    button("play").setAttribute("aria-label", playLabel);
    where.removeAttribute("aria-live");
  };
  const play = async () => {
    if (run) return stop();
    const mine = (run = {});
    playing.setAttribute("d", "M3 2h4v12H3zM9 2h4v12H9z");
    button("play").setAttribute("aria-label", button("play").dataset.pause);
    where.setAttribute("aria-live", "off"); // it would not be heard out before the next one
    if (ply === plies) await go(0);
    while (run === mine && ply < plies) {
      await new Promise((done) => { setTimeout(done, Number(speed.value)); });
      if (run === mine) await go(ply + 1);
    }
    if (run === mine) stop();
  };
  const change = (by) => {
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + by, 0), speed.length - 1);
  };
  const steps = {
    first: () => go(0), previous: () => go(ply - 1), next: () => go(ply + 1),
    last: () => go(plies), play,
    quicker: () => change(1), slower: () => change(-1),
    keys: () => { if (keys.open) keys.close(); else keys.showModal(); },
  };

  for (const control of [slider, speed, button("play"), button("keys")]) control.hidden = false;
  const named = inside && /^#(\d{1,6})$/.exec(location.hash);
  if (named) go(Number(named[1])); else mark();
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  replay.addEventListener("click", (event) => {
    const step = event.target.closest("[data-go]");
    const move = event.target.closest("a[data-ply]");
    const strip = event.target.closest("[data-step]");
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(step || move || strip)) return;
    event.preventDefault();
    if (!["play", "keys"].includes(step?.dataset.go)) stop();
    if (step) {
      steps[step.dataset.go]();
    } else if (move) {
      go(Number(move.dataset.ply));
    } else {
      const box = strip.getBoundingClientRect();
      go(Math.ceil(((event.clientX - box.left) / box.width) * plies));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.composedPath()[0].isContentEditable) return; // as in an editor
    const meant = {
      ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last",
      " ": "play", "+": "quicker", "-": "slower", "?": "keys",
    };
    const step = meant[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key.length > 1)) return;
    // Fields have uses of their own for these keys, as have tabs and an open dialog; a space presses what has the focus.
    if (event.target.matches("input, select, textarea, [role=tab]") || (keys.open && step !== "keys")) return;
    if (step === "play" && event.target.closest("a, button, summary")) return;
    event.preventDefault();
    if (!["play", "quicker", "slower", "keys"].includes(step)) stop();
    steps[step]();
  });
  // What an address asks of an embedded replay.
  const asked = new URLSearchParams(embedded ? location.search : "");
  const wanted = Number(asked.get("speed"));
  if (wanted > 0) {
    const ms = [...speed.options].map((one) => Math.abs(Math.log(Number(one.value) * wanted / NORMAL)));
    speed.selectedIndex = ms.indexOf(Math.min(...ms));
  }
  if (asked.has("autoplay")) play();
});
