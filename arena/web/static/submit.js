// Says what was chosen, and that it is too large, before anything is sent; sends of a folder only
// what the server would take in, and what is more than one request may bring in parts before.
"use strict";
const MIB = 2 ** 20;
const sized = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / MIB).toFixed(1)} MiB`;
const total = (files) => files.reduce((sum, one) => sum + one.size, 0);
// The names of the folders below the one that was picked, and of the file.
const below = (file) => file.webkitRelativePath.split("/").slice(1);

// What a folder has that belongs to a bot, by the server's own lists.
const wanted = (files, {leftOut, leftOutWith}) => {
  const patterns = JSON.parse(leftOut).map((name) =>
    new RegExp(`^${name.split("*").map((part) => part.replace(/[^\w]/g, "\\$&")).join(".*")}$`, "s"));
  const marks = JSON.parse(leftOutWith);
  const named = files.filter((one) =>
    !below(one).some((name) => patterns.some((pattern) => pattern.test(name))));
  const marked = named.map(below).filter((names) => names.length > 1 && marks.includes(names.at(-1)))
    .map((names) => names.slice(0, -1).join("/") + "/");
  return named.filter((one) => {
    const path = below(one).join("/");
    return !marks.includes(one.name) && !marked.some((folder) => path.startsWith(folder));
  });
};

// The folder below the picked one in which most of the files are, or most bytes.
const fullest = (files, weight) => {
  const sums = new Map();
  for (const one of files.filter((each) => below(each).length > 1)) {
    sums.set(below(one)[0], (sums.get(below(one)[0]) || 0) + weight(one));
  }
  const [most] = [...sums].sort(([, one], [, other]) => other - one);
  return most && 2 * most[1] > files.reduce((sum, one) => sum + weight(one), 0) ? most[0] : null;
};

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("submit");
  if (!form) return;
  const texts = form.dataset;
  const [file, folder] = [form.elements.file, form.elements.folder];
  const chosen = document.getElementById("chosen");
  const button = form.querySelector("button[type=submit]");
  const atOnce = Number(form.dataset.largest);
  const granted = JSON.parse(form.dataset.granted);
  const bar = form.querySelector("progress");
  let sent = new Map();
  const mostFiles = Number(form.dataset.mostFiles);
  const look = (event) => {
    sent = new Map();
    if (event.target.files?.length) (event.target === file ? folder : file).value = "";
    const kept = wanted([...folder.files], form.dataset);
    const files = [...file.files, ...kept];
    const bytes = total(files);
    const many = files.length > mostFiles;
    const largest = Math.max(atOnce, granted[form.elements.ladder.value] || 0);
    const large = many || bytes > largest || (folder.files.length && !kept.length);
    const where = fullest(kept, many ? () => 1 : (one) => one.size);
    const left = folder.files.length - kept.length;
    const number = filled(texts.files, {number: files.length});
    const their = where ? filled(texts.mostOfThemIn, {files: number, folder: where}) : number;
    const its = where ? filled(texts.mostIn, {size: sized(bytes), folder: where}) : sized(bytes);
    const most = `${(largest / MIB).toFixed(0)} MiB`;
    const taken = `${files.length === 1 ? files[0].name : number}, ${sized(bytes)}`;
    chosen.className = large ? "lost" : "faint";
    chosen.textContent = !files.length && !folder.files.length ? ""
      : !files.length ? texts.noneBelongs
      : many ? filled(texts.tooMany, {files: their, most: mostFiles})
      : large ? filled(texts.tooLarge, {size: its, most})
      : left ? filled(left === 1 ? texts.leftOutOne : texts.leftOutSome, {chosen: taken, number: left})
      : taken;
    button.disabled = Boolean(large);
    const name = files.length && (files[0].webkitRelativePath.split("/")[0] || files[0].name);
    form.elements.name.placeholder = name ? name.replace(/(\.tar)?\.\w+$/, "") : "";
  };
  const pathOf = (one) => one.webkitRelativePath || one.name;
  form.addEventListener("formdata", ({formData}) => {
    for (const [one, digest] of sent) formData.append("sent", `${digest} ${pathOf(one)}`);
    if (sent.has(file.files[0])) formData.delete("file");
    if (!folder.files.length) return;
    formData.delete("folder");
    for (const one of wanted([...folder.files], form.dataset)) {
      if (!sent.has(one)) formData.append("folder", one, one.webkitRelativePath);
    }
  });
  form.addEventListener("submit", async (event) => {
    const files = [...file.files, ...wanted([...folder.files], form.dataset)];
    if (total(files) <= atOnce || sent.size) return;
    event.preventDefault();
    const large = files.filter((one) => one.size > MIB);
    const whole = total(large);
    let done = 0;
    button.disabled = true;
    bar.hidden = false;
    try {
      for (const one of large) {
        sent.set(one, await sendFile(one, form.elements.csrf_token.value, (doing, now) => {
          bar.value = (done + now) / whole;
          chosen.textContent = filled(texts[doing], {
            file: one.name, done: sized(done + now), all: sized(whole),
          });
        }));
        done += one.size;
      }
      form.submit();
    } catch (error) {
      sent = new Map();
      chosen.className = "lost";
      chosen.textContent = error instanceof Refused ? error.message
        : filled(texts.cutOff, {problem: error.message});
    }
    bar.hidden = true;
    button.disabled = false;
  });
  // The whole frame takes what is dropped; browsers let only the field itself take a folder.
  const frame = file.closest(".drop");
  frame.addEventListener("dragover", (event) => event.preventDefault());
  frame.addEventListener("drop", (event) => {
    const [item] = event.dataTransfer.items;
    const entry = item && item.webkitGetAsEntry && item.webkitGetAsEntry();
    event.preventDefault();
    if (!item || item.kind !== "file" || (entry && entry.isDirectory)) {
      chosen.className = "lost";
      chosen.textContent = texts.notDropped;
      return;
    }
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    file.files = one.files;
    file.dispatchEvent(new Event("change"));
  });
  file.addEventListener("change", look);
  folder.addEventListener("change", look);
  form.elements.ladder.addEventListener("change", look);
});
