/**
 * The members that a client uses, one at a time. It stays with a member while that answers. Otherwise it goes to the
 * next endpoint, or to the leader if a member names it.
 *
 * Once per round of the configured endpoints, it tries a learned member. So a client survives the replacement of all
 * its configured members. Learned endpoints may be unreachable from here, for example from outside a network. A learned
 * endpoint that fails is not tried again until it is learned again, and the configured ones always have their turn.
 *
 * It does not decide whether a failure is worth a retry.
 */

import type { Client } from "@grpc/grpc-js";
import { type ChannelOptions, openChannel } from "./channel.ts";
import { isEndpoint } from "./endpoint.ts";
import type { Runtime } from "./runtime.ts";
import { type SentCall, Target } from "./target.ts";
import type { Tls } from "./tls.ts";

/** Channels to endpoints that members have named, besides the configured ones: more than a cluster has members. */
const HINTED_CHANNELS_MAX = 16;

/**
 * The pool of these endpoints, which begins with a random one, and connects on first use.
 *
 * @param endpoints valid ones, at least one.
 * @param tls undefined = not encrypted.
 */
export function openPool(
  endpoints: readonly string[],
  tls: Tls | undefined,
  channel: ChannelOptions,
  runtime: Runtime,
): EndpointPool {
  const start = Math.floor(runtime.random() * endpoints.length);
  return new EndpointPool(endpoints, start, (endpoint) => openChannel(endpoint, tls, channel));
}

/** The endpoints of one client, and the one in use. */
export class EndpointPool {
  readonly #configured: readonly string[];
  readonly #open: (endpoint: string) => Client;
  /** By endpoint; those named by members are in the order in which they were first named. */
  readonly #targets = new Map<string, Target>();
  /** Of all targets, also of abandoned ones. */
  readonly #calls = new Set<SentCall>();
  /** Learned endpoints that are not configured, in the order in which they are tried. */
  #discovered: readonly string[] = [];
  /** The position in the round of configured endpoints. */
  #index: number;
  #current: string;
  readonly #closing = new AbortController();

  /**
   * @param configured at least one valid endpoint.
   * @param start the position to begin with; at least 0, less than their number.
   * @param open creates the channel of an endpoint on first use.
   */
  constructor(configured: readonly string[], start: number, open: (endpoint: string) => Client) {
    this.#configured = [...configured];
    this.#open = open;
    this.#index = start;
    this.#current = this.#configured[start]!;
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Aborts when the pool is closed: for work that would otherwise continue. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The endpoint in use. The caller must not call it after close. */
  current(): Target {
    const endpoint = this.#current;
    let target = this.#targets.get(endpoint);
    if (target === undefined) {
      target = this.#make(endpoint);
      this.#targets.set(endpoint, target);
      this.#closeSurplus();
    }
    return target;
  }

  /**
   * Leaves an endpoint that failed. If another call has already left it, this does nothing: many calls fail together,
   * and must not skip untried endpoints.
   *
   * @param leader the leader's endpoint by the member's answer; undefined = not named. An invalid endpoint is ignored.
   */
  leave(failed: string, leader: string | undefined): void {
    if (this.#current !== failed) {
      return;
    }
    if (leader !== undefined && leader !== failed && isEndpoint(leader)) {
      this.#current = leader;
      return;
    }
    const wasLearned = this.#discovered.includes(failed);
    this.#discovered = this.#discovered.filter((endpoint) => endpoint !== failed);
    const next = (this.#index + 1) % this.#configured.length;
    const [learned] = this.#discovered;
    if (next === 0 && !wasLearned && learned !== undefined) {
      this.#current = learned;
      return;
    }
    this.#index = next;
    this.#current = this.#configured[next]!;
  }

  /**
   * Learns the members of the cluster. Invalid endpoints are ignored; the endpoint in use stays.
   *
   * @param endpoints of all members, in the order to try them.
   */
  addDiscovered(endpoints: readonly string[]): void {
    const known = new Set(endpoints.filter((endpoint) => isEndpoint(endpoint)));
    this.#discovered = [...known]
      .filter((endpoint) => !this.#configured.includes(endpoint))
      .slice(0, HINTED_CHANNELS_MAX);
  }

  /** Closes all channels, and cancels the calls in flight. */
  close(): void {
    this.#closing.abort();
    for (const call of this.#calls) {
      call.cancel();
    }
    for (const { channel } of this.#targets.values()) {
      channel.close();
    }
    this.#targets.clear();
  }

  #make(endpoint: string): Target {
    const channel = this.#open(endpoint);
    const target = new Target(endpoint, channel, this.#calls, () => {
      // Many calls may find this out together.
      if (this.#targets.get(endpoint) !== target) {
        return;
      }
      this.#targets.delete(endpoint);
      channel.close();
    });
    return target;
  }

  #closeSurplus(): void {
    const hinted = [...this.#targets.keys()].filter((endpoint) => !this.#configured.includes(endpoint));
    const oldest = hinted[0];
    if (hinted.length <= HINTED_CHANNELS_MAX || oldest === undefined) {
      return;
    }
    this.#targets.get(oldest)?.abandon();
  }
}
