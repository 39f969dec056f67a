// Follows the links of a part of a page without loading the page anew; without this script they do.
"use strict";
let latest = 0;
document.addEventListener("click", async (event) => {
  const part = event.target.closest("[data-part]");
  const link = part && event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const address = link.getAttribute("href");
  const page = new URL(address, location);
  if (page.pathname !== location.pathname) return;
  event.preventDefault();
  const clicked = link.dataset.click;
  const mine = ++latest;
  try {
    const answer = await fetch(page);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part.id);
    // Who has clicked on meanwhile waits for the answer to that.
    if (mine !== latest) return;
    document.getElementById(part.id).replaceWith(fresh);
    history.replaceState(null, "", address);
    // Who clicks by keyboard goes on from where they were.
    const same = clicked && fresh.querySelector(`[data-click="${CSS.escape(clicked)}"]`);
    (same || fresh).focus({ preventScroll: true });
  } catch {
    location.assign(address);
  }
});
