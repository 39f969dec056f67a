// Small things of every page.
"use strict";
// Says every moment in the reader's own zone on hover; the words stay as the server wrote them.
const sayLocalTimes = () => {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    const utc = moment.toISOString().slice(0, 19).replace("T", " ");
    time.title = `${moment.toLocaleString()} (${utc} UTC)`;
  }
};
document.addEventListener("DOMContentLoaded", sayLocalTimes);
document.addEventListener("htmx:after:swap", sayLocalTimes);
// Nobody looks at a page in the background, so it does not renew itself there; but its title tells
// who went elsewhere meanwhile that it is their turn.
document.addEventListener("htmx:before:request", (event) => {
  if (document.hidden && !event.target.closest("[data-in-background]")) event.preventDefault();
});
// A button that copies what stands elsewhere is shown where a page may copy at all.
const showCopying = () => {
  for (const button of document.querySelectorAll("[data-copies]")) button.hidden = !navigator.clipboard;
};
document.addEventListener("DOMContentLoaded", showCopying);
document.addEventListener("htmx:after:swap", showCopying);
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
  button.textContent = document.body.dataset.copied;
});
// A link that is said to be a button is pressed like one: by the space bar too.
document.addEventListener("keydown", (event) => {
  const button = event.target.closest('a[role="button"]');
  if (event.key !== " " || !button) return;
  event.preventDefault();
  button.click();
});
