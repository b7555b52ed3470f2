/**
 * A Raft log applied to a real state machine over a store in memory: a cluster whose clocks the spec sets. The log is
 * kept, so that a spec can apply it again.
 *
 * `FOUNDING` founds it, with a member, an owner with an API key, and the namespace `default`.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../src/primitives/index.ts";
import {
  EntryType,
  type Envelope,
  encodeEntry,
  entryIndex,
  NO_PROPOSAL_ORIGIN,
  type ProposalOrigin,
  sealEntry,
} from "../src/raft/index.ts";
import {
  CLUSTER_VERSION,
  type ClientOperation,
  type ClusterOperation,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  type EndedWait,
  encodeCommand,
  encodeFounding,
  type Founding,
  kindOf,
  type Outcome,
  type Principal,
  type Progress,
  type Reconfigure,
  type RequestIdentity,
  type Result,
  type StateLimits,
  StateMachine,
  type StateStore,
} from "../src/state/index.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { soleVoter } from "./sole-voter.ts";

/** The result of one kind of operation. */
type ResultOf<Kind> = Extract<Result, { readonly kind: Kind }>;

/** The caller, by default the owner, and the request id. */
export interface ExecuteOptions {
  readonly principal?: Principal;
  /** Null = without an id. Absent: a new one, or none for an operation that may lack it. */
  readonly request?: RequestIdentity | null;
}

/** The founding of every AppliedLog. Its secrets are bytes that are easy to recognise in a failure. */
export const FOUNDING: Founding = {
  clusterVersion: CLUSTER_VERSION,
  clusterId: "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a11",
  clusterName: "spec",
  memberName: "member-0",
  incarnation: new Uint8Array(16).fill(0x11),
  address: { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" },
  owner: {
    userId: "user-owner",
    email: "Owner@quoin.local",
    passwordHash: "scrypt$spec",
    apiKeyId: "api-key-owner",
    apiKeyPrefix: "qk_0aZ9bY8c",
    apiKeySha256: new Uint8Array(32).fill(0x22),
  },
  signingKeyId: "signing-key-1",
  signingPublicKey: new Uint8Array(32).fill(0x33),
  signingPrivateKey: new Uint8Array(32).fill(0x44),
  pageTokenKey: new Uint8Array(32).fill(0x55),
};

/** The owner, logged in without an API key. */
export const OWNER: Principal = { subject: FOUNDING.owner.userId, apiKeyId: "" };

/** A request's identity made of two numbers: requests with equal numbers have the same id, or the same payload. */
export function requestOf(id: number, payload = id): RequestIdentity {
  const requestId = new Uint8Array(16);
  const payloadHash = new Uint8Array(32);
  new DataView(requestId.buffer).setUint32(0, id);
  new DataView(payloadHash.buffer).setUint32(0, payload);
  return { requestId, payloadHash };
}

/** A state machine over the store, as a member makes it. */
export function machineOver(store: StateStore, limits: StateLimits = DEFAULT_STATE_LIMITS): StateMachine {
  return new StateMachine(store, (previous, bytes) => crc32(bytes, previous), limits);
}

/** Applies rows, and writes a batch after each of these indexes and after the last row. */
export function applyRows(
  machine: StateMachine,
  rows: readonly Uint8Array[],
  sliceEnds: ReadonlySet<number> = new Set(),
  reconfigure: Reconfigure = soleVoter,
): (Outcome | null)[] {
  const outcomes = rows.map((row) => {
    const outcome = machine.apply(row, reconfigure);
    if (sliceEnds.has(entryIndex(row))) {
      machine.commit();
    }
    return outcome;
  });
  machine.commit();
  return outcomes;
}

export class AppliedLog {
  readonly store = new MemoryStateStore();
  /** Every entry so far: entry 1 is the first. */
  readonly rows: Uint8Array[] = [];
  /** The clocks of the next entry, in milliseconds. */
  tickMs = 1_000;
  wallMs = 1_750_000_000_250;
  /** The attempt in the next entry. */
  origin: ProposalOrigin = NO_PROPOSAL_ORIGIN;
  /** Waits that entries have ended, oldest first. */
  readonly settled: EndedWait[] = [];
  readonly #limits: StateLimits;
  #machine: StateMachine;
  #requests = 0x8000_0000;

  constructor(limits: StateLimits = DEFAULT_STATE_LIMITS, founding: Founding = FOUNDING) {
    this.#limits = limits;
    this.#machine = machineOver(this.store, limits);
    this.append(EntryType.Bootstrap, encodeFounding(founding));
  }

  /** Continues with a new state machine over the same store, and reads this many rows for its filters. */
  restart(filterRows = 0): void {
    this.#machine = machineOver(this.store, this.#limits);
    this.readForFilters(filterRows);
  }

  /** Reads this many rows for the filters of the state machine; returns whether there are more. */
  readForFilters(filterRows: number): boolean {
    return this.#machine.readForAnswerFilters(filterRows);
  }

  get progress(): Progress {
    return this.#machine.progress;
  }

  get revision(): number {
    return this.#machine.progress.revision;
  }

  /** Adds an entry of term 1 and applies it as a batch of its own. */
  append(type: EntryType, payload: Uint8Array, reconfigure: Reconfigure = soleVoter): Outcome | null {
    const envelope: Envelope = { tickMs: this.tickMs, wallMs: this.wallMs, origin: this.origin };
    const row = encodeEntry(type, envelope, payload);
    sealEntry(row, 1, this.rows.length + 1, crc32);
    this.rows.push(row);
    const [outcome] = applyRows(this.#machine, [row], new Set(), reconfigure);
    this.settled.push(...this.#machine.endedWaits);
    return outcome as Outcome | null;
  }

  /** Applies a client's operation. */
  execute(
    operation: ClientOperation,
    {
      principal = OWNER,
      request = kindOf(operation).mayLackId ? null : requestOf(this.#requests++),
    }: ExecuteOptions = {},
  ): Outcome {
    const outcome = this.append(EntryType.Command, encodeCommand({ principal, request, operation }));
    invariant(outcome !== null, "a client's command has an outcome");
    return outcome;
  }

  /** Applies a client's operation, which must succeed, and returns its result. */
  result<Kind extends ClientOperation["kind"]>(
    operation: Extract<ClientOperation, { readonly kind: Kind }>,
    asking: ExecuteOptions = {},
  ): ResultOf<Kind> {
    const { answer } = this.execute(operation, asking);
    if (answer instanceof CoordinationError) {
      throw answer;
    }
    invariant(answer.kind === operation.kind, "a result is of its operation's kind");
    return answer as ResultOf<Kind>;
  }

  /** Applies a client's operation, which must be refused, and returns the refusal. */
  refusal(operation: ClientOperation, asking: ExecuteOptions = {}): CoordinationError {
    const { answer } = this.execute(operation, asking);
    if (answer instanceof CoordinationError) {
      return answer;
    }
    throw new Error(`${operation.kind} was not refused`);
  }

  /** Applies a client's operation, and returns its result or the refusal. */
  ask<Kind extends ClientOperation["kind"]>(
    operation: Extract<ClientOperation, { readonly kind: Kind }>,
    principal: Principal = OWNER,
  ): ResultOf<Kind> | CoordinationError {
    const { answer } = this.execute(operation, { principal });
    invariant(answer instanceof CoordinationError || answer.kind === operation.kind, "a result is of its operation");
    return answer as ResultOf<Kind> | CoordinationError;
  }

  /** Applies an operation that the cluster proposes itself, and returns its outcome, if any. */
  lead(operation: ClusterOperation): Outcome | null {
    return this.append(EntryType.Command, encodeCommand({ principal: null, request: null, operation }));
  }

  /** A new state machine over this store, with the limits of this one. */
  machineOver(store: StateStore): StateMachine {
    return machineOver(store, this.#limits);
  }

  /** All rows of the state as text, ascending; two states are equal if these are. */
  dump(): string[] {
    return dumpOf(this.store);
  }
}

/** All rows of a store as text, ascending. */
export function dumpOf(store: MemoryStateStore): string[] {
  const rows: string[] = [];
  store.scan(new Uint8Array(0), Uint8Array.of(0xff), ({ key, value }) => {
    rows.push(`${Buffer.from(key).toString("latin1")} = ${Buffer.from(value).toString("hex")}`);
    return true;
  });
  return rows;
}
