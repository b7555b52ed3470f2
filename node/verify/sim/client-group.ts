/**
 * Clients of one kind in a simulated cluster. Each does one operation after the other, and mostly stays with a member
 * while it answers. The script decides when a client does something; an item for a busy client is skipped.
 */

import type { Principal } from "../../src/state/index.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import { type Answer, RequestCalls, type RequestCallsOptions } from "./request-calls.ts";
import type { Request } from "./requests.ts";

export interface ClientGroupOptions extends RequestCallsOptions {
  /** The run has no faults: every call has all the time that it may need. */
  readonly isSteady: boolean;
  /** A request is sent again for this long, in milliseconds, while its answer is stored. */
  readonly retryMs: number;
  /** Running processes. */
  readonly processes: () => readonly Process[];
}

interface Caller {
  readonly id: number;
  readonly principal: Principal;
  /** The stream of the present operation. */
  random: RandomStream;
  home: Process | null;
  /** An operation is in progress. */
  isBusy: boolean;
}

/** A client, with what its kind knows. */
export type ClientOf<Own> = Caller & Own;

export const CALLS_MAX = 5;
/** A deadline that only a fault exceeds, in milliseconds. */
export const AMPLE_MS = 20_000;
/** Mean pause before a client tries again, in milliseconds. */
export const AGAIN_MS = 100;
/** Time limits of calls, in milliseconds. */
export const CALL_MS = [150, 600, 2_000, 5_000];

export abstract class ClientGroup<Own extends object, Options extends ClientGroupOptions = ClientGroupOptions> {
  protected readonly options: Options;
  protected readonly requestCalls: RequestCalls;
  protected readonly clients = new Map<number, ClientOf<Own>>();
  readonly #leaveShare: number;
  #isStopped = false;
  /** Failed calls other than requests with an id. */
  protected otherFailures = 0;

  /** @param leaveShare in this share of the cases, a client goes to another member. */
  constructor(options: Options, leaveShare: number) {
    this.options = options;
    this.requestCalls = new RequestCalls(options);
    this.#leaveShare = leaveShare;
  }

  /** Whether no operation begins any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Calls that did not end with a result. */
  get failures(): number {
    return this.otherFailures + this.requestCalls.failures;
  }

  /** No operation begins any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The client must do something now, unless it is busy. */
  act(id: number, draw: number): void {
    const client = this.clientOf(id);
    if (this.#isStopped || client.isBusy) {
      return;
    }
    client.random = streamOf(draw);
    this.operate(client);
  }

  /** What a new client knows. */
  protected abstract fresh(): Own;

  /** Begins an operation of a client that is not busy. */
  protected abstract operate(client: ClientOf<Own>): void;

  protected clientOf(id: number): ClientOf<Own> {
    const known = this.clients.get(id);
    if (known !== undefined) {
      return known;
    }
    const principal = this.options.accounts.principalOf(id);
    const client = { id, principal, random: streamOf(id), home: null, isBusy: false, ...this.fresh() };
    this.clients.set(id, client);
    return client;
  }

  /** The member that the client uses; null if no process runs. */
  protected processFor(client: Caller): Process | null {
    const { random } = client;
    if (client.home === null || client.home.loop.isDead || random.chance(this.#leaveShare)) {
      client.home = random.pick(this.options.processes()) ?? null;
    }
    return client.home;
  }

  /** The same for an operation that begins now: the client is busy until the operation has ended. */
  protected begins(client: Caller): Process | null {
    const process = this.processFor(client);
    client.isBusy = process !== null;
    return process;
  }

  protected limitMs(random: RandomStream): number {
    return this.options.isSteady ? AMPLE_MS : (random.pick(CALL_MS) ?? AMPLE_MS);
  }

  /** Whether the answer to the request may be dropped soon. */
  protected isOld({ startMs }: Request): boolean {
    return this.options.heap.nowMs - startMs > this.options.retryMs;
  }

  /** Sends the request, again if its outcome is unknown; `onEnd` gets the last answer, null if there was none. */
  protected send(
    client: Caller,
    process: Process,
    request: Request,
    onEnd: (answer: Answer | null) => void,
    calls = 1,
  ): void {
    this.requestCalls.send(process, request, this.limitMs(client.random), (answer) => {
      const isUnknown = answer === null || answer.error?.outcome === "unknown";
      if (answer?.outcome == null) {
        client.home = null;
      }
      if (!isUnknown || this.isOld(request) || calls >= CALLS_MAX || this.#isStopped) {
        onEnd(answer);
        return;
      }
      this.options.heap.after(client.random.exponential(AGAIN_MS), () => {
        const next = this.processFor(client);
        if (next === null) {
          onEnd(null);
        } else {
          this.send(client, next, request, onEnd, calls + 1);
        }
      });
    });
  }
}
