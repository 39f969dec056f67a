// Says every moment in the reader's own zone on hover; the words stay as the server wrote them.
"use strict";
const sayLocalTimes = () => {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    const utc = moment.toISOString().slice(0, 19).replace("T", " ");
    time.title = `${moment.toLocaleString()} (${utc} UTC)`;
  }
};
document.addEventListener("DOMContentLoaded", sayLocalTimes);
document.addEventListener("htmx:after:swap", sayLocalTimes);
// Nobody looks at a page in the background, so it does not renew itself there.
document.addEventListener("htmx:before:request", (event) => {
  if (document.hidden) event.preventDefault();
});
