// Shows /openapi.json: every endpoint with what it takes.

function make(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

const description = await (await fetch("/openapi.json")).json();
const main = document.getElementById("doc");
main.replaceChildren(make("p", description.info.description));
const groups = new Map();
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const group = operation.tags[0];
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push({ path, method, operation });
  }
}
for (const [group, entries] of groups) {
  const list = make("dl");
  for (const { path, method, operation } of entries) {
    const term = make("dt");
    term.append(make("code", method.toUpperCase(), "method"), make("code", path));
    const details = make("dd", operation.summary);
    for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
      const box = make("details");
      box.append(make("summary", type), make("pre", JSON.stringify(schema, null, 2)));
      details.append(box);
    }
    list.append(term, details);
  }
  main.append(make("h2", group), list);
}
