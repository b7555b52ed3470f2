/** A page that writes a key, and shows each change of the namespace as it happens. */

import { ConnectError } from "@connectrpc/connect";
import { connect } from "./services.js";

const form = document.querySelector("form");
const changes = document.querySelector("ol");
const text = new TextDecoder();

function show(line) {
  const item = document.createElement("li");
  item.textContent = line;
  changes.append(item);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { url, token, key, value } = Object.fromEntries(new FormData(form));
  try {
    const { keyValue } = connect(url, token);
    const { revision } = await keyValue.putKey({ namespace: "default", key, value: new TextEncoder().encode(value) });
    show(`wrote ${key} at revision ${revision}`);
  } catch (error) {
    show(ConnectError.from(error).message);
  }
});

document.querySelector("#watch").addEventListener("click", async () => {
  const { url, token } = Object.fromEntries(new FormData(form));
  try {
    for await (const { events } of connect(url, token).watch.watchKeys({ namespace: "default" })) {
      for (const { kv } of events) show(`changed ${kv.key}: ${text.decode(kv.value)}`);
    }
  } catch (error) {
    show(ConnectError.from(error).message);
  }
});
