/**
 * The objects that requests are about, created over HTTP, and everything that requests could change, for comparison.
 */

import { randomUUID } from "node:crypto";

/** How to create an object for each parameter of a path. */
const MAKERS: Readonly<Record<string, { readonly path: string; readonly body: () => object; readonly id: string }>> = {
  log_id: { path: "/logs", body: () => ({ name: randomUUID() }), id: "log_id" },
  api_key_id: { path: "/keys", body: () => ({ name: "made for a request" }), id: "api_key_id" },
  user_id: { path: "/users", body: () => ({ ...newUser(), role: "member", namespaces: ["default"] }), id: "user_id" },
};
/** With one of these settings, a log removes events some time after the request. */
const RETENTION = ["retention.max_age_secs", "retention.max_bytes"];
/** A page holds all objects of a run. */
const LISTINGS = ["/logs?limit=1000", "/keys?all=true&include_revoked=true&limit=1000", "/users?limit=1000"];
/** The use of a key is recorded some time after it, also the use of a key without permission. */
const NOTED_LATER = /"last_used_at":[^,}]*/g;

export class Fixtures {
  readonly url: string;
  readonly token: string;
  readonly #kept = new Map<string, string>();

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** The id of an object for this parameter of a path: always the same, or a new one. */
  async idFor(parameter: string, isNew: boolean): Promise<string> {
    const kept = this.#kept.get(parameter);
    if (kept !== undefined && !isNew) {
      return kept;
    }
    const maker = MAKERS[parameter];
    if (maker === undefined) {
      throw new Error(`nothing is known that has a ${parameter}`);
    }
    const made = (await this.#ask(maker.path, maker.body())) as Record<string, string>;
    const id = String(made[maker.id]);
    if (!isNew) {
      this.#kept.set(parameter, id);
    }
    return id;
  }

  /** Creates all objects again from now on, because the old ones may be gone. */
  forget(): void {
    this.#kept.clear();
  }

  /** All logs with their last sequences, all keys and all users. */
  async state(): Promise<string> {
    const listings = await Promise.all(LISTINGS.map((path) => this.#ask(path)));
    return JSON.stringify(listings, withoutRemoved).replaceAll(NOTED_LATER, "");
  }

  async #ask(path: string, body?: object): Promise<unknown> {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${this.url}${path}`, { headers, ...sent });
    if (!response.ok) {
      throw new Error(`${path} is answered with ${response.status} ${await response.text()}`);
    }
    return response.json();
  }
}

/** A request may have set a retention, so that a log loses events by itself: only its end is compared. */
function withoutRemoved(_key: string, value: unknown): unknown {
  const { settings } = (value ?? {}) as { readonly settings?: Readonly<Record<string, unknown>> };
  const isKept = RETENTION.every((setting) => settings?.[setting] == null);
  return isKept ? value : { ...(value as object), first_sequence: null, event_count: null, size_bytes: null };
}

function newUser(): object {
  return { email: `${randomUUID()}@quoin.test` };
}
