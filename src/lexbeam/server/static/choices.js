// The box that opens at a word: keep it, drop it, write another, or take one of the model's.

import { isCancelled, post } from "./api.js";
import { at, make } from "./elements.js";

const box = at("choices");
let opener = null;

export function closeChoices(focusBack = true) {
  if (box.hidden) return;
  box.hidden = true;
  opener?.classList.remove("opened");
  if (focusBack) opener?.focus();
  opener = null;
}

export function openChoices(word, button, record, act) {
  closeChoices(false);
  opener = button;
  button.classList.add("opened");
  const title = make("strong", `“${word}”`);
  const keep = action("Keep this", () => act.keep(word));
  const drop = action("Not this", () => act.drop(word));
  const row = make("div", "", "row");
  row.append(keep, drop);
  const form = document.createElement("form");
  const input = document.createElement("input");
  input.placeholder = "Write another and press Enter";
  input.setAttribute("aria-label", `Write another word for ${word}`);
  input.autocomplete = "off";
  form.append(input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    closeChoices();
    if (typed) act.replace(word, typed);
  });
  const list = document.createElement("ul");
  list.setAttribute("aria-label", "Other choices");
  list.append(make("li", "Looking for other choices …", "hint"));
  box.replaceChildren(title, row, form, list);
  place(button);
  box.hidden = false;
  keep.focus();
  fill(list, record, act);
}

async function fill(list, record, act) {
  try {
    const { alternatives } = await post("/v1/alternatives", record);
    list.replaceChildren(
      ...alternatives.map((each) => {
        const item = document.createElement("li");
        const button = action(each.text, () => act.take(each));
        button.append(make("small", each.translation));
        item.append(button);
        return item;
      }),
    );
    if (!alternatives.length) list.append(make("li", "The model has no other choice here.", "hint"));
  } catch (error) {
    if (!isCancelled(error)) list.replaceChildren(make("li", error.message, "hint"));
  }
}

function action(text, run) {
  const button = make("button", text);
  button.type = "button";
  button.addEventListener("click", () => {
    closeChoices();
    run();
  });
  return button;
}

function place(button) {
  const word = button.getBoundingClientRect();
  const width = Math.min(320, window.innerWidth - 16);
  const left = Math.max(8, Math.min(word.left, window.innerWidth - width - 8));
  box.style.left = `${left + window.scrollX}px`;
  box.style.top = `${word.bottom + window.scrollY + 6}px`;
}

box.addEventListener("keydown", (event) => {
  const stops = [...box.querySelectorAll("button, input")];
  const stop = stops.indexOf(document.activeElement);
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    event.preventDefault();
    closeChoices();
  } else if (by) {
    event.preventDefault();
    stops[(stop + by + stops.length) % stops.length]?.focus();
  } else if (event.key === "Tab" && stop === (event.shiftKey ? 0 : stops.length - 1)) {
    closeChoices();
  }
});

document.addEventListener("pointerdown", (event) => {
  if (!box.contains(event.target) && !event.target.closest?.(".word")) closeChoices(false);
});
