// Shows the running game as the command that plays it tells of it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const games = new EventSource("events");
  const watched = document.getElementById("watched");
  const end = (words) => {
    games.close();
    document.getElementById("watch-state").textContent = words;
  };
  games.addEventListener("message", (event) => { watched.innerHTML = JSON.parse(event.data); });
  games.addEventListener("over", () => end("The games are over."));
  games.addEventListener("error", () => end("The command that plays them has ended."));
});
