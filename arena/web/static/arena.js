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
// Dates of competitions: in the reader's own zone, with its name, and how long it is still by the
// server's clock, whatever the reader's says. What happens then has its part of the page renewed.
const lastDay = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
const sayZoned = () => {
  for (const time of document.querySelectorAll("time[data-zoned]")) {
    time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, lastDay);
  }
};
let ahead = null; // by how much the server's clock is ahead, once a page has told it: as of its request
const DAY = 86400; // seconds
const inWords = (seconds) => {
  if (seconds >= 2 * DAY) {
    return new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.floor(seconds / DAY), "day");
  }
  const two = (number) => String(number).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
};
// By a date: how many seconds after it its page is asked for again.
const askedAgain = new Map();
const countDown = () => {
  const [page] = performance.getEntriesByType("navigation");
  const asked = document.readyState === "complete" ? Date.now() : performance.timeOrigin + (page?.requestStart ?? 0);
  for (const part of document.querySelectorAll("[data-until][data-soon]")) {
    ahead ??= new Date(part.dataset.now) - asked;
    const left = Math.ceil((new Date(part.dataset.until) - Date.now() - ahead) / 1000);
    part.textContent = left > 0 ? inWords(left) : part.dataset.soon;
    const renewed = part.closest("[hx-trigger=due]");
    if (!renewed || -left < (askedAgain.get(part.dataset.until) ?? 0)) continue;
    // What does not happen is asked for less and less often, at last once a minute.
    askedAgain.set(part.dataset.until, -left + Math.min(Math.max(-left, 3), 60));
    htmx.trigger(renewed, "due");
  }
};
// A field for a moment is filled in in the reader's zone, and sent in UTC.
const sayZoneOfFields = () => {
  for (const field of document.querySelectorAll("input[data-utc]")) {
    if (field.dataset.utc === "said") continue;
    field.dataset.utc = "said";
    const zone = document.querySelector(`[data-zone="${field.name}"]`);
    const parts = new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: "long" }).formatToParts(new Date());
    if (zone) zone.textContent = parts.find(({ type }) => type === "timeZoneName").value;
    if (field.value) {
      const moment = new Date(`${field.value}Z`);
      field.value = new Date(moment - 60000 * moment.getTimezoneOffset()).toISOString().slice(0, 16);
    }
    field.form.addEventListener("formdata", (event) => {
      const moment = new Date(field.value); // in the reader's zone
      if (field.value) event.formData.set(field.name, moment.toISOString());
    });
  }
};
const sayDates = () => {
  sayZoned();
  sayZoneOfFields();
  countDown();
};
document.addEventListener("DOMContentLoaded", () => {
  sayDates();
  setInterval(countDown, 1000);
});
document.addEventListener("htmx:after:swap", sayDates);
// The key / leads to the search, wherever nothing is being typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  // Of what a shadow root holds, such as the editor, the target is only who has that root.
  if (event.composedPath()[0].closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector('#words, .find input');
  if (!field) return;
  event.preventDefault();
  if (field.checkVisibility()) field.focus();
  else field.form.nextElementSibling.click();
});
