/** What the cluster of the console's tests contains: a shop as the manual's pictures show it, and names of attackers. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AcquireLockResult, Client, LockHandle } from "@quoin/client";
import { expect } from "chai";
import { type ClusterUnderTest, until } from "../../node/test/harness/index.ts";

/** A user who can sign in. */
export interface TestUser {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
}

export const SHOP = "shop";
export const HOSTILE = "hostile";
/** As a name, a value, a label and a reason: as markup each part of it would run, or at least change the page. */
export const MARKUP = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'>{{3}}\${4}`;

const PASSWORD = "correct horse battery";
const CONFIG = {
  currency: "EUR",
  checkout: { retries: 3, timeoutMs: 2_500 },
  features: ["express", "gift-cards"],
};
const LOCK_TTL_SECONDS = 90;
const WAIT_MS = 10 * 60_000;
/** Many calls at a time, on a machine that is busy with other things too. */
const PATIENT = { timeoutMs: 60_000 };
const REGION_BYTES = 4_096;

export interface TestRights {
  readonly role: string;
  readonly namespaces: readonly string[];
}

/** Gives a new user a password by the token of the mail. */
export async function createUser(cluster: ClusterUnderTest, email: string, rights: TestRights): Promise<TestUser> {
  const { userId, token } = await createUnverified(cluster, email, rights);
  await post(`${addressOf(cluster)}/auth/verify`, { token, password: PASSWORD });
  return { userId, email, password: PASSWORD };
}

/** Creates a user, and returns the token of the mail, which the member q-0 writes into its log. */
export async function createUnverified(
  cluster: ClusterUnderTest,
  email: string,
  rights: TestRights,
): Promise<{ readonly userId: string; readonly token: string }> {
  const owner = await cluster.tokens.token();
  const { user_id: userId = "" } = await post(`${addressOf(cluster)}/users`, { email, ...rights }, owner);
  return { userId, token: await cluster.mailedToken(email) };
}

/** Lets a user acquire a lock of the shop without a label. */
export async function acquireAs(cluster: ClusterUnderTest, user: TestUser, name: string): Promise<void> {
  await callAs(cluster, user, "LockService/AcquireLock", { name, ttlSeconds: 3_600 });
}

/** Lets a user register a service in the shop: a session with a key of this name, and a hold of this lock. Returns its id. */
export async function registerAs(
  cluster: ClusterUnderTest,
  user: TestUser,
  service: { readonly owner: string; readonly key: string; readonly lock: string },
): Promise<string> {
  const { owner, key, lock: name } = service;
  const { sessionId = "" } = await callAs(cluster, user, "SessionService/CreateSession", { owner, ttlSeconds: 3_600 });
  await callAs(cluster, user, "KeyValueService/PutKey", { key, sessionId });
  await callAs(cluster, user, "LockService/AcquireLock", { name, sessionId });
  return sessionId;
}

/** Calls a method in the shop. */
async function callAs(
  cluster: ClusterUnderTest,
  { email, password }: TestUser,
  method: string,
  fields: object,
): Promise<Record<string, string>> {
  const address = addressOf(cluster);
  const { access_token: token = "" } = await post(`${address}/auth/login`, { email, password });
  return await post(`${address}/coordination.v1.${method}`, { namespace: SHOP, ...fields }, token);
}

function addressOf(cluster: ClusterUnderTest): string {
  const { host, ports } = cluster.member("q-0");
  return `http://${host}:${ports.http}`;
}

async function post(url: string, body: object, token?: string): Promise<Record<string, string>> {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const headers = { "Content-Type": "application/json", ...authorization };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Record<string, string>;
  expect(response.ok, `${url}: ${JSON.stringify(answer)}`).to.equal(true);
  return answer;
}

/** A running shop: keys with a history, held locks with queues, a log, a region. `dispose` ends its holds and waits. */
export class ExampleShop {
  readonly #client: Client;
  readonly #ending = new AbortController();
  readonly #handles: LockHandle[] = [];
  readonly #waits: Promise<AcquireLockResult | undefined>[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  async fill(): Promise<void> {
    await this.#client.keyValue.createNamespace(SHOP);
    await Promise.all([this.#fillKeys(), this.#fillLocks(), this.#fillSession(), this.#fillMemory(), this.#fillLog()]);
    await this.#client.keys.create("checkout-service");
    await this.#client.keys.create("nightly-reports", { expiresInDays: 90 });
  }

  async #fillKeys(): Promise<void> {
    const { keyValue } = this.#client;
    const keys = [
      ...["carts/1001", "carts/1002", "carts/1003", "config/payment", "config/shipping", "services/checkout/10.0.4.17"],
      ...["services/checkout/10.0.4.18", "services/search/10.0.7.3", "stock/blue-mug", "stock/red-mug", "maintenance"],
    ];
    for (const key of keys) {
      const value = JSON.stringify({ key, updatedBy: "import" });
      await keyValue.put(SHOP, key, value, key.startsWith("services/") ? { ttlSeconds: 3_600 } : {});
    }
    await keyValue.put(SHOP, "logo", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]));
    for (const timeoutMs of [1_000, 2_000, 2_500]) {
      const config = { ...CONFIG, checkout: { ...CONFIG.checkout, timeoutMs } };
      await keyValue.put(SHOP, "config/checkout", JSON.stringify(config));
    }
  }

  async #fillLocks(): Promise<void> {
    const { locks, readWriteLocks } = this.#client;
    for (const name of ["checkout-leader", "invoice-run", "nightly-reports", "stock-import"]) {
      await locks.create(SHOP, name, { ttlSeconds: LOCK_TTL_SECONDS });
    }
    await readWriteLocks.create(SHOP, "catalog", { ttlSeconds: LOCK_TTL_SECONDS });
    this.#handles.push(await locks.hold(SHOP, "checkout-leader", { owner: "checkout-7f9c" }));
    this.#handles.push(await locks.hold(SHOP, "stock-import", { owner: "importer-2" }));
    for (const owner of ["checkout-81bd", "checkout-c044", "checkout-e5a9"]) {
      this.#waits.push(this.#wait("checkout-leader", owner));
      await this.#untilWaiting("checkout-leader", this.#waits.length);
    }
    for (const owner of ["search-indexer", "price-sync"]) {
      await readWriteLocks.acquire(SHOP, "catalog", "READ", { owner, ttlSeconds: 3_600 });
    }
  }

  /** A session with a key, permits of a semaphore, and an election that it leads. */
  async #fillSession(): Promise<void> {
    const { keyValue, locks, semaphores, sessions } = this.#client;
    const [owner, address] = ["payment-3b1f", "10.0.9.2:8080"];
    const { sessionId } = await sessions.create(SHOP, { owner, metadata: address, ttlSeconds: 3_600 });
    await keyValue.put(SHOP, "services/payment/10.0.9.2", address, { sessionId });
    await semaphores.create(SHOP, "bank-calls", 5);
    await semaphores.acquire(SHOP, "bank-calls", { owner, permits: 2, sessionId });
    await semaphores.acquire(SHOP, "bank-calls", { owner: "refunds-1", ttlSeconds: 3_600 });
    await locks.create(SHOP, "payment-leader");
    await locks.acquire(SHOP, "payment-leader", { owner, value: address, sessionId });
  }

  /** A client that waits for a lock until the shop ends. */
  async #wait(name: string, owner: string): Promise<AcquireLockResult | undefined> {
    const { signal } = this.#ending;
    return await this.#client.locks.acquire(SHOP, name, { owner, waitMs: WAIT_MS, signal }).catch(() => undefined);
  }

  async #untilWaiting(name: string, count: number): Promise<void> {
    await until(`${count} to wait`, async () => (await this.#client.locks.describe(SHOP, name)).waiters === count);
  }

  async #fillMemory(): Promise<void> {
    const { memory } = this.#client;
    const { regionId } = await memory.allocate(SHOP, REGION_BYTES, { label: "price table" });
    const rows = Array.from({ length: 20 }, (_, row) => `article ${1_000 + row} `.padEnd(24, "."));
    await memory.write(SHOP, regionId, 0, new TextEncoder().encode(rows.join("")));
    await memory.allocate(SHOP, REGION_BYTES * 4, { label: "session slots" });
  }

  async #fillLog(): Promise<void> {
    const { logs } = this.#client;
    const { logId } = await logs.create("orders", { namespace: SHOP });
    for (const [at, article] of ["blue mug", "red mug", "blue mug", "tea pot"].entries()) {
      const event = { order: 5_001 + at, article, total: 12.5 + at };
      await logs.append(logId, JSON.stringify(event), { key: `order-${event.order}` });
    }
    await logs.create("audit", { namespace: SHOP, settings: { retentionMaxAgeSeconds: 86_400 } });
  }

  async dispose(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#handles.map((handle) => handle.release().catch(() => false)));
    await Promise.all(this.#waits);
  }
}

/** Time from one busy hour of the shop to the next, which lasts a minute here. */
const WAVE_MS = 60_000;
/** From the busiest moment of one member to that of the next, so that their lines differ. */
const AHEAD_MS = 8_000;
const [FEWEST_VISITS, MOST_VISITS] = [2, 8];
const BETWEEN_VISITS_MS = 40;

/** Lets customers visit the shop at each of these members until the work is done: few and many of them in turns. */
export async function withCustomers(members: readonly Client[], work: () => Promise<void>): Promise<void> {
  const ending = new AbortController();
  await Promise.all([
    work().finally(() => ending.abort()),
    ...members.map((member, at) => visits(member, at * AHEAD_MS, ending.signal)),
  ]);
}

async function visits({ keyValue }: Client, aheadMs: number, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    const height = (1 + Math.sin(((Date.now() + aheadMs) / WAVE_MS) * 2 * Math.PI)) / 2;
    const customers = Math.round(FEWEST_VISITS + height * (MOST_VISITS - FEWEST_VISITS));
    const visit = async (): Promise<void> => {
      await keyValue.get(SHOP, "config/checkout", PATIENT);
      const cart = { customer: randomUUID(), articles: ["blue mug"] };
      await keyValue.put(SHOP, "carts/1001", JSON.stringify(cart), PATIENT);
    };
    await Promise.all(Array.from({ length: customers }, visit));
    await sleep(BETWEEN_VISITS_MS);
  }
}

/** A namespace in which every name and every value is markup. Returns what ends its holds. */
export async function fillHostile(client: Client): Promise<LockHandle> {
  const { keyValue, locks, memory, logs, sessions } = client;
  await keyValue.createNamespace(HOSTILE);
  const { sessionId } = await sessions.create(HOSTILE, { owner: MARKUP, metadata: MARKUP, ttlSeconds: 3_600 });
  await keyValue.put(HOSTILE, `of the session ${MARKUP}`, MARKUP, { sessionId });
  await keyValue.put(HOSTILE, MARKUP, MARKUP);
  await keyValue.put(HOSTILE, MARKUP, `${MARKUP} changed`);
  await keyValue.put(HOSTILE, `folder${MARKUP}/key`, JSON.stringify({ [MARKUP]: MARKUP }));
  await locks.create(HOSTILE, MARKUP, { ttlSeconds: LOCK_TTL_SECONDS });
  await memory.allocate(HOSTILE, REGION_BYTES, { label: MARKUP });
  const { logId } = await logs.create(MARKUP, { namespace: HOSTILE });
  await logs.append(logId, MARKUP, { key: `key ${randomUUID()} ${MARKUP}` });
  await client.keys.create(MARKUP);
  return await locks.hold(HOSTILE, MARKUP, { owner: MARKUP, value: MARKUP });
}

export const MANY = "many";
const SHARD_KEYS = 1_000;
const WRITES_IN_FLIGHT = 64;

/** A namespace with this many keys, in folders of a thousand. */
export async function fillMany({ keyValue }: Client, count: number): Promise<void> {
  await keyValue.createNamespace(MANY);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const shard = String(Math.floor(at / SHARD_KEYS)).padStart(3, "0");
      await keyValue.put(MANY, `shard-${shard}/key-${String(at).padStart(7, "0")}`, `value ${at}`, PATIENT);
    }
  };
  await Promise.all(Array.from({ length: WRITES_IN_FLIGHT }, work));
}
