// Plays by clicks without loading the page anew. Each click is a link or a form that also works
// without this script; the server alone knows the rules, and says what may be clicked next.
// Pieces of several squares are held over the board here, to be turned, mirrored and laid.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const SVG = "http://www.w3.org/2000/svg";
  const sitting = () => document.getElementById("sitting");
  const board = () => document.getElementById("play-board");
  const confirmButton = () => document.getElementById("confirm");
  const undoButton = () => document.getElementById("undo");
  const asks = () => !("atOnce" in sitting().dataset);
  const BESIDE = "#tray .open a, .choosing > .row a[data-at]:not(#undo)";
  let busy = false;
  let held = null;

  // What a refusal says stands here alone: where a move was sent to, there is no page to go to.
  const refuse = (page) => {
    const said = page.getElementById("main");
    if (!said) return location.reload();
    held = null;
    document.getElementById("main").replaceWith(said);
    document.title = page.title;
    said.focus();
  };

  // A browser's own page about a lost connection would hide the game. The next answer removes this.
  const unreached = () => {
    if (document.getElementById("unreached")) return;
    const said = document.createElement("p");
    said.id = "unreached";
    said.className = "flash bad";
    said.setAttribute("role", "alert");
    said.textContent = sitting().dataset.unreached;
    document.getElementById("turn")?.before(said);
  };

  const show = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.getElementById("sitting");
    if (!fresh) return refuse(page);
    const chosen = [...sitting().querySelectorAll("#play-board a.chosen")].at(-1)?.dataset.click;
    const within = sitting().contains(document.activeElement);
    held = null;
    sitting().replaceWith(fresh);
    document.title = page.title;
    htmx.process(fresh);
    const letGo = chosen && fresh.querySelector(`[data-click="${CSS.escape(chosen)}"]`);
    // Once something is chosen it goes on: on the board, else beside it.
    const next = fresh.querySelector("#undo[data-at]") &&
      (fresh.querySelector("#play-board a.on") || fresh.querySelector(BESIDE));
    const complete = fresh.querySelector("form #confirm");
    ready();
    // Who plays by keyboard goes on from here, not from the top of the page.
    const turn = document.getElementById("turn"), there = complete || next || letGo;
    if (within) (there || turn).focus({ preventScroll: true });
    // What has the focus is read out, and what comes into a region that was there before.
    document.getElementById("told").textContent = there ? turn.innerText : "";
    // Where it goes on beside the board, that may be out of sight in a small window.
    if (!fresh.querySelector("#play-board a:is(.first, .on)")) {
      fresh.querySelector(".choosing")?.scrollIntoView({ block: "nearest" });
    }
    settle();
  };

  const send = async (address, form) => {
    if (busy) return;
    busy = true;
    try {
      const answer = await fetch(address, form ? { method: "POST", body: form } : {});
      show(await answer.text());
    } catch {
      unreached();
    } finally {
      busy = false;
    }
  };

  const play = (move) => {
    const form = sitting().querySelector('form[action$="/move"]');
    const data = new FormData(form);
    data.set("move", move);
    send(form.action, data);
  };

  // Pieces are turned by the script alone. Their buttons' room is kept from the start.
  const ready = () => {
    for (const part of document.querySelectorAll("#turning")) part.hidden = false;
  };

  // When the game is over, its replay needs a script that this page did not load.
  const settle = () => {
    if (document.getElementById("replay") && !document.querySelector('script[src*="replay.js"]')) {
      // Who was here goes on from what came of the game, not from the top of the page.
      if (sitting().contains(document.activeElement)) history.replaceState("over", "");
      location.reload();
    }
  };
  if (history.state === "over") {
    history.replaceState(null, "");
    document.getElementById("turn").focus({ preventScroll: true });
  }

  // ---- Pieces of several squares ----

  const corner = (cells) => {
    const [left, low] = [0, 1].map((axis) => Math.min(...cells.map((cell) => cell[axis])));
    return cells.map(([x, y]) => [x - left, y - low]);
  };
  const key = (cells) => cells.map(String).sort().join(" ");
  const turns = {
    left: ([x, y]) => [-y, x],
    right: ([x, y]) => [y, -x],
    mirror: ([x, y]) => [-x, y],
  };

  const squaresOf = (svg) => {
    const found = new Map();
    for (const square of svg.querySelectorAll("rect.square")) {
      const side = Number(square.getAttribute("width"));
      const x = Number(square.getAttribute("x")), y = Number(square.getAttribute("y"));
      found.set(square.dataset.square, { side, x, y, cell: [Math.round(x / side), -Math.round(y / side)] });
    }
    return found;
  };

  // The square of the piece that is under the pointer: the one nearest to its middle.
  const grip = (cells) => {
    const middle = [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length);
    const far = ([x, y]) => (x - middle[0]) ** 2 + (y - middle[1]) ** 2;
    return cells.reduce((best, cell) => (far(cell) < far(best) ? cell : best));
  };
  const lying = (cells, at) => {
    const by = grip(cells);
    return cells.map(([x, y]) => [x - by[0] + at[0], y - by[1] + at[1]]);
  };
  const fitting = (cells) =>
    [...held.squares.values()].filter((square) => held.moves.has(key(lying(cells, square.cell))));

  const pick = async (button, byKey) => {
    const tray = document.getElementById("tray");
    const name = button.dataset.piece;
    let found;
    try {
      const answer = await fetch(`${tray.dataset.moves}?${new URLSearchParams({ at: name })}`);
      found = answer.ok ? Object.entries(await answer.json()) : [];
    } catch {
      return unreached();
    }
    // A piece with no move was placed meanwhile in another window: the page is to show it.
    if (!found.length) return send(button.getAttribute("href"));
    const svg = board().querySelector("svg");
    const squares = squaresOf(svg);
    const moves = new Map();
    for (const [move, names] of found) {
      moves.set(key(names.map((one) => squares.get(one).cell)), move);
    }
    const cells = button.dataset.shape.split(" ").map((cell) => cell.split(",").map(Number));
    drop();
    held = { name, called: button.dataset.called, paint: button.dataset.paint, cells: corner(cells), squares, moves, svg, at: null, laid: false };
    button.setAttribute("aria-pressed", "true");
    // The first way in which it fits anywhere, so that the board is never without a mark.
    for (let way = 0; way < 8 && !fitting(held.cells).length; way += 1) {
      held.cells = corner(held.cells.map(way === 3 ? turns.mirror : turns.right));
    }
    held.at = fitting(held.cells)[0]?.cell ?? [...squares.values()][0].cell;
    board().tabIndex = 0;
    board().setAttribute("role", "application");
    board().setAttribute("aria-label", tray.dataset.boardKeys);
    board().focus({ preventScroll: true });
    for (const one of document.querySelectorAll("[data-turn]")) one.disabled = false;
    held.undone = undoButton().disabled;
    undoButton().disabled = false;
    draw();
    const { top, bottom } = board().getBoundingClientRect();
    if ((top + bottom) / 2 > window.innerHeight || bottom < 0) board().scrollIntoView({ block: "nearest" });
    if (byKey) follow();
  };

  // How the piece lies stands in the place of what is asked.
  const tell = (words) => {
    document.getElementById("fitting").textContent = words;
    document.getElementById("asked").hidden = Boolean(words);
  };

  const drop = () => {
    if (!held) return;
    held.svg.querySelector(".held")?.remove();
    document.querySelector('[data-piece][aria-pressed="true"]')?.removeAttribute("aria-pressed");
    for (const one of document.querySelectorAll("[data-turn]")) one.disabled = true;
    undoButton().disabled = held.undone;
    confirmButton().disabled = true;
    tell("");
    board().removeAttribute("tabindex");
    board().removeAttribute("role");
    board().removeAttribute("aria-label");
    held = null;
  };

  const element = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  };

  const draw = () => {
    held.svg.querySelector(".held")?.remove();
    const group = element("g", { class: "held" });
    const places = fitting(held.cells);
    for (const { x, y, side } of places) {
      group.append(element("circle", { class: "target", cx: x + side / 2, cy: y + side / 2, r: side / 7 }));
    }
    const cells = lying(held.cells, held.at);
    const fits = held.moves.has(key(cells));
    const covered = [...held.squares].filter(([, square]) => cells.some((cell) => String(cell) === String(square.cell)));
    for (const [, { x, y, side }] of covered) {
      group.append(element("rect", { class: `ghost of-${held.paint} ${fits ? "fits" : "not"} ${held.laid ? "laid" : ""}`, x, y, width: side, height: side }));
    }
    held.svg.append(group);
    const where = covered.map(([name]) => name).join(" ");
    const texts = document.getElementById("tray").dataset;
    const said = !places.length ? texts.fitsNowhere : fits ? texts.fits : texts.fitsElsewhere;
    tell(filled(said, { piece: held.called, squares: where, places: places.length }));
    confirmButton().disabled = !(held.laid && fits);
  };

  // Whoever moves it by keys sees it; a pointer is where it is looked at already.
  const follow = () => {
    for (const part of held.svg.querySelectorAll(".ghost")) part.scrollIntoView({ block: "nearest" });
  };

  const place = () => {
    const move = held.moves.get(key(lying(held.cells, held.at)));
    if (move) play(move);
  };

  // It stays where it is laid, and waits for Confirm, unless moves are played at once.
  const lay = (byKey) => {
    if (!held.moves.has(key(lying(held.cells, held.at)))) return;
    if (!asks()) return place();
    held.laid = true;
    draw();
    if (byKey) confirmButton().focus({ preventScroll: true });
  };

  // One step back: who has laid it holds it again.
  const putBack = () => {
    if (held.laid) {
      held.laid = false;
      draw();
      return board().focus({ preventScroll: true });
    }
    const button = document.querySelector('[data-piece][aria-pressed="true"]');
    drop();
    // Who plays by keyboard chooses another piece from here.
    button?.focus({ preventScroll: true });
  };

  const turn = (way) => {
    held.cells = corner(held.cells.map(turns[way]));
    draw();
  };

  // Onwards in the board's order, and from the last place to the first.
  const toNextPlace = () => {
    const squares = [...held.squares.values()], places = new Set(fitting(held.cells));
    const at = squares.findIndex(({ cell }) => String(cell) === String(held.at));
    held.at = ([...squares.slice(at + 1), ...squares].find((one) => places.has(one)) ?? squares[at]).cell;
    draw();
  };

  const cellAt = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(held.svg.getScreenCTM().inverse());
    for (const { x, y, side, cell } of held.squares.values()) {
      if (point.x >= x && point.x < x + side && point.y >= y && point.y < y + side) return cell;
    }
    return null;
  };

  document.addEventListener("pointermove", (event) => {
    if (!held || held.laid || event.pointerType === "touch" || !board()?.contains(event.target)) return;
    const cell = cellAt(event);
    if (cell && String(cell) !== String(held.at)) {
      held.at = cell;
      draw();
    }
  });

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest("#sitting a.click, #sitting a[data-at]");
    const way = event.target.closest("[data-turn]");
    if (way && held) {
      turn(way.dataset.turn);
    } else if (held && event.target.closest("#undo")) {
      event.preventDefault();
      putBack();
    } else if (held && event.target.closest("#confirm")) {
      place();
    } else if (link) {
      event.preventDefault();
      if (link.dataset.move) play(link.dataset.move);
      else if (link.dataset.piece && document.getElementById("tray").dataset.moves) pick(link, !event.detail);
      else send(link.getAttribute("href"));
    } else if (held && board()?.contains(event.target)) {
      const cell = cellAt(event);
      if (!cell) return;
      // A finger shows no preview by hovering: where moves are played at once, the first tap does.
      const shown = String(cell) === String(held.at);
      held.at = cell;
      draw();
      if (asks() || shown || event.pointerType !== "touch") lay();
    }
  });

  // The wheel turns what hangs under the pointer, and the other button of a mouse mirrors it.
  document.addEventListener("wheel", (event) => {
    if (!held || held.laid || !event.deltaY || !board()?.contains(event.target)) return;
    event.preventDefault();
    turn(event.deltaY > 0 ? "right" : "left");
  }, { passive: false });
  document.addEventListener("contextmenu", (event) => {
    if (!held || event.pointerType === "touch" || !board()?.contains(event.target)) return;
    event.preventDefault();
    turn("mirror");
  });

  // The choice among others that is nearest that way, the more so the straighter it lies.
  const choiceBeside = (link, among, [across, up]) => {
    const middle = (one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = middle(link);
    let best = null, least = Infinity;
    for (const one of among.querySelectorAll("a")) {
      const [right, down] = middle(one);
      const ahead = (right - x) * across - (down - y) * up;
      const aside = Math.abs((right - x) * up) + Math.abs((down - y) * across);
      if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [one, ahead + 2 * aside];
    }
    return best;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !sitting()) return;
    if (event.target.matches("input, select, textarea")) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const ways = { r: "right", l: "left", m: "mirror" };
    const step = steps[event.key];
    const way = ways[event.key.toLowerCase()];
    if (event.key === "Escape") {
      if (held) putBack();
      else if (undoButton()?.matches("a")) send(undoButton().getAttribute("href"));
      else return;
    } else if (!held) {
      if (!step) return;
      const among = event.target.closest("#play-board, #tray");
      // From the words about the turn they lead to what may be chosen.
      const there = among ? choiceBeside(event.target, among, step)
        : event.target.id === "turn" && (board()?.querySelector("a.click") || sitting().querySelector(BESIDE));
      if (!among && !there) return;
      there?.focus();
    } else if (event.key === "Enter" && board().contains(event.target)) {
      lay(true);
    } else if (step) {
      const next = [held.at[0] + step[0], held.at[1] + step[1]];
      const there = [...held.squares.values()].some(({ cell }) => String(cell) === String(next));
      if (there) held.at = next;
      draw();
      follow();
    } else if (way) {
      turn(way);
      follow();
    } else if (event.key.toLowerCase() === "n") {
      toNextPlace();
      follow();
    } else {
      return;
    }
    event.preventDefault();
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.closest("#sitting")) return;
    event.preventDefault();
    send(event.target.action, new FormData(event.target, event.submitter));
  });

  document.addEventListener("htmx:after:swap", () => { held = null; ready(); settle(); });
  document.addEventListener("htmx:error", unreached);
  ready();
});
