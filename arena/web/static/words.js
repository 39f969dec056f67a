// A text of the page, which has it in the reader's language, with what stands at its places: {name}.
"use strict";
const filled = (text, places) => text.replace(/\{(\w+)\}/g, (_, name) => places[name]);
