// Steps through a game without loading the page anew. Every step is a link that also works
// without this script; pictures come from the server, which alone knows the game's rules.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const replay = document.getElementById("replay");
  const board = document.getElementById("replay-board");
  const where = document.getElementById("replay-where");
  const slider = document.getElementById("replay-slider");
  const playButton = replay.querySelector('[data-go="play"]');
  const plies = Number(replay.dataset.plies);
  const base = replay.dataset.base;
  const pictures = new Map();
  let ply = Number(replay.dataset.ply);
  let timer = null;

  const picture = (n) => {
    if (!pictures.has(n)) {
      pictures.set(n, fetch(`${base}/${n}/board`).then((answer) => {
        if (!answer.ok) throw new Error(answer.statusText);
        return answer.text();
      }));
    }
    return pictures.get(n);
  };

  const go = async (wanted) => {
    const target = Math.min(Math.max(wanted, 0), plies);
    ply = target;
    slider.value = String(target);
    where.textContent = `ply ${target} of ${plies}`;
    history.replaceState(null, "", `${base}/${target}`);
    for (const item of replay.querySelectorAll(".moves li")) {
      const current = Number(item.firstElementChild.dataset.ply) === target;
      item.toggleAttribute("aria-current", current);
      if (current) item.scrollIntoView({ block: "nearest" });
    }
    try {
      const drawn = await picture(target);
      // Whoever stepped on meanwhile does not want this picture any more.
      if (ply === target) board.innerHTML = drawn;
    } catch {
      location.href = `${base}/${target}`;
    }
    if (target < plies) picture(target + 1).catch(() => pictures.delete(target + 1));
  };

  const stop = () => {
    clearInterval(timer);
    timer = null;
    playButton.textContent = "▶ play";
  };
  const play = () => {
    if (timer) return stop();
    if (ply === plies) go(0);
    playButton.textContent = "⏸ pause";
    timer = setInterval(() => (ply < plies ? go(ply + 1) : stop()), 700);
  };
  const steps = {
    first: () => go(0), previous: () => go(ply - 1), next: () => go(ply + 1),
    last: () => go(plies), play,
  };

  slider.hidden = false;
  playButton.hidden = false;
  slider.addEventListener("input", () => go(Number(slider.value)));
  replay.addEventListener("click", (event) => {
    const step = event.target.closest("[data-go]");
    const move = event.target.closest("a[data-ply]");
    if (!step && !move) return;
    event.preventDefault();
    if (step) {
      if (step.dataset.go !== "play") stop();
      steps[step.dataset.go]();
    } else {
      stop();
      go(Number(move.dataset.ply));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea, select")) return;
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
    const step = keys[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    stop();
    steps[step]();
  });
});
