// Shows the running game as the command that plays it tells of it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const games = new EventSource("events");
  const watched = document.getElementById("watched");
  const state = document.getElementById("watch-state");
  const end = (words) => {
    games.close();
    state.textContent = words;
  };
  games.addEventListener("message", (event) => { watched.innerHTML = JSON.parse(event.data); });
  games.addEventListener("over", () => end(state.dataset.over));
  games.addEventListener("error", () => end(state.dataset.ended));
});
