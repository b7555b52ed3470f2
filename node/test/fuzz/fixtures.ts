/** What requests are about: things that are there, made over HTTP, and all that they could change, to be compared. */

import { randomUUID } from "node:crypto";

/** Things to ask for, each by its parameter of a path. */
const MAKERS: Readonly<Record<string, { readonly path: string; readonly body: () => object; readonly id: string }>> = {
  log_id: { path: "/logs", body: () => ({ name: randomUUID() }), id: "log_id" },
  api_key_id: { path: "/keys", body: () => ({ name: "made for a request" }), id: "api_key_id" },
  user_id: { path: "/users", body: () => ({ ...newUser(), role: "member", namespaces: ["default"] }), id: "user_id" },
};
/** With one of them a log removes events some time after the request. */
const RETENTION = ["retention.max_age_secs", "retention.max_bytes"];
/** A page holds all that a run makes. */
const LISTINGS = ["/logs?limit=1000", "/keys?all=true&include_revoked=true&limit=1000", "/users?limit=1000"];
/** The use of a key is noted some time after it, also that of one which was allowed nothing. */
const NOTED_LATER = /"last_used_at":[^,}]*/g;

export class Fixtures {
  readonly url: string;
  readonly token: string;
  readonly #kept = new Map<string, string>();

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** The id of something that has this parameter of a path: always the same, or a new one. */
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

  /** Makes everything anew that is asked for from now on: what was made may be gone. */
  forget(): void {
    this.#kept.clear();
  }

  /** Logs with their last sequences, keys and users, all of them. */
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

/** A log whose events are not kept for ever, as a request may have asked for, loses them by itself: only its end is compared. */
function withoutRemoved(_key: string, value: unknown): unknown {
  const { settings } = (value ?? {}) as { readonly settings?: Readonly<Record<string, unknown>> };
  const isKept = RETENTION.every((setting) => settings?.[setting] == null);
  return isKept ? value : { ...(value as object), first_sequence: null, event_count: null, size_bytes: null };
}

function newUser(): object {
  return { email: `${randomUUID()}@quoin.test` };
}
