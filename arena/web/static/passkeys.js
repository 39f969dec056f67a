// Passkeys: a form with data-passkey has its browser make one, or answer by one, before it is sent.
// What is asked stands in data-asked as JSON. Without WebAuthn the form stays hidden, and what has
// data-without-passkeys is shown.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const key = window.PublicKeyCredential;
  const can = Boolean(key && key.parseCreationOptionsFromJSON && key.parseRequestOptionsFromJSON);
  for (const words of document.querySelectorAll("[data-without-passkeys]")) words.hidden = can;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = !can;
    if (!can) continue;
    form.querySelector("[autofocus]")?.focus(); // which it could not have while it was hidden
    const said = form.querySelector("[role=alert]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      said.textContent = "";
      const asked = JSON.parse(form.dataset.asked);
      try {
        const given = form.dataset.passkey === "make"
          ? await navigator.credentials.create({ publicKey: key.parseCreationOptionsFromJSON(asked) })
          : await navigator.credentials.get({ publicKey: key.parseRequestOptionsFromJSON(asked) });
        form.elements.credential.value = JSON.stringify(given.toJSON());
      } catch (error) {
        said.textContent = form.dataset.failed.replace("%s", error.name);
        return;
      }
      form.submit(); // does not come here again
    });
  }
});
