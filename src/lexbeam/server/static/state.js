// What the user has said so far: the text, the glossary, and the wishes for each sentence.
// Every state is plain data, so that it can be undone and put into a link.

const NO_WISHES = { constraints: [], avoid: [], prefix: "" };

export function emptyWishes() {
  return structuredClone(NO_WISHES);
}

export function hasWishes(wishes) {
  return wishes.constraints.length + wishes.avoid.length > 0 || wishes.prefix !== "";
}

export class History {
  constructor(most = 200) {
    this.most = most;
    this.states = [];
  }

  remember(state) {
    const written = JSON.stringify(state);
    if (this.states.at(-1) !== written) this.states.push(written);
    if (this.states.length > this.most) this.states.shift();
  }

  get canUndo() {
    return this.states.length > 1;
  }

  undo() {
    this.states.pop();
    return JSON.parse(this.states.at(-1));
  }
}

// The wishes of a text whose sentences have changed: those of an equal sentence stay with it, the
// others stay with the sentence of the same number.
export function carryOver(before, sentences) {
  const known = new Map(before.map((each) => [each.text, each.wishes]));
  const texts = new Set(sentences);
  return sentences.map((text, i) => {
    const sameNumber = before[i] && !texts.has(before[i].text) ? untied(before[i].wishes) : null;
    return { text, wishes: known.get(text) ?? sameNumber ?? emptyWishes() };
  });
}

// What was tied to words of a sentence is not tied any more when the sentence has changed.
function untied(wishes) {
  return { ...wishes, constraints: wishes.constraints.map((each) => each.text ?? each) };
}

export function toLink(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return "#" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromLink(hash) {
  try {
    const binary = atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}

// Only what has the right shape is taken from a link, whoever wrote it.
function checked(state) {
  const text = (value) => (typeof value === "string" ? value.slice(0, 100000) : "");
  const texts = (list) => (Array.isArray(list) ? list.filter((x) => typeof x === "string") : []);
  const constraints = (list) => (Array.isArray(list) ? list : []).flatMap((each) => {
    if (typeof each === "string") return [each];
    const tied = Array.isArray(each?.source) && each.source.length === 2 && each.source.every(Number.isInteger);
    return tied && typeof each.text === "string" ? [{ text: each.text, source: each.source }] : [];
  });
  const sentences = Array.isArray(state?.sentences) ? state.sentences.slice(0, 2000) : [];
  return {
    source: text(state?.source),
    glossary: text(state?.glossary),
    model: text(state?.model),
    sentences: sentences.map((each) => ({
      text: text(each?.text),
      wishes: {
        constraints: constraints(each?.wishes?.constraints),
        avoid: texts(each?.wishes?.avoid),
        prefix: text(each?.wishes?.prefix),
      },
    })),
  };
}

// Terms of a pasted table: source and target, with a tab, a semicolon or a comma between.
export function readGlossary(text) {
  const terms = {};
  for (const line of text.split(/\r?\n/)) {
    const separator = ["\t", ";", ","].find((each) => line.includes(each));
    if (!separator) continue;
    const [source, target] = line.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
    if (source && target) (terms[source] ??= []).push(target);
  }
  return terms;
}
