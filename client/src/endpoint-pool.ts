/**
 * The members that a client talks to, one at a time: it stays with a member as long as that answers, goes to the next
 * endpoint when it does not, and to the leader when a member names it.
 *
 * Once round the configured endpoints, it tries a member that the cluster has told of: so a client gets over the
 * replacement of all members that it was configured with. Endpoints that were told may not be reachable from here, as
 * from outside of a network; one that fails is not tried again until it is told of again, and the configured ones always
 * have their turn.
 *
 * It does not decide whether a failure is worth another attempt.
 */

import type { Client } from "@grpc/grpc-js";
import { isEndpoint } from "./endpoint.ts";
import { Target } from "./target.ts";

/** Channels to endpoints that members have told of, besides the configured ones: more than a cluster has members. */
const maxHintedChannels = 16;

/** The endpoints of one client, and which of them is in use. */
export class EndpointPool {
  readonly #configured: readonly string[];
  readonly #open: (endpoint: string) => Client;
  /** By endpoint; those that were named by members in the order in which that happened first. */
  readonly #targets = new Map<string, Target>();
  /** Endpoints that the cluster has told of and that are not configured, in the order in which they are tried. */
  #learned: readonly string[] = [];
  /** Where the configured endpoints go on. */
  #index: number;
  #current: string;
  readonly #closing = new AbortController();

  /**
   * @param configured at least one valid endpoint.
   * @param start which of them to begin with; at least 0, less than their number.
   * @param open makes the channel of an endpoint when it is first needed.
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

  /** Aborts when the pool is closed: for what would otherwise go on. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The endpoint in use. Not to be called after close. */
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
   * Leaves an endpoint that failed. When another call has left it already, this does nothing: many calls fail together,
   * and must not skip endpoints that none of them has tried.
   *
   * @param leader the leader's endpoint as the member said; undefined = it did not. One that is no endpoint is ignored.
   */
  leave(failed: string, leader: string | undefined): void {
    if (this.#current !== failed) return;
    if (leader !== undefined && leader !== failed && isEndpoint(leader)) {
      this.#current = leader;
      return;
    }
    const wasLearned = this.#learned.includes(failed);
    this.#learned = this.#learned.filter((endpoint) => endpoint !== failed);
    const next = (this.#index + 1) % this.#configured.length;
    const [learned] = this.#learned;
    if (next === 0 && !wasLearned && learned !== undefined) {
      this.#current = learned;
      return;
    }
    this.#index = next;
    this.#current = this.#configured[next]!;
  }

  /**
   * Takes note of the members that the cluster has. What is no endpoint is ignored; the endpoint in use stays.
   *
   * @param endpoints of all members, the first ones to be tried first.
   */
  learn(endpoints: readonly string[]): void {
    const known = new Set(endpoints.filter((endpoint) => isEndpoint(endpoint)));
    this.#learned = [...known].filter((endpoint) => !this.#configured.includes(endpoint)).slice(0, maxHintedChannels);
  }

  /** Closes all channels; calls in flight still get their answers. */
  close(): void {
    this.#closing.abort();
    for (const { channel } of this.#targets.values()) channel.close();
    this.#targets.clear();
  }

  #make(endpoint: string): Target {
    const channel = this.#open(endpoint);
    const target = new Target(endpoint, channel, () => {
      // Many calls may find out together.
      if (this.#targets.get(endpoint) !== target) return;
      this.#targets.delete(endpoint);
      channel.close();
    });
    return target;
  }

  #closeSurplus(): void {
    const hinted = [...this.#targets.keys()].filter((endpoint) => !this.#configured.includes(endpoint));
    const oldest = hinted[0];
    if (hinted.length <= maxHintedChannels || oldest === undefined) return;
    this.#targets.get(oldest)?.abandon();
  }
}
