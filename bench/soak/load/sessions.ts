/** Sessions that are created and ended, each with a key; and some that the client keeps all the time. */

import type { SessionHandle } from "@quoin/client";
import { type Action, assertThat } from "../pace/index.ts";
import { answerUnless, type Part, type PartContext } from "./part.ts";

const NAMESPACE = "sessions";
const KEPT = 50;
const KEPT_TTL_SECONDS = 30;
/** Longer than any call is repeated. */
const TTL_SECONDS = 600;

export class SessionLoad implements Part {
  readonly #context: PartContext;
  readonly #kept: SessionHandle[] = [];
  #next = 0;

  constructor(context: PartContext) {
    this.#context = context;
  }

  readonly actions: readonly Action[] = [{ name: "session", perSecond: 5, perform: (dueMs) => this.#live(dueMs) }];

  async prepare(): Promise<void> {
    await this.#context.client().keyValue.createNamespace(NAMESPACE);
    for (let at = 0; at < KEPT; at++) {
      const session = await this.#context.client().session(NAMESPACE, { ttlSeconds: KEPT_TTL_SECONDS });
      this.#kept.push(session);
      await this.#context.client().keyValue.put(NAMESPACE, keptKey(session), "value", { sessionId: session.id });
    }
  }

  async verify(): Promise<void> {
    const { keyValue } = this.#context.client();
    for (const session of this.#kept) {
      assertThat(session.isLive, `session ${session.id} was lost: ${session.lost.reason}`);
      const found = await answerUnless("KEY_NOT_FOUND", keyValue.get(NAMESPACE, keptKey(session)));
      assertThat(found !== null, `the key of session ${session.id} is gone, although the session lives`);
      await session.end();
    }
    const { keys } = await keyValue.count(NAMESPACE);
    assertThat(keys === 0, `${keys} keys are left of sessions that have ended`);
  }

  async #live(dueMs: number): Promise<void> {
    const { calls } = this.#context;
    const key = `key-${this.#next++}`;
    const { sessionId } = await calls.perform(
      "session-create",
      (identity) => this.#context.client().sessions.create(NAMESPACE, { ...identity, ttlSeconds: TTL_SECONDS }),
      dueMs,
    );
    await calls.perform("session-put", (identity) =>
      this.#context.client().keyValue.put(NAMESPACE, key, "value", { ...identity, sessionId }),
    );
    await calls.perform("session-end", (identity) =>
      this.#context.client().sessions.end(NAMESPACE, sessionId, identity),
    );
    const found = await calls.perform("session-get", (identity) =>
      answerUnless("KEY_NOT_FOUND", this.#context.client().keyValue.get(NAMESPACE, key, identity)),
    );
    assertThat(found === null, `${key} is still there after the end of its session`);
  }
}

function keptKey({ id }: SessionHandle): string {
  return `kept-${id}`;
}
