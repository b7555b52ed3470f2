/**
 * Keeps this member's address in the cluster record up to date, so that others find it after a restart elsewhere.
 */

import { type MemberAddress, readCluster } from "../../state/index.ts";
import type { Clock, Scheduler } from "../context/index.ts";
import type { Replica } from "../driver/index.ts";

export interface AddressPublisherOptions {
  readonly memberId: number;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  readonly address: MemberAddress;
  readonly replica: Pick<Replica, "state" | "proposeClusterOperation">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

const PROPOSAL_MS_MAX = 5_000;
/** Pause between two attempts, in milliseconds. */
const PAUSE_MS = 1_000;

export class AddressPublisher {
  readonly #options: AddressPublisherOptions;
  #isBusy = false;
  #cancelPause: (() => void) | null = null;
  #stopped = false;

  constructor(options: AddressPublisherOptions) {
    this.#options = options;
  }

  /** Whether the record lists this member with another address. */
  get isOutdated(): boolean {
    const { memberId, incarnation, address, replica } = this.#options;
    const own = readCluster(replica.state)?.members.find(({ id }) => id === memberId);
    if (own?.incarnation.toHex() !== incarnation) {
      return false;
    }
    const { peerEndpoint, grpcEndpoint, httpEndpoint } = own.address;
    return (
      peerEndpoint !== address.peerEndpoint ||
      grpcEndpoint !== address.grpcEndpoint ||
      httpEndpoint !== address.httpEndpoint
    );
  }

  /** Proposes to record the address if the record has another one, and retries until it is recorded. */
  publishIfOutdated(): void {
    if (this.#stopped || this.#isBusy || !this.isOutdated) {
      return;
    }
    this.#isBusy = true;
    const { memberId: id, incarnation, address, replica, clock } = this.#options;
    const operation = { kind: "update-member", id, incarnation: Buffer.from(incarnation, "hex"), address } as const;
    replica.proposeClusterOperation(operation, clock.monotonicMs() + PROPOSAL_MS_MAX, () => this.#waitBeforeRetry());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelPause?.();
  }

  #waitBeforeRetry(): void {
    if (this.#stopped) {
      return;
    }
    const cancel = this.#options.scheduler.every(PAUSE_MS, () => {
      cancel();
      this.#cancelPause = null;
      this.#isBusy = false;
      this.publishIfOutdated();
    });
    this.#cancelPause = cancel;
  }
}
