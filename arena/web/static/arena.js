// Shows every moment in the reader's own zone on hover; the words stay as the server wrote them.
"use strict";
const localTimes = () => {
  for (const time of document.querySelectorAll("time[datetime]:not([data-local])")) {
    time.dataset.local = "yes";
    time.title = `${new Date(time.dateTime).toLocaleString()} (${time.title})`;
  }
};
document.addEventListener("DOMContentLoaded", localTimes);
document.addEventListener("htmx:afterSwap", localTimes);
document.addEventListener("htmx:after:swap", localTimes);
