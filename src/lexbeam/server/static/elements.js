// Small parts of the page: elements, chips, what the page says, copying.

export const at = (id) => document.getElementById(id);

export function make(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

export function chip(text, kind, cost, remove) {
  const made = make("span", "", `chip ${kind}`);
  made.setAttribute("role", "listitem");
  made.append(make("span", text));
  if (typeof cost === "number") {
    const shown = make("span", `cost ${cost.toFixed(1)}`, "cost");
    shown.title = "Log-probability that the sentence loses by it; 0 is free, 10 and more is forced";
    made.append(shown);
  }
  if (remove) {
    const button = make("button", "×");
    button.type = "button";
    button.setAttribute("aria-label", `Drop: ${text}`);
    button.addEventListener("click", remove);
    made.append(button);
  }
  return made;
}

export function say(text) {
  at("status").textContent = text;
}

export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say("The browser did not allow copying.");
  }
}
