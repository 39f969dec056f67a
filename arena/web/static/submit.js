// Says what was chosen, and that it is too large, before anything is sent.
"use strict";
const MIB = 2 ** 20;
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("submit");
  if (!form) return;
  const [file, folder] = [form.elements.file, form.elements.folder];
  const chosen = document.getElementById("chosen");
  const button = form.querySelector("button[type=submit]");
  const largest = Number(form.dataset.largest);
  const look = (event) => {
    if (event.target.files.length) (event.target === file ? folder : file).value = "";
    const files = [...file.files, ...folder.files];
    const bytes = files.reduce((sum, one) => sum + one.size, 0);
    const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / MIB).toFixed(1)} MiB`;
    const large = bytes > largest;
    chosen.className = large ? "lost" : "faint";
    chosen.textContent = !files.length ? ""
      : large ? `This is too large: ${size}, and ${(largest / MIB).toFixed(0)} MiB are allowed.`
      : `${files.length === 1 ? files[0].name : `${files.length} files`}, ${size}`;
    button.disabled = large;
    const name = files.length && (files[0].webkitRelativePath.split("/")[0] || files[0].name);
    form.elements.name.placeholder = name ? name.replace(/(\.tar)?\.\w+$/, "") : "";
  };
  // The whole frame takes what is dropped; browsers let only the field itself take a folder.
  const frame = file.closest(".drop");
  frame.addEventListener("dragover", (event) => event.preventDefault());
  frame.addEventListener("drop", (event) => {
    const [item] = event.dataTransfer.items;
    const entry = item && item.webkitGetAsEntry && item.webkitGetAsEntry();
    event.preventDefault();
    if (!item || item.kind !== "file" || (entry && entry.isDirectory)) {
      chosen.className = "lost";
      chosen.textContent = "Drop one file here, or a folder on the button below.";
      return;
    }
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    file.files = one.files;
    file.dispatchEvent(new Event("change"));
  });
  file.addEventListener("change", look);
  folder.addEventListener("change", look);
});
