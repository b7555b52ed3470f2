/**
 * A golden log while it is written: sealed entries, made by the encoders of the product, each applied to a real state
 * machine as soon as it is there. Clocks, ids and request ids are given, so the same steps always make the same bytes.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../../src/primitives/index.ts";
import {
  type Configuration,
  changeConfiguration,
  EntryType,
  encodeEntry,
  NO_CONFIGURATION,
  NO_PROPOSAL_ORIGIN,
  type ProposalOrigin,
  sealEntry,
} from "../../src/raft/index.ts";
import {
  type ClientOperation,
  type ClusterOperation,
  CoordinationError,
  encodeCommand,
  encodeFounding,
  encodeMembershipEntry,
  encodeRequest,
  encodeSuccession,
  type Founding,
  kindOf,
  type MembershipEntry,
  type Outcome,
  type Principal,
  type Reconfigure,
  type RequestIdentity,
  type Result,
  readCluster,
  type StateReader,
  type Succession,
} from "../../src/state/index.ts";
import { MemoryStateStore, machineOver } from "../index.ts";
import { idBytes, OWNER, sha256 } from "./identities.ts";
import type { GoldenEntry } from "./log-file.ts";

const CHANGE_TYPES = { "add-slot": EntryType.AddSlot, reconfigure: EntryType.Reconfigure } as const;
/** Where the request ids of clients begin. */
const FIRST_REQUEST = 1_000;

type ResultOf<Kind> = Extract<Result, { readonly kind: Kind }>;

/** The rules of configurations over those of a state: what the consensus core does while entries are applied. */
export function reconfigureFrom(state: StateReader): Reconfigure {
  let configuration: Configuration = readCluster(state)?.configuration ?? NO_CONFIGURATION;
  return (index, change, expectIndex) => {
    // A founding begins without members, and so does a succession behind the log of a former cluster.
    const before = change.type === "bootstrap" ? NO_CONFIGURATION : configuration;
    const changed = changeConfiguration(before, index, change, expectIndex);
    configuration = typeof changed === "string" ? configuration : changed;
    return changed;
  };
}

/** An outcome in a word or two: the kind of the result, or the reason of the refusal; `again` if it is a stored answer. */
export function outcomeText(outcome: Outcome | null): string {
  if (outcome === null) {
    return "";
  }
  const { answer, replayed } = outcome;
  const text = answer instanceof CoordinationError ? answer.reason : answer.kind;
  return replayed === "no" ? text : `${text} again`;
}

export class GoldenLog {
  readonly store = new MemoryStateStore();
  readonly entries: GoldenEntry[] = [];
  readonly #machine = machineOver(this.store);
  readonly #reconfigure = reconfigureFrom(this.store);
  term = 1;
  tickMs = 0;
  wallMs = Date.UTC(2026, 0, 1);
  #attempts = 0;
  #requests = FIRST_REQUEST;

  get index(): number {
    return this.entries.length;
  }

  get revision(): number {
    return this.#machine.progress.revision;
  }

  get digest(): number {
    return this.#machine.progress.digest;
  }

  /** The attempt that the last command of a client was. */
  get attempt(): ProposalOrigin {
    return { memberId: 1, boot: 1, seq: this.#attempts };
  }

  /** Lets so much time pass before the next entry. */
  pass(milliseconds: number): void {
    this.tickMs += milliseconds;
    this.wallMs += milliseconds;
  }

  found(founding: Founding): void {
    this.#append(EntryType.Bootstrap, encodeFounding(founding), NO_PROPOSAL_ORIGIN);
  }

  /** A new cluster takes the state over. */
  succeed(succession: Omit<Succession, "lastTerm">): void {
    const payload = encodeSuccession({ ...succession, lastTerm: this.term });
    this.term++;
    this.#append(EntryType.Bootstrap, payload, NO_PROPOSAL_ORIGIN);
  }

  /** A new leader: the entry with which it begins its term. */
  lead(): void {
    this.term++;
    this.#append(EntryType.Empty, new Uint8Array(0), NO_PROPOSAL_ORIGIN);
  }

  /** The number of a request id that was not used before. */
  newRequest(): number {
    return this.#requests++;
  }

  /** What a client asks for; null = without a request id. */
  client<Kind extends ClientOperation["kind"]>(
    operation: Extract<ClientOperation, { readonly kind: Kind }>,
    by: Principal = OWNER,
    request: number | null = kindOf(operation).mayLackId ? null : this.newRequest(),
  ): ResultOf<Kind> | CoordinationError {
    const asked = { principal: by, request: request === null ? null : { requestId: idBytes(request) }, operation };
    const { payload } = encodeRequest(asked, sha256);
    const outcome = this.#append(EntryType.Command, payload, this.#nextAttempt());
    invariant(outcome !== null, "what a client asks for has an outcome");
    return outcome.answer as ResultOf<Kind> | CoordinationError;
  }

  /** What the cluster proposes by itself, or an administrator asks of it. */
  cluster(operation: ClusterOperation): void {
    this.#append(EntryType.Command, encodeCommand({ principal: null, request: null, operation }), NO_PROPOSAL_ORIGIN);
  }

  /** A change of the membership. Returns the index of its entry: the id of a member that it adds. */
  membership(operation: MembershipEntry["operation"], request: RequestIdentity | null = null, expectIndex = 0): number {
    const entry = { subject: "administrator", request, expectIndex, operation };
    this.#append(CHANGE_TYPES[operation.kind], encodeMembershipEntry(entry), this.#nextAttempt());
    return this.index;
  }

  /** The end of a joint configuration. */
  leave(): void {
    this.#append(EntryType.Leave, new Uint8Array(0), NO_PROPOSAL_ORIGIN);
  }

  #nextAttempt(): ProposalOrigin {
    this.#attempts++;
    return this.attempt;
  }

  #append(type: EntryType, payload: Uint8Array, origin: ProposalOrigin): Outcome | null {
    const bytes = encodeEntry(type, { tickMs: this.tickMs, wallMs: this.wallMs, origin }, payload).slice();
    sealEntry(bytes, this.term, this.index + 1, crc32);
    const outcome = this.#machine.apply(bytes, this.#reconfigure);
    this.#machine.commit();
    const { digest, revision } = this.#machine.progress;
    this.entries.push({ index: this.index + 1, outcome: outcomeText(outcome), revision, digest, bytes });
    this.pass(10);
    return outcome;
  }
}

/** The result, which must be none but a result: a step of the script that is refused by mistake ends the making. */
export function done<Answer>(answer: Answer | CoordinationError): Answer {
  if (answer instanceof CoordinationError) {
    throw answer;
  }
  return answer;
}

/** The step must be refused for this reason. */
export function refusedWith(reason: string, answer: unknown): void {
  const actual = answer instanceof CoordinationError ? answer.reason : "no refusal";
  invariant(actual === reason, "a step of the golden script is refused as it says", () => `${actual}, not ${reason}`);
}
