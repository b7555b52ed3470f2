/** What the clients of a scenario have sent, as the proxies have seen it, and what a scenario may say about that. */

import { mismatch, show, type Value } from "./values.ts";

/** A call as it arrived at a proxy. */
export interface SentCall {
  readonly method: string;
  readonly member: string;
  readonly atMs: number;
  readonly requestId: string;
  readonly apiVersion: string;
  /** Empty = none. */
  readonly token: string;
  /** The time that it has left, by `grpc-timeout`; undefined = it has no deadline. */
  readonly deadlineMs: number | undefined;
  /** The request; undefined = it has not arrived completely. */
  request: Buffer | undefined;
  /** The request in neutral words. */
  fields: Value;
  isCancelled: boolean;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** The milliseconds of a header `grpc-timeout`. */
export function timeoutMs(header: string | undefined): number | undefined {
  const [, digits, unit = ""] = TIMEOUT.exec(header ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNIT_MS[unit] ?? 0);
}

/** What may be said about all calls of a method: from the calls to a value, which is compared. */
const FACTS: Readonly<Record<string, (calls: readonly SentCall[]) => Value>> = {
  calls: (calls) => calls.length,
  request_ids: (calls) => new Set(calls.map(({ requestId }) => requestId)).size,
  contents: (calls) => new Set(calls.map(({ request }) => request?.toString("base64"))).size,
  tokens: (calls) => new Set(calls.map(({ token }) => token)).size,
  members: (calls) => calls.map(({ member }) => member),
  distinct_members: (calls) => new Set(calls.map(({ member }) => member)).size,
  deadlines_shrink: (calls) => pairs(calls).every(([one, next]) => (next.deadlineMs ?? 0) < (one.deadlineMs ?? 0)),
  span_ms: (calls) => (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0),
  cancelled: (calls) => calls.filter(({ isCancelled }) => isCancelled).length,
};

/** What may be said about each call, or about each call and the next one. */
const EACH: Readonly<Record<string, (calls: readonly SentCall[]) => readonly Value[]>> = {
  moves: (calls) => pairs(calls).map(([one, next]) => one.member !== next.member),
  request_id: (calls) => calls.map(({ requestId }) => requestId),
  deadline_ms: (calls) => calls.map(({ deadlineMs }) => deadlineMs),
  gaps_ms: (calls) => pairs(calls).map(([one, next]) => next.atMs - one.atMs),
  request: (calls) => calls.map(({ fields }) => fields),
};

/** The fields that a judgement may have, besides `method`. */
export const FACT_NAMES: readonly string[] = [...Object.keys(FACTS), ...Object.keys(EACH)];

/** The calls of one scenario. */
export class SentCalls {
  #calls: SentCall[] = [];

  add(call: SentCall): void {
    this.#calls.push(call);
  }

  forget(): void {
    this.#calls = [];
  }

  /** The calls of a method, in order. */
  of(method: string): readonly SentCall[] {
    return this.#calls.filter((call) => call.method === method);
  }

  /** What of this is not true of the calls of a method, in words; undefined = all of it is true. */
  refute(method: string, said: Readonly<Record<string, Value>>): string | undefined {
    const calls = this.of(method);
    for (const { requestId, apiVersion } of calls) {
      if (!UUID.test(requestId) || apiVersion !== "v1") {
        return `a ${method} has the request id ${show(requestId)} and the API version ${show(apiVersion)}`;
      }
    }
    for (const [name, expected] of Object.entries(said)) {
      const problem = Object.hasOwn(FACTS, name)
        ? mismatch(expected, FACTS[name]?.(calls), name)
        : EACH[name]?.(calls)
            .map((one, at) => mismatch(expected, one, `${name}[${at}]`))
            .find((found) => found !== undefined);
      if (problem !== undefined) {
        return `of the calls of ${method}, ${problem}; they were ${describe(calls)}`;
      }
    }
    return undefined;
  }
}

function pairs<Item>(items: readonly Item[]): readonly (readonly [Item, Item])[] {
  return items.slice(1).map((next, at) => [items[at] as Item, next]);
}

function describe(calls: readonly SentCall[]): string {
  const [first] = calls;
  const ids = [...new Set(calls.map(({ requestId }) => requestId))];
  return show(
    calls.map(
      ({ member, atMs, requestId }) =>
        `${member} +${Math.round(atMs - (first?.atMs ?? 0))} ms, id ${ids.indexOf(requestId) + 1}`,
    ),
  );
}
