// Shows what bots wrote and were told at the ply that a replay is at, for who may read it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const replay = document.getElementById("replay");
  const panels = [...document.querySelectorAll("[data-logs]")];
  if (!panels.length) return;
  for (const panel of panels) panel.tabIndex = -1;
  const known = new Map(); // what there is at each ply
  let ply = replay.dataset.ply;
  let shown = ply; // which the page came with
  const at = (its) => {
    if (!known.has(its)) {
      const answer = fetch(`${replay.dataset.base}/${its}/log`).then((found) => {
        if (!found.ok || found.redirected) throw new Error(found.statusText);
        return found.text();
      });
      answer.catch(() => known.delete(its));
      known.set(its, answer);
    }
    return known.get(its);
  };
  const show = async () => {
    if (shown === ply || panels.every((panel) => panel.hidden)) return;
    const mine = (shown = ply);
    let page = null;
    try {
      page = new DOMParser().parseFromString(await at(mine), "text/html");
    } catch {
      if (shown === mine) shown = null;
    }
    if (ply !== mine) return;
    for (const panel of panels) {
      const within = panel.contains(document.activeElement);
      if (page) panel.replaceChildren(...page.getElementById(panel.id).childNodes);
      else panel.textContent = filled(panel.dataset.notCome, { ply: mine });
      for (const button of panel.querySelectorAll("[data-copies]")) button.hidden = !navigator.clipboard;
      // Whoever pressed a link that is gone with the ply before goes on from here.
      if (within) panel.focus({ preventScroll: true });
    }
  };
  replay.addEventListener("replay:ply", (event) => {
    ply = String(event.detail);
    show();
  });
  document.addEventListener("tabs:chosen", show);
});
