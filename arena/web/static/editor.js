// The texts of a bot's files in an editor with colours; what is typed is kept by the browser until
// the arena has it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("editor");
  const areas = [...form.querySelectorAll("textarea[data-path]")];
  const {
    EditorState, EditorView, HighlightStyle, StreamLanguage, bracketMatching, closeBrackets,
    closeBracketsKeymap, defaultKeymap, drawSelection, highlightActiveLine, highlightSpecialChars,
    history, historyKeymap, indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers, modes,
    searchKeymap, syntaxHighlighting, tags,
  } = CodeMirror;

  // A browser may keep nothing, or be full: then nothing is kept, and nothing else fails.
  const keyOf = (area) =>
    `editor/${form.elements.ladder.value}/${form.elements.name.value}/${area.dataset.path}`;
  const keep = (area) => {
    try {
      if (area.value === area.defaultValue && !("typed" in form.dataset)) {
        localStorage.removeItem(keyOf(area));
      } else {
        localStorage.setItem(keyOf(area), area.value);
      }
    } catch { /* see above */ }
  };
  const kept = (area) => {
    try {
      return localStorage.getItem(keyOf(area));
    } catch {
      return null;
    }
  };

  const colours = HighlightStyle.define([
    {tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--accent)"},
    {tag: [tags.string, tags.special(tags.string), tags.character], color: "var(--won)"},
    {tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--lost)"},
    {tag: [tags.comment, tags.meta], color: "var(--faint)"},
    {tag: [tags.definition(tags.variableName), tags.typeName], fontWeight: "600"},
  ]);
  const look = EditorView.theme({
    "&": {fontSize: "0.85rem", color: "inherit", height: "min(36rem, 70vh)"},
    "&.cm-focused": {outline: "3px solid var(--accent)", outlineOffset: "-3px"}, // its box has rounded corners, which cut what is outside
    ".cm-scroller": {fontFamily: "var(--pico-font-family-monospace)", lineHeight: "1.45"},
    ".cm-content": {caretColor: "currentColor"},
    ".cm-cursor": {borderLeftColor: "currentColor"},
    ".cm-gutters": {background: "transparent", color: "var(--faint)", border: "none"},
    ".cm-activeLine, .cm-activeLineGutter": {background: "var(--pico-code-background-color)"},
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
      background: "var(--pico-text-selection-color)",
    },
    ".cm-panels": {background: "var(--pico-background-color)", color: "inherit"},
  });
  const phrases = JSON.parse(form.dataset.phrases);
  const unitOf = (text) => /^\t/m.test(text) ? "\t" : /^ {2}\S/m.test(text) ? "  " : "    ";
  const check = (view) => {
    try {
      sessionStorage.setItem("editor/at", JSON.stringify([views.indexOf(view), view.state.selection.main.head]));
    } catch { /* see above */ }
    form.requestSubmit(form.querySelector("button[value=check]"));
    return true;
  };
  const views = areas.map((area) => {
    const mode = modes[area.dataset.path.split(".").at(-1)];
    // Its styles are made by scripts, which the page's policy lets no page have, but a shadow.
    const host = document.createElement("div");
    host.className = "code";
    area.after(host);
    const root = host.attachShadow({mode: "open"});
    const view = new EditorView({
      root,
      parent: root,
      doc: area.value,
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightSpecialChars(), highlightActiveLine(),
        indentOnInput(), bracketMatching(), closeBrackets(), indentUnit.of(unitOf(area.value)),
        EditorState.phrases.of(phrases), EditorState.tabSize.of(4),
        syntaxHighlighting(colours), look,
        mode ? StreamLanguage.define(mode) : [],
        keymap.of([
          {key: "Mod-Enter", run: check}, ...closeBracketsKeymap, ...defaultKeymap,
          ...historyKeymap, ...searchKeymap, indentWithTab,
        ]),
        EditorView.contentAttributes.of({"aria-label": area.dataset.path}),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          area.value = update.state.doc.toString();
          keep(area);
        }),
      ],
    });
    // Its search is at its foot, which may be below the window, and selecting a field scrolls nothing.
    root.addEventListener("focusin", (event) => event.target.closest(".cm-panel")?.scrollIntoView({block: "nearest"}));
    area.hidden = true;
    area.closest("details").addEventListener("toggle", () => view.requestMeasure());
    return view;
  });
  document.getElementById("keys").hidden = false;

  const write = (view, text) =>
    view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
  const note = document.getElementById("kept");
  if ("typed" in form.dataset) {
    areas.forEach(keep);
  } else {
    areas.forEach((area, number) => {
      const text = kept(area);
      if (text === null || text === area.value) return keep(area);
      write(views[number], text);
      note.hidden = false;
    });
  }
  note.querySelector("button").addEventListener("click", () => {
    areas.forEach((area, number) => write(views[number], area.defaultValue));
    note.hidden = true;
  });

  // Who has it checked by the keyboard writes on from there.
  try {
    const [number, at] = JSON.parse(sessionStorage.getItem("editor/at") ?? "[]");
    sessionStorage.removeItem("editor/at");
    const view = views[number];
    view?.dispatch({selection: {anchor: Math.min(at, view.state.doc.length)}, scrollIntoView: true});
    view?.focus();
  } catch { /* see above */ }

  // It is played as soon as it has passed, if that is what was asked for.
  const playIfPassed = () => {
    // What was typed since is another version, which nobody has asked to play.
    if (!note.hidden) return;
    if (!("play" in form.dataset) || !document.querySelector("#check[data-passed]")) return;
    delete form.dataset.play;
    form.requestSubmit(form.querySelector("button[value=play]"));
  };
  document.addEventListener("htmx:after:swap", playIfPassed);
  playIfPassed();
});
