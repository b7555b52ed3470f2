/**
 * Clients of a simulated cluster that have sessions: they put keys into them, move keys between them, renew them in time or
 * too late, and end some. What a client knows of the life of a session errs early.
 */

import {
  type ClientOperation,
  CoordinationError,
  DEFAULT_NAMESPACE,
  type Outcome,
  type Result,
} from "../../src/state/index.ts";
import { putOf } from "../../test/index.ts";
import type { KnownLife } from "../history/index.ts";
import { ClientGroup, type ClientGroupOptions, type ClientOf } from "./client-group.ts";
import type { SessionPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import { SESSION_PREFIX } from "./session-rules.ts";

export interface SessionClientsOptions extends ClientGroupOptions {
  readonly plan: SessionPlan;
}

/** How long a session lives at least, as its client knows. */
export interface SessionLife extends KnownLife {
  readonly sessionId: number;
}

interface Known {
  /** Sessions that it has not ended. */
  readonly sessions: Set<number>;
  values: number;
}

type SessionClient = ClientOf<Known>;

/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.15;
const SESSIONS_MAX = 3;
const TTL_SECONDS_MAX = 3;
const NO_METADATA = new Uint8Array(0);

export class SessionClients extends ClientGroup<Known, SessionClientsOptions> {
  readonly #lives: SessionLife[] = [];

  constructor(options: SessionClientsOptions) {
    super(options, LEAVE_SHARE);
  }

  /** What clients know of the lives of their sessions, from the answers. */
  get lives(): readonly SessionLife[] {
    return this.#lives;
  }

  protected override fresh(): Known {
    return { sessions: new Set(), values: 0 };
  }

  protected override operate(client: SessionClient): void {
    const process = this.begins(client);
    if (process === null) {
      return;
    }
    const { random, sessions } = client;
    const share = random.next();
    if (sessions.size === 0 || (sessions.size < SESSIONS_MAX && share < 0.1)) {
      this.#create(client, process);
    } else if (share < 0.5) {
      this.#renew(client, process);
    } else if (share < 0.57) {
      this.#end(client, process);
    } else {
      this.#write(client, process);
    }
  }

  #create(client: SessionClient, process: Process): void {
    const sentMs = this.options.heap.nowMs;
    const ttlSeconds = client.random.whole(1, TTL_SECONDS_MAX);
    const fields = { namespace: DEFAULT_NAMESPACE, owner: "", metadata: NO_METADATA };
    this.#ask(client, process, { kind: "create-session", ...fields, ttlSeconds }, (result) => {
      if (result?.kind === "create-session") {
        const { sessionId } = result;
        client.sessions.add(sessionId);
        this.#lives.push({ sessionId, sentMs, lifeMs: ttlSeconds * 1_000 });
      }
    });
  }

  /** All of its sessions, or some; a member may lose the renewal. */
  #renew(client: SessionClient, process: Process): void {
    const { heap, calls } = this.options;
    const { principal, random } = client;
    const sentMs = heap.nowMs;
    const sessionIds = [...client.sessions].filter(() => random.chance(0.8));
    const renewals = [{ principal, namespace: DEFAULT_NAMESPACE, sessionIds }];
    calls.call<{ readonly error: CoordinationError | null; readonly outcome: Outcome | null }>(
      process,
      `renewal of ${sessionIds.join(", ")}`,
      this.limitMs(random),
      (deadlineMs, done) =>
        process.replica.proposeClusterOperation({ kind: "renew-sessions", renewals }, deadlineMs, (error, outcome) =>
          done({ error, outcome }),
        ),
      (answered) => {
        client.isBusy = false;
        const result = resultOf(answered?.outcome ?? null);
        if (result?.kind !== "renew-sessions") {
          client.home = null;
          this.otherFailures++;
          return;
        }
        for (const { sessionId, deadlineMs } of result.renewed[0] ?? []) {
          if (deadlineMs === 0) {
            client.sessions.delete(sessionId);
          } else {
            this.#lives.push({ sessionId, sentMs, lifeMs: deadlineMs - result.tickMs });
          }
        }
      },
    );
  }

  #end(client: SessionClient, process: Process): void {
    const sessionId = client.random.pick([...client.sessions]) ?? 0;
    client.sessions.delete(sessionId);
    const asked = { kind: "end-session", namespace: DEFAULT_NAMESPACE, sessionId, force: false } as const;
    this.#ask(client, process, asked, () => undefined);
  }

  /** Puts a key into a session of its own or of another client, or into none, or deletes it. */
  #write(client: SessionClient, process: Process): void {
    const { random } = client;
    const key = `${SESSION_PREFIX}${random.below(this.options.plan.keys)}`;
    if (random.chance(0.15)) {
      const which = { namespace: DEFAULT_NAMESPACE, key: Buffer.from(key), expectedModRevision: undefined };
      this.#ask(client, process, { kind: "delete-key", ...which, returnPrevious: false }, () => undefined);
      return;
    }
    client.values++;
    const others = [...this.clients.values()].flatMap(({ sessions }) => [...sessions]);
    const sessionId = random.chance(0.15) ? undefined : random.pick(random.chance(0.9) ? [...client.sessions] : others);
    const value = `s${client.id}.${client.values}`;
    const asked = putOf(key, value, sessionId === undefined ? {} : { sessionId });
    this.#ask(client, process, asked, (result, reason) => {
      if (result === null && reason === "SESSION_NOT_FOUND" && sessionId !== undefined) {
        client.sessions.delete(sessionId);
      }
    });
  }

  #ask(
    client: SessionClient,
    process: Process,
    operation: ClientOperation,
    onEnd: (result: Result | null, reason: string) => void,
  ): void {
    const request = this.requestCalls.begin(operation, client.principal);
    this.send(client, process, request, (answer) => {
      const told = answer?.outcome?.answer;
      onEnd(resultOf(answer?.outcome ?? null), told instanceof CoordinationError ? told.reason : "");
      client.isBusy = false;
    });
  }
}

function resultOf(outcome: Outcome | null): Result | null {
  return outcome === null || outcome.answer instanceof CoordinationError ? null : outcome.answer;
}
