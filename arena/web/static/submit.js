// Says what was chosen, and that it is too large, before anything is sent.
"use strict";
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
    const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
    const large = bytes > largest;
    chosen.className = large ? "lost" : "faint";
    chosen.textContent = !files.length ? ""
      : large ? `This is too large: ${size}, and ${(largest / 1e6).toFixed(0)} MB are allowed.`
      : `${files.length === 1 ? files[0].name : `${files.length} files`}, ${size}`;
    button.disabled = large;
    const name = files.length && (files[0].webkitRelativePath.split("/")[0] || files[0].name);
    form.elements.name.placeholder = name ? name.replace(/(\.tar)?\.\w+$/, "") : "";
  };
  file.addEventListener("change", look);
  folder.addEventListener("change", look);
});
