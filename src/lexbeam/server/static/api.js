// Requests to the server. A newer request of the same kind cancels the one before.

const running = new Map();
let key = sessionStorage.getItem("lexbeam-key") ?? "";

export function setKey(value) {
  key = value;
  sessionStorage.setItem("lexbeam-key", value);
}

export function getKey() {
  return key;
}

export async function post(path, body, kind = path) {
  running.get(kind)?.abort();
  const controller = new AbortController();
  running.set(kind, controller);
  const headers = { "Content-Type": "application/json" };
  if (key) headers.Authorization = `Bearer ${key}`;
  const answer = await fetch(path, {
    method: "POST", headers, body: JSON.stringify(body), signal: controller.signal,
  });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error ?? `The server answered ${answer.status}`);
  return found;
}

export async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}`);
  return answer.json();
}

export function isCancelled(error) {
  return error.name === "AbortError";
}
