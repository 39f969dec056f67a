// Tabs beside a board: links that also work without this script, and where it runs the arrow keys.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const choose = (chosen) => {
      for (const tab of tabs) {
        const is = tab === chosen;
        tab.setAttribute("aria-selected", String(is));
        tab.tabIndex = is ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !is;
      }
      list.dispatchEvent(new CustomEvent("tabs:chosen", { bubbles: true }));
    };
    const take = (tab) => {
      choose(tab);
      if (!tab.search) return;
      const asked = new URLSearchParams(location.search); // what else the page was asked for stays
      asked.set("tab", new URLSearchParams(tab.search).get("tab"));
      history.replaceState(null, "", `?${asked}`); // the path is that of the ply by now
    };
    choose(tabs.find((tab) => tab.ariaSelected === "true"));
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      take(tab);
      if (event.detail) tab.blur(); // whoever points goes on by the arrow keys from ply to ply
    });
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(event.target);
      const next = {
        ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1, " ": at,
      }[event.key];
      if (next === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      const tab = tabs[(next + tabs.length) % tabs.length];
      tab.focus();
      take(tab);
    });
  }
});
