/**
 * A page that writes and reads a key, writes it under a lock, and shows each change of the namespace as it happens.
 */

import { Code, ConnectError } from "@connectrpc/connect";
import { connect } from "./services.js";

const namespace = "default";
const form = document.querySelector("form");
const lines = document.querySelector("ol");
const decoder = new TextDecoder();

function show(line) {
  const item = document.createElement("li");
  item.textContent = line;
  lines.append(item);
}

/** Runs work with the services and the fields of the form, and shows its error. */
async function run(work) {
  const { url, token, key, value } = Object.fromEntries(new FormData(form));
  try {
    await work(connect(url, token), { namespace, key }, new TextEncoder().encode(value));
  } catch (error) {
    show(ConnectError.from(error).message);
  }
}

async function write({ keyValue }, key, value) {
  const { revision } = await keyValue.putKey({ ...key, value });
  show(`wrote ${key.key} at revision ${revision}`);
}

async function read({ keyValue }, key) {
  const { value, version } = await keyValue.getKey(key);
  show(`read ${key.key}: ${decoder.decode(value)}, version ${version}`);
}

/** The guard makes the write take effect only while this page holds the lock. */
async function writeUnderLock({ keyValue, lock }, key, value) {
  const name = key.key;
  try {
    await lock.createLock({ namespace, name });
  } catch (error) {
    if (ConnectError.from(error).code !== Code.AlreadyExists) {
      throw error;
    }
  }
  const { acquired, fencingToken } = await lock.acquireLock({ namespace, name, ttlSeconds: 30n, waitMs: 2_000n });
  if (!acquired) {
    show(`another client holds the lock ${name}`);
    return;
  }
  try {
    await keyValue.putKey({ ...key, value, guard: { lockName: name, fencingToken } });
    show(`wrote ${name} under the lock with token ${fencingToken}`);
  } finally {
    await lock.releaseLock({ namespace, name, fencingToken });
  }
}

async function watchAll({ watch }) {
  for await (const { created, events } of watch.watchKeys({ namespace })) {
    if (created) {
      show("watching");
    }
    for (const { kv } of events) {
      show(`changed ${kv.key}: ${decoder.decode(kv.value)}`);
    }
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void run(write);
});
document.querySelector("#read").addEventListener("click", () => void run(read));
document.querySelector("#lock").addEventListener("click", () => void run(writeUnderLock));
document.querySelector("#watch").addEventListener("click", () => void run(watchAll));
