// Words of a translation, and where they stand.

const WORD = /[\p{L}\p{M}\p{N}]+(?:[-'’.][\p{L}\p{M}\p{N}]+)*/gu;

// Cuts a text into words and what stands between them: [{text, start, isWord}, …]
export function cut(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    if (found.index > at) parts.push({ text: text.slice(at, found.index), start: at, isWord: false });
    parts.push({ text: found[0], start: found.index, isWord: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), start: at, isWord: false });
  return parts;
}

export function overlaps(part, span) {
  return span.start !== null && part.start < span.end && span.start < part.start + part.text.length;
}

// The rest of the translation behind what was typed, null if it does not begin so.
export function completion(translation, typed) {
  return typed && translation.startsWith(typed) ? translation.slice(typed.length) : null;
}

// What Tab adds: the rest of the word, and the space behind it.
export function nextWord(rest) {
  return /^\s*\S+\s?/.exec(rest)?.[0] ?? "";
}

// The server counts code points, a browser counts UTF-16 units.
export function toCodePoints(text, offset) {
  return [...text.slice(0, offset)].length;
}

export function toUnits(text, offset) {
  if (offset === null) return null;
  let units = 0;
  for (const character of [...text].slice(0, offset)) units += character.length;
  return units;
}
