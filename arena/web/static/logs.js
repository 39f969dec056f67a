// Shows what bots wrote at the ply that a replay is at, for who may read it, where that is opened.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const replay = document.getElementById("replay");
  const logs = [...document.querySelectorAll("[data-log]")];
  let ply = replay.dataset.ply;
  const show = async (log) => {
    if (!log.open || log.dataset.ply === ply) return;
    const mine = (log.dataset.ply = ply);
    const answer = await fetch(`${log.dataset.log}?ply=${mine}`);
    const text = answer.ok ? await answer.text() : "It did not come.";
    if (mine === log.dataset.ply) log.querySelector("pre").textContent = text;
  };
  replay.addEventListener("replay:ply", (event) => {
    ply = String(event.detail);
    logs.forEach(show);
  });
  for (const log of logs) log.addEventListener("toggle", () => show(log));
});
