// The page: source on the left, translation on the right, and what was asked of each sentence.

import { get, getKey, isCancelled, post, setKey } from "./api.js";
import { closeChoices, openChoices } from "./choices.js";
import { at, chip, copy, make, say } from "./elements.js";
import { History, carryOver, emptyWishes, fromLink, hasWishes, readGlossary, toLink } from "./state.js";
import { completion, cut, nextWord, overlaps, toCodePoints, toUnits } from "./words.js";

const EXAMPLE = "The meeting was very successful. Restart the computer and select a printer from the list.";
const WAIT = 250;
const history = new History();
let state = { source: EXAMPLE, glossary: "", model: "", sentences: [] };
let pieces = []; // of each sentence: its start in the source, and what separates it from the next
let results = []; // of each sentence: the server's record, or null while it is not there
let before = []; // what was shown last, until the new one is there
let costs = new Map(); // by the key of a record: what its constraints cost
let active = 0;
let models = [];
const translated = new Map();

// --- asking the server -----------------------------------------------------------------------

function recordOf(sentence) {
  const { constraints, avoid, prefix } = sentence.wishes;
  const record = { text: sentence.text, constraints, avoid, settings: { nbest: 4, split: false, alignments: true } };
  if (prefix) record.prefix = prefix;
  const glossary = readGlossary(state.glossary);
  if (Object.keys(glossary).length) record.glossary = glossary;
  return record;
}

const keyOf = (record) => JSON.stringify([state.model, record]);
const pair = () => models.find((each) => nameOf(each) === state.model) ?? models[0];
const nameOf = (model) => `${model.source.code}-${model.target.code}`;
const languages = () => ({ source: pair().source.code, target: pair().target.code });

async function update(remember = true) {
  try {
    const { sentences } = await post("/v1/sentences", { text: state.source });
    pieces = sentences;
    state.sentences = carryOver(state.sentences, sentences.map((each) => each.text));
    active = Math.max(0, Math.min(active, state.sentences.length - 1));
    if (remember) history.remember(state);
    await translate();
  } catch (error) {
    if (!isCancelled(error)) say(error.message);
  }
}

async function translate() {
  const records = state.sentences.map(recordOf);
  results = records.map((record) => translated.get(keyOf(record)) ?? null);
  const missing = records.filter((_, i) => !results[i]);
  render();
  if (missing.length) {
    const found = await post("/v1/translate", { records: missing, ...languages() });
    missing.forEach((record, i) => translated.set(keyOf(record), found.records[i]));
    while (translated.size > 2000) translated.delete(translated.keys().next().value);
    results = state.sentences.map((each) => translated.get(keyOf(recordOf(each))) ?? null);
  }
  say("");
  render();
  await measureCosts();
}

async function measureCosts() {
  const sentence = state.sentences[active];
  if (!sentence?.wishes.constraints.length) return;
  const record = recordOf(sentence);
  const key = keyOf(record);
  if (costs.has(key) || results[active]?.error) return;
  const asked = { ...record, settings: { split: false, prices: true }, ...languages() };
  const found = await post("/v1/translate", asked, "costs");
  costs.set(key, found.constraints.map((each) => each.price));
  renderChips();
}

let timer = 0;
function soon(wait = WAIT) {
  clearTimeout(timer);
  timer = setTimeout(update, wait);
}

// --- showing ---------------------------------------------------------------------------------

function render() {
  closeChoices(false);
  const focused = document.activeElement?.classList.contains("word") ? document.activeElement.dataset.place : null;
  const shown = state.sentences.flatMap((sentence, i) => [renderSentence(i), separator(i)]);
  at("target").replaceChildren(...shown);
  const words = [...at("target").querySelectorAll(".word")];
  const first = words.find((each) => each.dataset.place === focused) ?? words[0];
  if (first) first.tabIndex = 0;
  if (focused) first?.focus();
  at("hint").hidden = words.length === 0;
  at("undo").disabled = !history.canUndo;
  renderPrefix();
  renderChips();
  renderVersions();
}

function separator(i) {
  const between = pieces[i]?.separator ?? "";
  return document.createTextNode(between.includes("\n") ? between : i + 1 < pieces.length ? " " : "");
}

function renderSentence(i) {
  const result = results[i] ?? before[i];
  const span = make("span", "", `sentence${i === active && state.sentences.length > 1 ? " active" : ""}`);
  span.dataset.sentence = i;
  span.classList.toggle("waiting", !results[i]);
  before[i] = result;
  if (!result) {
    span.textContent = "…";
  } else if (result.error) {
    span.append(make("span", result.error, "problem"));
  } else {
    const spans = result.constraints.map((each) => ({
      start: toUnits(result.translation, each.start), end: toUnits(result.translation, each.end),
    }));
    for (const part of cut(result.translation)) {
      span.append(part.isWord ? renderWord(i, part, spans) : document.createTextNode(part.text));
    }
  }
  return span;
}

function renderWord(i, part, spans) {
  const button = make("button", part.text, "word");
  button.type = "button";
  button.tabIndex = -1;
  button.dataset.place = `${i}:${part.start}`;
  button.dataset.sentence = i;
  if (spans.some((span) => overlaps(part, span))) button.classList.add("kept");
  button.setAttribute("aria-haspopup", "dialog");
  button.addEventListener("click", () => results[i] && choose(i, part, button));
  return button;
}

function renderPrefix() {
  const sentence = state.sentences[active];
  const input = at("prefix");
  if (document.activeElement !== input) input.value = sentence?.wishes.prefix ?? "";
  const rest = completion(results[active]?.translation ?? "", input.value);
  at("ghost").textContent = rest === null ? "" : input.value + rest;
}

function renderChips() {
  const sentence = state.sentences[active];
  const wishes = sentence?.wishes ?? emptyWishes();
  const reports = results[active]?.constraints ?? [];
  const cost = sentence ? costs.get(keyOf(recordOf(sentence))) : null;
  const chips = wishes.constraints.map((wish, i) =>
    chip(textOf(wish), "", cost?.[i], () => change((w) => w.constraints.splice(i, 1))));
  chips.push(...wishes.avoid.map((text, i) =>
    chip(`not ${text}`, "avoided", null, () => change((w) => w.avoid.splice(i, 1)))));
  if (wishes.prefix) chips.push(chip(`begins “${wishes.prefix.trim()}”`, "begun", null, () => change((w) => { w.prefix = ""; })));
  chips.push(...reports.slice(wishes.constraints.length).map((each, i) =>
    chip(each.form ?? each.text, "term", cost?.[wishes.constraints.length + i], null)));
  at("chips").replaceChildren(...chips);
}

function renderVersions() {
  const others = (results[active]?.nbest ?? []).slice(1);
  at("versions").hidden = others.length === 0;
  at("version-list").replaceChildren(...others.map((each) => {
    const item = make("li");
    const button = make("button", each.translation);
    button.type = "button";
    button.addEventListener("click", () => change((wishes) => { wishes.prefix = each.translation; }));
    item.append(button);
    return item;
  }));
}

function linkAt(result, place) {
  return (result?.alignment ?? []).find(({ target }) => target[0] <= place && place < target[1]);
}

// Lights up what a word translates: its source words if they are known, else its sentence.
function lightUp(word) {
  const i = Number(word?.dataset.sentence);
  const piece = word ? pieces[i] : null;
  if (!piece) return at("backdrop").replaceChildren();
  let [start, end] = [0, piece.text.length];
  const place = toCodePoints(results[i]?.translation ?? "", Number(word.dataset.place?.split(":")[1]));
  const link = linkAt(results[i], place);
  if (link) [start, end] = link.source.map((offset) => toUnits(piece.text, offset));
  const from = toUnits(state.source, piece.start);
  at("backdrop").replaceChildren(
    document.createTextNode(state.source.slice(0, from + start)),
    make("mark", state.source.slice(from + start, from + end)),
    document.createTextNode(state.source.slice(from + end)),
  );
  at("backdrop").scrollTop = at("source").scrollTop;
}

// --- what the user does ----------------------------------------------------------------------

function change(alter) {
  const sentence = state.sentences[active];
  if (!sentence) return;
  sentence.wishes = structuredClone(sentence.wishes);
  alter(sentence.wishes);
  history.remember(state);
  translate().catch((error) => !isCancelled(error) && say(error.message));
}

const textOf = (constraint) => constraint.text ?? constraint;

function without(list, text) {
  return list.filter((each) => textOf(each) !== text);
}

const has = (list, text) => list.some((each) => textOf(each) === text);

function choose(i, part, button) {
  active = i;
  for (const each of at("target").querySelectorAll(".sentence")) {
    each.classList.toggle("active", Number(each.dataset.sentence) === i && state.sentences.length > 1);
  }
  renderPrefix();
  renderChips();
  renderVersions();
  const result = results[i];
  const wishes = state.sentences[i].wishes;
  const record = {
    ...recordOf(state.sentences[i]), ...languages(),
    constraints: without(wishes.constraints, part.text),
    translation: result.translation,
    start: toCodePoints(result.translation, part.start),
  };
  openChoices(part.text, button, record, {
    keep: (word) => change((w) => {
      w.avoid = without(w.avoid, word);
      if (!has(w.constraints, word)) w.constraints.push(word);
    }),
    drop: (word) => change((w) => {
      w.constraints = without(w.constraints, word);
      if (w.prefix.includes(word)) w.prefix = "";
      if (!w.avoid.includes(word)) w.avoid.push(word);
    }),
    replace: (word, typed) => change((w) => {
      w.constraints = without(w.constraints, word);
      w.avoid = without(w.avoid, typed);
      if (w.prefix.includes(word)) w.prefix = "";
      if (has(w.constraints, typed)) return;
      // Tied to the source word, it stands for what the model said; else that is avoided.
      const link = linkAt(result, record.start);
      w.constraints.push(link ? { text: typed, source: link.source } : typed);
      if (!link && !typed.includes(word) && !w.avoid.includes(word)) w.avoid.push(word);
    }),
    take: (other) => change((w) => {
      w.constraints = without(w.constraints, part.text);
      const end = toUnits(other.translation, other.start) + other.text.length;
      const follows = other.translation.slice(end, end + 1) === " " ? " " : "";
      w.prefix = other.translation.slice(0, end) + follows;
    }),
  });
}

function restore(saved) {
  state = saved;
  at("source").value = state.source;
  at("glossary").value = state.glossary;
  if (state.model) at("model").value = state.model;
  countTerms();
  update(false);
}

function countTerms() {
  const count = Object.keys(readGlossary(state.glossary)).length;
  at("glossary-count").textContent = count ? `(${count} term${count > 1 ? "s" : ""})` : "";
}

at("source").addEventListener("input", () => {
  state.source = at("source").value;
  at("backdrop").replaceChildren();
  soon();
});
at("source").addEventListener("scroll", () => { at("backdrop").scrollTop = at("source").scrollTop; });

at("prefix").addEventListener("input", () => {
  const sentence = state.sentences[active];
  if (!sentence) return;
  sentence.wishes = { ...structuredClone(sentence.wishes), prefix: at("prefix").value };
  renderPrefix();
  soon(120);
});
at("prefix").addEventListener("keydown", (event) => {
  const rest = completion(results[active]?.translation ?? "", at("prefix").value);
  if (event.key === "Tab" && !event.shiftKey && rest) {
    event.preventDefault();
    at("prefix").value += nextWord(rest);
    at("prefix").dispatchEvent(new Event("input"));
  }
});

at("target").addEventListener("keydown", (event) => {
  const words = [...at("target").querySelectorAll(".word")];
  const index = words.indexOf(document.activeElement);
  const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: words.length - 1 }[event.key];
  if (index < 0 || to === undefined || !words[to]) return;
  event.preventDefault();
  words[index].tabIndex = -1;
  words[to].tabIndex = 0;
  words[to].focus();
});
for (const kind of ["pointerover", "focusin"]) {
  at("target").addEventListener(kind, (event) => lightUp(event.target.closest(".word")));
}
for (const kind of ["pointerleave", "focusout"]) {
  at("target").addEventListener(kind, () => lightUp(null));
}

at("model").addEventListener("change", () => {
  state.model = at("model").value;
  update();
});
at("glossary").addEventListener("input", () => {
  state.glossary = at("glossary").value;
  countTerms();
  soon();
});
async function loadGlossary(file) {
  if (!file) return;
  at("glossary").value = await file.text();
  at("glossary-box").open = true;
  at("glossary").dispatchEvent(new Event("input"));
}
at("glossary-file").addEventListener("change", () => loadGlossary(at("glossary-file").files[0]));
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  at("glossary-box").classList.add("dropping");
});
document.addEventListener("dragleave", () => at("glossary-box").classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  at("glossary-box").classList.remove("dropping");
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  loadGlossary(event.dataTransfer.files[0]);
});

at("undo").addEventListener("click", () => history.canUndo && restore(history.undo()));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("textarea, input");
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.shiftKey && !typing && history.canUndo) {
    event.preventDefault();
    restore(history.undo());
  }
});
at("copy").addEventListener("click", () => copy(at("target").textContent, "The translation is copied."));
at("link").addEventListener("click", () => {
  window.history.replaceState(null, "", toLink(state));
  copy(location.href, "The link is copied; it holds the text and all that was asked.");
});
at("trace").addEventListener("click", () => {
  const sentence = state.sentences[active];
  if (!sentence) return;
  const fields = at("trace-form").elements;
  const record = recordOf(sentence);
  fields.record.value = JSON.stringify({ ...record, settings: { split: false } });
  ({ source: fields.source.value, target: fields.target.value } = languages());
  fields.api_key.value = getKey();
  at("trace-form").submit();
});
at("key-line").addEventListener("submit", (event) => event.preventDefault());
at("key").addEventListener("change", () => {
  setKey(at("key").value);
  update();
});

// --- beginning -------------------------------------------------------------------------------

async function begin() {
  const [found, settings] = await Promise.all([get("/v1/models"), get("/frontend/settings")]);
  models = found.models;
  at("model").replaceChildren(...models.map((model) => {
    const option = make("option", `${model.source.name} → ${model.target.name}`);
    option.value = nameOf(model);
    return option;
  }));
  state.model = nameOf(models[0]);
  at("key-line").hidden = !settings.keyRequired;
  at("key").value = getKey();
  const saved = location.hash.length > 1 ? fromLink(location.hash) : null;
  if (saved && !models.some((model) => nameOf(model) === saved.model)) saved.model = state.model;
  restore(saved ?? state);
  history.remember(state);
  if (state.sentences.some((each) => hasWishes(each.wishes))) say("Opened from a link.");
}

begin().catch((error) => say(error.message));
