/**
 * Calls to single members, like a client that knows only the interface. It may call any member, and retries a request
 * with its id, at one member after the other, until a member returns its result or the attempts are used up.
 */

import { randomUUID } from "node:crypto";
import type { MethodDefinition } from "@grpc/grpc-js";
import { QuoinError } from "@quoin/client";
import { type Answer, type ClusterUnderTest, GrpcCaller, type GrpcStream, pause } from "../../test/harness/index.ts";
import { pick } from "./fault.ts";

/** Outcome of a request over all attempts. */
export type CallResult<Response> =
  | { readonly kind: "ok"; readonly response: Response; readonly isRepeated: boolean }
  /** It was executed, and the state refused it for this reason. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "not-executed" }
  | { readonly kind: "unknown" };

export interface AskOptions {
  /**
   * Deadline of each attempt. The default is shorter than an election, so that attempts during a fault have unknown
   * outcomes.
   */
  readonly timeoutMs?: number;
  /**
   * Attempts of one request. The default takes some seconds, which is shorter than the time for which answers are kept.
   */
  readonly triesMax?: number;
}

const TIMEOUT_MS_DEFAULT = 200;
const TRIES_MAX_DEFAULT = 20;

/** Refusals that are decided during execution: they show the outcome of earlier attempts too. */
const DECIDED_CODES: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
]);
/** Codes for a lost member or connection, or a full disk. Any other code is a bug of the service. */
const EXPECTED_CODES: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "RESOURCE_EXHAUSTED",
]);
const REST_MS = 40;

export class MemberCalls {
  readonly #cluster: ClusterUnderTest;
  readonly #random: (bound: number) => number;
  readonly #callers = new Map<string, GrpcCaller>();

  constructor(cluster: ClusterUnderTest, random: (bound: number) => number) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Sends the request to random members. Rejects with an answer that no fault explains. */
  async ask<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    { timeoutMs = TIMEOUT_MS_DEFAULT, triesMax = TRIES_MAX_DEFAULT }: AskOptions = {},
  ): Promise<CallResult<Response>> {
    const requestId = randomUUID();
    let isUnknown = false;
    for (let tries = 0; tries < triesMax; tries++) {
      if (tries > 0) {
        await pause(REST_MS);
      }
      const endpoint = pick(this.#random, this.#cluster.endpoints);
      const authorization = await this.#authorization();
      if (authorization === null) {
        continue;
      }
      const metadata = new Map([...authorization, ["request-id", requestId]]);
      const answer = await this.#callerOf(endpoint).call(method, request, { metadata, timeoutMs });
      const { code, reason, response, headers } = answer;
      if (code === "OK" && response !== undefined) {
        return { kind: "ok", response, isRepeated: isUnknown || headers.get("replayed").length > 0 };
      }
      if (DECIDED_CODES.has(code)) {
        return { kind: "refused", reason };
      }
      this.#requireExpected(answer);
      this.#forgetIfLost(endpoint, answer);
      isUnknown ||= outcomeOf(answer) === "unknown";
    }
    return { kind: isUnknown ? "unknown" : "not-executed" };
  }

  /**
   * Opens a stream at the member, on a separate connection that `close` closes. Null if no member gives a token now.
   */
  async stream<Request, Response>(
    endpoint: string,
    method: MethodDefinition<Request, Response>,
    request: Request,
  ): Promise<{ readonly stream: GrpcStream<Response, Answer<never>>; readonly close: () => void } | null> {
    const metadata = await this.#authorization();
    if (metadata === null) {
      return null;
    }
    const caller = callerOf(endpoint);
    return { stream: caller.stream(method, request, { metadata }), close: () => caller.close() };
  }

  close(): void {
    for (const caller of this.#callers.values()) {
      caller.close();
    }
    this.#callers.clear();
  }

  #callerOf(endpoint: string): GrpcCaller {
    const caller = this.#callers.get(endpoint) ?? callerOf(endpoint);
    this.#callers.set(endpoint, caller);
    return caller;
  }

  /** Null if no member gives a token now. */
  async #authorization(): Promise<ReadonlyMap<string, string> | null> {
    try {
      return new Map([["authorization", `Bearer ${await this.#cluster.tokens.token()}`]]);
    } catch (error) {
      if (EXPECTED_CODES.has(QuoinError.from(error).code)) {
        return null;
      }
      throw error;
    }
  }

  #requireExpected({ code, reason, message }: Answer<unknown>): void {
    if (!EXPECTED_CODES.has(code)) {
      throw new Error(`${code} ${reason}: ${message}`);
    }
  }

  /** Drops the connection to a member that was not reached, because an old connection may wait for long. */
  #forgetIfLost(endpoint: string, { code, reason }: Answer<unknown>): void {
    if (code === "UNAVAILABLE" && reason === "") {
      this.#callers.get(endpoint)?.close();
      this.#callers.delete(endpoint);
    }
  }
}

function callerOf(endpoint: string): GrpcCaller {
  return new GrpcCaller(endpoint, new Map([["api-version", "v1"]]));
}

/** The outcome of a failed attempt, as the member says; "unknown" if the member says nothing. */
function outcomeOf({ trailers }: Answer<unknown>): "not-executed" | "unknown" {
  return trailers.get("outcome")[0] === "not-executed" ? "not-executed" : "unknown";
}
