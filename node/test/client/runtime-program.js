/**
 * A user of the published package, in plain JavaScript: keys, locks, watches, event logs, errors, and the end of the
 * process after `close`. The spec puts it behind an `import` or a `require` of the package, and runs it in each runtime.
 *
 * @param {typeof import("@quoin/client")} quoin
 */
export async function useQuoin({ createClient, isQuoinError, QuoinError }) {
  const text = new TextDecoder();
  const { QUOIN_ENDPOINTS = "", QUOIN_TOKEN: token = "" } = process.env;
  const { UNREACHED = "", UNANSWERED = "" } = process.env;
  const credentials = { token };
  const endpoints = QUOIN_ENDPOINTS.split(",");
  const client = createClient({ endpoints, credentials });
  const prefix = `run-${process.pid}/`;
  /** @type {Record<string, unknown>} */
  const seen = {};

  const watch = await client.watch.keys("default", { prefix });
  await client.keyValue.put("default", `${prefix}a`, "one", { ttlSeconds: 600 });
  seen.value = text.decode((await client.keyValue.get("default", `${prefix}a`)).value);
  const { value: batch } = await watch.next();
  seen.watched = batch?.events.map(({ type, kv }) => `${type} ${text.decode(kv.value)}`);

  const lock = `lock-${process.pid}`;
  await client.locks.create("default", lock);
  seen.work = await client.locks.withLock("default", lock, async (hold) => {
    await client.keyValue.put("default", `${prefix}b`, Uint8Array.of(0, 255), { guard: hold.guard });
    return hold.isHeld;
  });

  const log = `log-${process.pid}`;
  await client.logs.create(log);
  await client.logs.append(log, "first");
  const { events } = await client.logs.read(`default/${log}`);
  seen.events = events.map(({ sequence, payload }) => `${sequence} ${text.decode(payload)}`);
  for await (const event of client.logs.tail(log)) {
    seen.followed = event.sequence;
    break;
  }

  const missing = await client.keyValue.get("default", `${prefix}none`).catch((error) => error);
  seen.missing = [missing instanceof QuoinError, isQuoinError(missing, "KEY_NOT_FOUND"), missing.code];
  const wrong = await client.keyValue.put("default", `${prefix}a`, "x", { ttlSecond: 5 }).catch((error) => error);
  seen.wrong = wrong.message;

  // Nothing of this keeps the process alive: a held lock, a call that waits for it, an open watch, a wait for a change,
  // and members that do not answer.
  await client.locks.hold("default", lock, { ttlSeconds: 600, owner: "holder" });
  const queued = { waitMs: 300_000, timeoutMs: 400_000, owner: "waiter" };
  const queuing = client.locks.acquire("default", lock, queued).catch((error) => error.code);
  const open = await client.watch.keys("default", { prefix });
  const waiting = open.next().catch((error) => error.code);
  const unreached = createClient({ endpoints: [UNREACHED], credentials });
  const call = unreached.keyValue.get("default", "k").catch((error) => error.code);
  const encrypted = createClient({ endpoints: [UNANSWERED], credentials, tls: {} });
  const handshake = encrypted.watch.keys("default").catch((error) => error.code);
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const each of [client, unreached, encrypted]) {
    each.close();
  }
  seen.ended = await Promise.all([queuing, waiting, call, handshake]);
  console.log(JSON.stringify(seen));
}
