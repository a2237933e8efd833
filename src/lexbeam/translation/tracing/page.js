"use strict";
/* Shows a search step by step. All text from the data is written as text nodes, never as markup. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const SPACE = "▁";
  const REST_SHOWN = 10;
  const FORMS_SHOWN = 2;
  const TAIL_CHARACTERS = 40;
  const LETTER = /[\p{L}\p{M}\p{N}]/u;
  const state = { search: 0, step: 0, pick: null, open: new Set(), timer: 0 };

  // --- the data -----------------------------------------------------------------------------

  const search = () => data.searches[state.search];
  const stepAt = (number) => search().steps[number];
  const total = () => search().constraints.reduce((sum, each) => sum + each.size, 0);
  const piece = (number) => data.pieces[number];
  const has = (candidate, origin) => candidate[4] >> data.origins.indexOf(origin) & 1;

  /** The candidate that became what stands in a slot after a step; null: the slot is empty. */
  function standing(number, slot) {
    const there = stepAt(number).beam[slot];
    if (!there) return null;
    const [parent, token, score, bank, origins, , progress] = stepAt(number).candidates[there[0]];
    const fate = data.fates[there[2]];
    const met = stepAt(number).banks[bank][0];
    return { parent, token, raw: score, score: there[1], bank: met, origins, progress, fate };
  }

  /** The pieces of a hypothesis, its end left out. */
  function tokensOf(number, slot) {
    const tokens = [];
    for (let step = number; step >= 0; step--) {
      const one = standing(step, slot);
      if (!has([0, 0, 0, 0, one.origins], "stays")) tokens.push(one.token);
      slot = one.parent;
    }
    return tokens.reverse();
  }

  /** The slots of a hypothesis at every step up to the one where it stands. */
  function lineage(pick) {
    const slots = [];
    if (!pick) return slots;
    for (let step = pick.step, slot = pick.slot; step >= 0; step--) {
      slots[step] = slot;
      slot = standing(step, slot).parent;
    }
    return slots;
  }

  const nothing = () => search().constraints.map(() => 0);
  const progressAt = (number, slot) => number < 0 ? nothing() : standing(number, slot).progress;

  // --- writing ------------------------------------------------------------------------------

  function make(name, attributes = {}, ...children) {
    const svg = ["path", "rect", "polyline", "circle"].includes(name);
    const element = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
      else if (key === "style") for (const [property, set] of Object.entries(value)) element.style.setProperty(property, set);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /** The direction of the first letter that has one. */
  function direction(text) {
    const letter = text.match(/\p{L}/u);
    return letter && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud83a[\udc00-\udfff]/.test(letter[0]) ? "rtl" : "ltr";
  }

  /** A piece with its space made visible. */
  function written(number, classes = "piece") {
    const text = piece(number);
    const spaced = text.startsWith(SPACE);
    return make("bdi", { class: classes },
      spaced ? make("span", { class: "mark" }, SPACE) : null, spaced ? text.slice(1) : text);
  }

  /** Pieces as running text. */
  const plain = (tokens) => tokens.map(piece).join("").replaceAll(SPACE, " ").trim();

  function number(score) {
    if (score < -1e8) return "−∞";
    return score.toFixed(2).replace("-", "−");
  }

  const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  function bankColour(met) {
    const share = total() ? Math.round(100 * met / total()) : 0;
    return `color-mix(in oklab, var(--high) ${share}%, var(--low))`;
  }

  const bankPill = (met) => make("span",
    { class: "bank", style: { background: bankColour(met) }, title: `bank ${met}: ${many(met, "constraint token")} met` }, String(met));

  // --- top: source, output, constraints -----------------------------------------------------

  function showTop() {
    const { algorithm, perBank, k, prune, lag, stop } = search();
    const settings = [data.model, algorithm, `k = ${k}${perBank ? " a bank" : ""}`, `C = ${total()}`, prune ? `prune ${prune}` : "no pruning"];
    if (lag) settings.push(`lag ${lag}`);
    if (stop !== "all") settings.push(`stop ${stop}`);
    at("settings").textContent = settings.filter(Boolean).join(" · ");
    at("ribbon").dir = direction(search().output);
    at("ribbon").replaceChildren(...winner().map((token, step) => ribbonPiece(token, step)));
    const slider = at("slider");
    slider.max = String(search().steps.length - 1);
  }

  /** The source; the tokens that a hypothesis attends to for its last token are marked. */
  function showSource() {
    const { source, sourceTokens } = search();
    const characters = [...source];
    const cut = (start, end) => characters.slice(start, end).join("");
    const pick = picked();
    const shares = new Map(pick ? attentionOf(pick.step, pick.slot) : []);
    const parts = [];
    let shown = 0;
    sourceTokens.forEach(([start, end], token) => {
      if (start < shown || end <= start) return;
      const share = shares.get(token) ?? 0;
      parts.push(cut(shown, start), make("span", {
        class: share ? "attended" : "", style: { "--share": `${Math.round(70 * share)}%` },
        title: share ? `${Math.round(100 * share)} % of the attention of ${state.pick ? `slot ${pick.slot + 1}` : "the output"}` : null,
      }, cut(start, end)));
      shown = end;
    });
    at("source").replaceChildren(...parts, cut(shown));
    at("source").title = source;
  }

  /** The source tokens that what stands in a slot attends to, and their shares. */
  function attentionOf(number, slot) {
    const there = stepAt(number).beam[slot];
    const stays = there && has(stepAt(number).candidates[there[0]], "stays");
    return there && !stays ? there[3] ?? [] : [];
  }

  /** The source word that what stands in a slot attends to most; nothing if unknown. */
  function lookedAt(number, slot) {
    const spanOf = ([token]) => search().sourceTokens[token] ?? [0, 0];
    const written = attentionOf(number, slot).filter((one) => spanOf(one)[0] < spanOf(one)[1]);
    if (!written.length) return "";
    const characters = [...search().source];
    let [start, end] = spanOf(written.reduce((best, one) => one[1] > best[1] ? one : best));
    if (!LETTER.test(characters[start])) return characters.slice(start, end).join("");
    while (start > 0 && LETTER.test(characters[start - 1])) start--;
    while (end < characters.length && LETTER.test(characters[end])) end++;
    return characters.slice(start, end).join("");
  }

  function winner() {
    const { path, ended } = search();
    return path.length ? tokensOf(Math.min(ended, path.length - 1), path[Math.min(ended, path.length - 1)]) : [];
  }

  function ribbonPiece(token, step) {
    const now = progressAt(step, search().path[step]);
    const before = progressAt(step - 1, search().path[step - 1]);
    const serves = now.some((met, i) => met > before[i]);
    return make("button", {
      type: "button", "data-step": step, class: serves ? "serves" : "",
      title: `step ${step + 1}${serves ? ", goes on with a constraint" : ""}`, on: { click: () => go(step) },
    }, written(token));
  }

  function showConstraints() {
    const pick = picked();
    const progress = pick ? progressAt(pick.step, pick.slot) : nothing();
    const before = pick ? progressAt(pick.step - 1, standing(pick.step, pick.slot).parent) : nothing();
    const whose = pick && state.pick ? `slot ${pick.slot + 1}` : "output";
    const row = [make("span", { class: "label" }, search().constraints.length ? `constraints (${whose}):` : "no constraints")];
    search().constraints.forEach((constraint, i) => row.push(chip(constraint, progress[i], before[i])));
    if (search().prefix.length) row.push(make("span", { class: "label" }, "begins:"), make("bdi", {}, plain(search().prefix)));
    if (search().avoid.length) {
      row.push(make("span", { class: "label" }, "avoided:"));
      search().avoid.forEach((tokens) => row.push(make("s", {}, make("bdi", {}, plain(tokens)))));
    }
    if (data.others) row.push(make("span", { class: "label" }, `(${data.others} other ${data.others === 1 ? "search" : "searches"} on the way not shown)`));
    at("constraints").replaceChildren(...row);
  }

  /** A constraint with what has been met of it. */
  function chip(constraint, met, before) {
    const { parts, times, size } = constraint;
    const whole = met >= size;
    const one = size / times;
    const words = parts.flatMap((forms, i) => [
      i ? make("span", { class: "note" }, constraint.within === null ? "…" : `…${constraint.within}…`) : null,
      ...formsOf(constraint, i, whole ? 1 : parts.length === 1 ? met % one / one : 0),
    ]);
    const notes = [];
    if (constraint.first?.flat().every(Boolean)) notes.push("at the beginning");
    if (constraint.last) notes.push("at the end");
    if (constraint.price !== null && constraint.price !== undefined) notes.push(`for at most ${constraint.price}`);
    if (times > 1) notes.push(`× ${times}`);
    const lost = met < before;
    return make("span", { class: `chip${whole ? " met" : ""}${lost ? " lost" : ""}`, title: `${met} of ${size} tokens met` },
      ...words, notes.length ? make("span", { class: "note" }, notes.join(", ")) : null,
      make("span", { class: "count" }, whole ? "✓" : `${met}/${size}`),
      lost ? make("span", { class: "lostmark" }, `↺ ${before}`) : null);
  }

  /** The forms of a part, or as many as there is room for; a single one is filled by what is met. */
  function formsOf(constraint, part, share) {
    const forms = constraint.parts[part].map((tokens, i) => ({ tokens, first: constraint.first?.[part][i] ?? false }));
    const usual = forms.filter(({ first }) => !first);  // others are often the same in capitals
    const shown = (usual.length ? usual : forms).slice(0, FORMS_SHOWN);
    const filled = (tokens) => shown.length === 1 || share === 1 ? Math.round(share * tokens.length) : 0;
    const rest = forms.filter((form) => !shown.includes(form));
    const names = rest.map(({ tokens, first }) => plain(tokens) + (first ? " (at the beginning)" : ""));
    return [...shown.flatMap(({ tokens }, i) => [
      i ? make("span", { class: "note" }, "|") : null,
      make("bdi", { dir: direction(plain(tokens)) }, ...tokens.map((token, place) => written(token, place < filled(tokens) ? "piece has" : "piece"))),
    ]), rest.length ? make("span", { class: "note", title: `or:\n${names.join("\n")}` }, `+${rest.length}`) : null];
  }

  // --- the step: beam before, candidates, beam after ----------------------------------------

  /** What the reader looks at: a hypothesis that was clicked, otherwise the output's. */
  function picked() {
    if (state.pick && state.pick.step >= state.step) return { step: state.step, slot: lineage(state.pick)[state.step] };
    const slot = search().path[state.step];
    return slot === undefined ? null : { step: state.step, slot };
  }

  function marks(step, slot) {
    const classes = [];
    if (search().path[step] === slot) classes.push("win");
    if (state.pick && state.pick.step >= step && lineage(state.pick)[step] === slot) classes.push("pick");
    return classes.join(" ");
  }

  function showBefore() {
    const step = state.step - 1;
    const rows = step < 0 ? [startRow()] : stepAt(step).beam.map((_, slot) => beamRow(step, slot, false));
    fill("before", step < 0 ? "Beam before: the empty output" : "Beam before", rows);
  }

  function startRow() {
    return make("div", { class: "row win", "data-slot": 0 }, make("span", { class: "slot" }, "1"),
      make("span", { class: "text" }, make("span", { class: "start" }, "nothing yet")),
      make("span", { class: "score" }, number(0)), bankPill(0));
  }

  function showAfter() {
    const { beam } = stepAt(state.step);
    const rows = beam.map((_, slot) => beamRow(state.step, slot, true));
    fill("after", `Beam after: ${many(beam.filter(Boolean).length, "slot")} filled${search().bySet ? "" : ", by bank from the top"}`, rows);
  }

  function beamRow(step, slot, after) {
    const one = standing(step, slot);
    if (!one) return null;
    const gone = one.fate === "pruned" || one.fate === "lagging";
    if (gone && !after) return null;
    const tokens = tokensOf(step, slot);
    const tail = tailOf(tokens);
    const looked = lookedAt(step, slot);
    const shown = tail.map((token, i) => make("span", { class: i === tail.length - 1 && after ? "new" : "" }, piece(token).replaceAll(SPACE, " ")));
    const row = make("div", {
      class: `row ${marks(step, slot)}${gone ? " gone" : ""}`, "data-slot": slot,
      title: `${plain(tokens)}\nscore ${number(one.score)}${one.fate === "finished" ? " (by length)" : ""}, bank ${one.bank}${looked ? `\nattends most to: ${looked}` : ""}`,
      on: { click: () => choose(step, slot) },
    }, make("span", { class: "slot" }, String(slot + 1)),
    make("span", { class: "text", dir: "auto" }, tail.length < tokens.length ? "…" : null, ...shown),
    after && looked ? make("span", { class: "looks", dir: "auto" }, looked) : null,
    one.fate === "live" ? null : make("span", { class: `fate ${one.fate}`, title: FATE_NOTES[one.fate] }, FATE_NAMES[one.fate]),
    make("span", { class: "score" }, number(one.score)), bankPill(one.bank));
    return row;
  }

  /** The last pieces, about as many as find room. */
  function tailOf(tokens) {
    let room = TAIL_CHARACTERS;
    const first = tokens.findLastIndex((token) => (room -= piece(token).length) < 0);
    return tokens.slice(Math.min(first + 1, tokens.length - 1));
  }

  /** Take pieces off the beginning of texts that are too long, so that the newest can be seen. */
  function shorten(panel) {
    for (const text of panel.querySelectorAll(".text")) {
      while (text.scrollWidth > text.clientWidth && text.children.length > 1) {
        text.firstElementChild.remove();
        if (!text.textContent.startsWith("…")) text.prepend("…");
      }
    }
  }

  const FATE_NAMES = { finished: "ended", pruned: "pruned", lagging: "lags" };
  const FATE_NOTES = {
    finished: "ended: its score is divided by its length",
    pruned: "dropped: too far below the best that has ended (paper, section 3.3)",
    lagging: "dropped: too far below the best of its bank (lag, not in the paper)",
  };

  function showCandidates() {
    const { banks, candidates, leftOff } = stepAt(state.step);
    const groups = [];
    for (let bank = banks.length - 1; bank >= 0; bank--) {
      if (banks[bank][1]) {
        groups.push(bankGroup(bank));
        continue;
      }
      let low = bank;
      while (low > 0 && !banks[low - 1][1]) low--;
      groups.push(emptyBanks(low, bank));
      bank = low;
    }
    const count = candidates.length + leftOff;
    const kinds = total() ? " in banks: k best of all, constraints, best of each row" : ": the k best of all";
    fill("candidates", many(count, "candidate") + kinds, groups);
    if (leftOff) at("candidates").lastElementChild.append(make("p", { class: "empty" }, `${leftOff} more are not listed`));
  }

  function bankGroup(bank) {
    const all = stepAt(state.step).candidates.map((candidate, i) => [candidate, i]).filter(([candidate]) => candidate[3] === bank);
    const chosen = all.filter(([candidate]) => candidate[5] >= 0);
    const rest = all.filter(([candidate]) => candidate[5] < 0);
    return make("div", { class: "group" }, groupHead(bank, all), ...chosen.map(candidateRow),
      rest.length ? restOf(bank, rest) : null);
  }

  function groupHead(bank, all) {
    const [met, count, given, filled] = stepAt(state.step).banks[bank];
    const { moves } = stepAt(state.step);
    const came = moves.filter(([, to]) => to === bank);
    const away = moves.filter(([from]) => from === bank);
    const notes = [many(count, "candidate")];
    if (given === null) notes.push(`${filled} chosen`);
    else notes.push(moves.length || given === filled ? many(given, "slot") : `${many(given, "slot")}, ${filled} used`);
    came.forEach(([from, , n]) => notes.push(`+${n} from bank ${from}`));
    away.forEach(([, to, n]) => notes.push(`−${n} to bank ${to}`));
    const name = search().bySet ? setName(all[0][0][6]) : `bank ${met}`;
    return make("div", { class: "grouphead", title: notes.join(", ") }, bankPill(met), make("span", {}, name),
      squares(given, filled, came.reduce((sum, move) => sum + move[2], 0)),
      make("span", { class: "note" }, notes.join(", ")));
  }

  const setName = (progress) => progress.map((met, i) => `${plain(search().constraints[i].parts[0][0])} ${met}/${search().constraints[i].size}`).join(", ");

  /** Slots of a bank: kept, given away, come from other banks. */
  function squares(given, filled, came) {
    if (given === null || Math.max(given, filled) > 24) return null;
    const boxes = [];
    for (let i = 0; i < Math.max(given, filled); i++) {
      boxes.push(make("i", { class: i < filled - came ? "kept" : i < filled ? "came" : "away" }));
    }
    return make("span", { class: "squares", title: `${many(given, "slot")} at first, ${filled} filled` }, ...boxes);
  }

  function emptyBanks(low, high) {
    const { banks, moves } = stepAt(state.step);
    const given = banks.slice(low, high + 1).reduce((sum, bank) => sum + (bank[2] ?? 0), 0);
    const takers = [...new Set(moves.filter(([from]) => from >= low && from <= high).map(([, to]) => to))].sort((a, b) => b - a);
    const goes = takers.length ? `, ${many(given, "slot")} → bank${takers.length > 1 ? "s" : ""} ${takers.join(", ")}` : given ? `, ${many(given, "slot")} unused` : "";
    const name = low === high ? `bank ${low}` : `banks ${low} to ${high}`;
    return make("div", { class: "group" }, make("div", { class: "grouphead" },
      bankPill(high), make("span", {}, name), make("span", { class: "note" }, `no candidates${goes}`)));
  }

  function originBadges(candidate) {
    const names = { best: "k", constraint: "con", row: "row", prefix: "prefix", stays: "ended" };
    return make("span", { class: "origins" }, ...data.origins.filter((origin) => has(candidate, origin)).map((origin) =>
      make("span", { class: `origin ${origin === "row" ? "row-" : origin}`, title: ORIGIN_NOTES[origin] }, names[origin])));
  }

  const ORIGIN_NOTES = {
    best: "among the k best of all rows",
    constraint: "starts or continues a constraint that is not met",
    row: "the best continuation of its hypothesis",
    prefix: "the output has to begin so",
    stays: "has ended: it is its own continuation",
  };

  const WORTH_NOTE = "worth: the score and what its unmet constraints are expected to cost, in units of their mean price; by this, less a little for each better one of its bank, candidates are chosen";

  function parentBank(candidate) {
    return state.step ? standing(state.step - 1, candidate[0]).bank : 0;
  }

  function change(candidate) {
    const before = progressAt(state.step - 1, candidate[0]);
    const lost = candidate[6].reduce((sum, met, i) => sum + Math.max(before[i] - met, 0), 0);
    const gain = stepAt(state.step).banks[candidate[3]][0] - parentBank(candidate);
    const words = [];
    if (gain > 0) words.push(`+${gain}`);
    if (lost) words.push(`↺ unwinds ${lost}`);
    return make("span", { class: `change${lost ? " lost" : ""}`, title: lost ? "a constraint that had begun is broken off" : "constraint tokens gained" }, words.join(" "));
  }

  function candidateRow([candidate, place]) {
    const [parent, token, score, , , slot] = candidate;
    return make("div", {
      class: `row ${marks(state.step, slot)}`, "data-candidate": place,
      title: `${plain([...parentTokens(parent), token])}`, on: { click: () => choose(state.step, slot) },
    }, make("span", { class: "from", title: `continues slot ${parent + 1}` }, `${parent + 1} ▸`),
    make("span", { class: "text", dir: "auto" }, written(token, "new")), change(candidate),
    originBadges(candidate), make("span", { class: "score" }, number(score)),
    candidate[7] === null ? null : make("span", { class: "score worth", title: WORTH_NOTE }, number(candidate[7])));
  }

  const parentTokens = (parent) => state.step ? tokensOf(state.step - 1, parent) : [];

  /** Candidates of a bank that were not chosen, in little room. */
  function restOf(bank, rest) {
    const open = state.open.has(bank);
    const shown = open ? rest : rest.slice(0, REST_SHOWN);
    const chips = shown.map(([candidate, place]) => {
      const [parent, token, score] = candidate;
      const origins = data.origins.filter((origin) => has(candidate, origin));
      return make("span", {
        class: "cand", "data-candidate": place,
        title: `not chosen; continues slot ${parent + 1}: ${plain([...parentTokens(parent), token])}\n${origins.map((origin) => ORIGIN_NOTES[origin]).join("; ")}`,
        on: { click: () => state.step && choose(state.step - 1, parent) },
      }, ...origins.map((origin) => make("i", { class: `dot ${origin === "row" ? "row-" : origin}` })),
      make("span", { class: "num" }, `${parent + 1}▸`), written(token), make("span", { class: "num" }, number(score)),
      unwinds(candidate) ? make("span", { class: "lostmark", title: "a constraint that had begun is broken off" }, "↺") : null);
    });
    if (rest.length > shown.length || open && rest.length > REST_SHOWN) {
      const toggle = () => { open ? state.open.delete(bank) : state.open.add(bank); show(); };
      chips.push(make("button", { type: "button", on: { click: toggle } }, open ? "fewer" : `${rest.length - shown.length} more`));
    }
    return make("div", { class: "rest" }, ...chips);
  }

  function fill(id, title, rows) {
    const panel = at(id);
    panel.firstElementChild.textContent = title;
    panel.lastElementChild.replaceChildren(...rows.filter(Boolean));
    if (id !== "candidates") shorten(panel);
  }

  // --- lines between the panels -------------------------------------------------------------

  function drawLinks(hover = null) {
    const frame = document.querySelector("main").getBoundingClientRect();
    const lines = [];
    stepAt(state.step).candidates.forEach((candidate, place) => {
      const [parent, , , , , slot] = candidate;
      if (slot < 0 && place !== hover) return;
      const middle = end("candidates", `[data-candidate="${place}"]`, frame);
      const left = end("before", `[data-slot="${parent}"]`, frame);
      const right = slot < 0 ? null : end("after", `[data-slot="${slot}"]`, frame);
      const kind = `${slot < 0 ? "" : marks(state.step, slot)}${place === hover ? " hover" : ""}`;
      if (left && middle) lines.push([kind, left.right, left.y, middle.left, middle.y]);
      if (right && middle) lines.push([kind, middle.right, middle.y, right.left, right.y]);
    });
    const weight = (kind) => (kind.includes("win") ? 2 : 0) + (kind.includes("pick") ? 1 : 0) + (kind.includes("hover") ? 4 : 0);
    lines.sort((a, b) => weight(a[0]) - weight(b[0]));
    at("links").replaceChildren(...lines.map(([kind, x1, y1, x2, y2]) => {
      const bend = (x2 - x1) / 2;
      return make("path", { class: kind, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
    }));
  }

  /** Where lines meet a panel at the height of one of its rows, even if that is scrolled away. */
  function end(id, selector, frame) {
    const rows = at(id).lastElementChild;
    const row = rows.querySelector(selector);
    if (!row) return null;
    const box = rows.getBoundingClientRect();
    const own = row.getBoundingClientRect();
    const y = Math.min(Math.max(own.top + own.height / 2, box.top + 3), box.bottom - 3) - frame.top;
    return { left: box.left - frame.left, right: box.right - frame.left, y };
  }

  // --- the story of the step ----------------------------------------------------------------

  function story() {
    const { candidates, leftOff, beam, banks, moves } = stepAt(state.step);
    const counted = (origin) => candidates.filter((candidate) => has(candidate, origin)).length;
    const came = [[counted("best"), "among the k best of all"], [counted("constraint"), "for constraints"], [counted("row"), "best of their rows"], [counted("prefix"), "forced by the prefix"], [counted("stays"), "already ended"]];
    const sentences = [`${many(candidates.length + leftOff, "candidate")}: ${came.filter(([n]) => n).map(([n, what]) => `${n} ${what}`).join(", ")}.`];
    const empty = banks.filter((bank) => !bank[1]).length;
    const moved = moves.reduce((sum, move) => sum + move[2], 0);
    if (moved) sentences.push(`${many(moved, "slot")} ${moved === 1 ? "moves" : "move"} to nearby banks${empty ? ` (${many(empty, "bank")} without candidates)` : ""}.`);
    const lost = beam.filter((there) => there && unwinds(candidates[there[0]])).length;
    if (lost) sentences.push(`${lost === 1 ? "One chosen hypothesis unwinds" : `${lost} chosen hypotheses unwind`} a constraint that had begun.`);
    sentences.push(...fates(beam, candidates));
    sentences.push(...ending());
    return sentences.join(" ");
  }

  function unwinds(candidate) {
    const before = progressAt(state.step - 1, candidate[0]);
    return candidate[6].some((met, i) => met < before[i]);
  }

  function fates(beam, candidates) {
    const sentences = [];
    const count = (fate) => beam.filter((there) => there && data.fates[there[2]] === fate).length;
    const ended = beam.filter((there) => there && data.fates[there[2]] === "finished" && !has(candidates[there[0]], "stays")).length;
    if (ended) sentences.push(`${many(ended, ended === 1 ? "hypothesis" : "hypothese")} ${ended === 1 ? "ends" : "end"} here.`);
    if (count("pruned")) sentences.push(`${count("pruned")} pruned.`);
    if (count("lagging")) sentences.push(`${count("lagging")} too far behind in ${count("lagging") === 1 ? "its bank" : "their banks"}.`);
    return sentences;
  }

  function ending() {
    const { steps, ended } = search();
    const sentences = [];
    if (state.step === ended) sentences.push("★ The output ends here.");
    const best = stepAt(state.step).bestFinished;
    if (state.step > ended && best !== null) sentences.push(`Best ended: ${number(best)}.`);
    if (state.step === steps.length - 1) {
      const alive = stepAt(state.step).beam.some((there) => there && data.fates[there[2]] === "live");
      sentences.push(alive ? `The search stops (rule “${search().stop}”).` : "Nothing is left to continue: the search stops.");
    }
    return sentences;
  }

  // --- the map of all steps -----------------------------------------------------------------

  /** Draw the map; it stays as it is while the reader goes through a search. */
  function drawMap() {
    const map = at("map");
    const { steps, path } = search();
    const size = mapSize();
    map.setAttribute("height", String(size.height));
    map.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    const cells = [make("rect", { class: "now", y: 0, width: size.column, height: size.height })];
    steps.forEach((step, number) => step.beam.forEach((there, slot) => {
      if (!there) return;
      const one = standing(number, slot);
      const gone = one.fate === "pruned" || one.fate === "lagging";
      cells.push(make("rect", {
        x: number * size.column + 1, y: slot * size.row + 1, width: Math.max(size.column - 2, 1), height: Math.max(size.row - 1, 1),
        style: { fill: bankColour(one.bank), opacity: gone ? 0.25 : 1 },
      }));
    }));
    const points = path.map((slot, step) => `${(step + 0.5) * size.column},${(slot + 0.5) * size.row + 1}`);
    map.replaceChildren(...cells, make("polyline", { points: points.join(" ") }), make("circle", { r: 4 }));
    at("slider").style.setProperty("--thumb", `${size.column}px`);
  }

  function mapSize() {
    const { steps } = search();
    const width = at("map").clientWidth || 1200;
    const slots = Math.max(...steps.map((step) => step.beam.length), 1);
    const row = Math.max(2, Math.min(8, 72 / slots));
    return { width, column: width / steps.length, row, height: slots * row + 2 };
  }

  function markMap() {
    const { column, row } = mapSize();
    const slot = search().path[state.step];
    const [now, dot] = [at("map").querySelector(".now"), at("map").querySelector("circle")];
    now.setAttribute("x", String(state.step * column));
    dot.setAttribute("cx", String((state.step + 0.5) * column));
    dot.setAttribute("cy", String(((slot ?? -9) + 0.5) * row + 1));
  }

  // --- going through it ---------------------------------------------------------------------

  function show() {
    const { steps, ended } = search();
    at("slider").value = String(state.step);
    at("number").textContent = `step ${state.step + 1} of ${steps.length}`;
    at("story").textContent = story();
    for (const button of at("ribbon").children) {
      const step = Number(button.dataset.step);
      button.classList.toggle("now", step === Math.min(state.step, ended));
      button.classList.toggle("done", step < state.step);
    }
    showSource();
    showConstraints();
    showBefore();
    showCandidates();
    showAfter();
    reveal();
    drawLinks();
    markMap();
    const hash = `#${state.search + 1}.${state.step + 1}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  /** Scroll to what the reader follows. */
  function reveal() {
    for (const row of document.querySelectorAll("main .row.pick, main .row.win")) {
      const rows = row.closest(".rows");
      const [own, box] = [row.getBoundingClientRect(), rows.getBoundingClientRect()];
      if (own.top < box.top || own.bottom > box.bottom) rows.scrollTop += own.top - box.top - box.height / 2;
    }
  }

  function go(step) {
    state.step = Math.max(0, Math.min(step, search().steps.length - 1));
    if (state.pick && state.pick.step < state.step) state.pick = null;
    state.open.clear();
    show();
  }

  function choose(step, slot) {
    state.pick = state.pick && state.pick.step === step && state.pick.slot === slot ? null : { step, slot };
    if (search().path[step] === slot) state.pick = null;
    show();
  }

  /** Pick the next or the last slot of the beam after the step. */
  function pickBeside(offset) {
    const { beam } = stepAt(state.step);
    const now = picked();
    for (let slot = (now ? now.slot : -1) + offset; slot >= 0 && slot < beam.length; slot += offset) {
      if (beam[slot]) {
        state.pick = search().path[state.step] === slot ? null : { step: state.step, slot };
        show();
        return;
      }
    }
  }

  function play() {
    const running = state.timer !== 0;
    clearInterval(state.timer);
    state.timer = running ? 0 : setInterval(() => {
      if (state.step === search().steps.length - 1) play();
      else go(state.step + 1);
    }, 900);
    at("play").textContent = running ? "play" : "pause";
  }

  function select(number, step = 0) {
    state.search = number;
    state.pick = null;
    at("sentences").value = String(number);
    showTop();
    drawMap();
    go(step);
  }

  function turn() {
    const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = dark === "dark" ? "light" : "dark";
  }

  function explain() {
    const term = (name, text) => [make("dt", {}, name), make("dd", {}, text)];
    const badge = (origin, name) => make("span", { class: `origin ${origin}` }, name);
    const key = (...names) => make("span", {}, ...names.flatMap((name) => [make("kbd", {}, name), " "]));
    at("legend").replaceChildren(
      make("h2", {}, "How to read this page"),
      make("p", {}, "One step of the search at a time, as in Figure 2 of Post & Vilar (2018): the beam before the step, the candidates it looked at, grouped into banks, and the beam that was filled from them. The way of the output is golden throughout."),
      make("dl", {},
        ...term(bankPill(0), "A bank: how many constraint tokens have been met; greener is more."),
        ...term(badge("best", "k"), "Among the k best continuations of all hypotheses."),
        ...term(badge("constraint", "con"), "Starts or continues a constraint that is not met yet."),
        ...term(badge("row-", "row"), "The best continuation of its hypothesis."),
        ...term(badge("stays", "ended"), "Has ended, and is its own and only continuation."),
        ...term(squares(3, 2, 0), "Slots of a bank before and after adjustment: a dashed one was given away, a blue one has come from another bank."),
        ...term("↺ unwinds 2", "A constraint that had begun is broken off: its tokens no longer count."),
        ...term("pruned, lags", "Chosen, but dropped at once: too far below the best that has ended, or below the best of its bank."),
        ...term("3 ▸", "Continues slot 3 of the beam before."),
        ...(search().steps.some((step) => step.candidates.some((candidate) => candidate[7] !== null))
          ? term(make("span", { class: "worth" }, "−1.23"), `Of a candidate, its ${WORTH_NOTE}.`) : []),
        ...(search().steps.some((step) => step.beam.some((there) => there && there[3]))
          ? [
            ...term(make("span", { class: "attended", style: { "--share": "60%" } }, "source"), "What the model attends to in the source for the newest token of the output, or of the hypothesis that was clicked."),
            ...term(make("span", { class: "looks" }, "source"), "The source word that a hypothesis of the new beam attends to most for its newest token."),
          ] : []),
        ...term("scores", "Log-probabilities; divided by the length once a hypothesis has ended.")),
      make("p", {}, key("←", "→"), "steps ", key("Home", "End"), "first and last ", key("↑", "↓"), "other hypotheses ", key("Esc"), "back to the output ", key("space"), "play ", key("d"), "light or dark"),
      make("form", { method: "dialog" }, make("button", {}, "close")));
    at("legend").showModal();
  }

  const KEYS = {
    ArrowRight: () => go(state.step + 1), ArrowLeft: () => go(state.step - 1),
    Home: () => go(0), End: () => go(Infinity), " ": play, d: turn, "?": explain,
    ArrowDown: () => pickBeside(1), ArrowUp: () => pickBeside(-1),
    Escape: () => { state.pick = null; show(); },
  };

  function listen() {
    const click = { first: () => go(0), back: () => go(state.step - 1), forward: () => go(state.step + 1), last: () => go(Infinity), play, theme: turn, help: explain };
    for (const [id, act] of Object.entries(click)) at(id).addEventListener("click", act);
    at("slider").addEventListener("input", () => go(Number(at("slider").value)));
    at("sentences").addEventListener("change", () => select(Number(at("sentences").value)));
    at("map").addEventListener("click", (event) => {
      const { steps } = search();
      go(Math.floor(event.offsetX / at("map").clientWidth * steps.length));
    });
    document.addEventListener("keydown", (event) => {
      const act = KEYS[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey || at("legend").open || event.target.tagName === "SELECT") return;
      event.preventDefault();
      act();
    });
    for (const rows of document.querySelectorAll(".rows")) rows.addEventListener("scroll", () => drawLinks(), { passive: true });
    at("candidates").addEventListener("mouseover", (event) => {
      const over = event.target.closest("[data-candidate]");
      drawLinks(over ? Number(over.dataset.candidate) : null);
    });
    at("candidates").addEventListener("mouseleave", () => drawLinks());
    addEventListener("hashchange", followAddress);
    addEventListener("resize", () => { drawMap(); show(); });
  }

  function begin() {
    if (!data.searches.length) {
      at("source").textContent = "Nothing was searched: the text is empty.";
      document.querySelector("main").hidden = document.querySelector("footer").hidden = true;
      return;
    }
    const names = data.searches.map(({ source }, i) => make("option", { value: i }, `${i + 1}: ${source.slice(0, 50)}`));
    at("sentences").replaceChildren(...names);
    at("sentences").hidden = data.searches.length < 2;
    listen();
    followAddress();
  }

  /** The address says which step of which sentence is shown, so that it can be passed on: #1.5 */
  function followAddress() {
    const [number, step] = location.hash.slice(1).split(".").map(Number);
    const known = number >= 1 && number <= data.searches.length;
    select(known ? number - 1 : 0, known && step >= 1 ? step - 1 : 0);
  }

  begin();
})();
