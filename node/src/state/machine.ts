/**
 * The replicated state machine: it turns entries into outcomes and one batch of changes.
 *
 * Applying is deterministic: it reads only the rows of the state and the entry, never a clock, a random number or a
 * setting of this member. Entries are applied one by one into a transaction. `commit` writes the transaction together
 * with the progress row, so changes and progress are never separate (P42). Other readers see only committed batches.
 */

import type { HashSeed } from "../bytes/index.ts";
import { InvariantViolation, invariant } from "../primitives/index.ts";
import { ENTRY_HEADER_BYTES, EntryType, entryIndex, entryPayload, entryTerm, entryType } from "../raft/index.ts";
import { refusalOf, UsageLedger } from "./accounts/index.ts";
import {
  applyFounding,
  applyLeave,
  applyMembership,
  applySuccession,
  decodeFounding,
  decodeMembershipEntry,
  decodeSuccession,
  isSuccession,
  type MembershipEntry,
} from "./cluster/index.ts";
import { type ClientCommand, decodeCommand, decodeInSteps, divisionOf } from "./command.ts";
import {
  AnswerLedger,
  type AnswerSlot,
  ApplyContext,
  allAtOnce,
  type Checkpoint,
  Checkpoints,
  CoordinationError,
  type Digest,
  type EndedWait,
  encodeProgress,
  HistoryLedger,
  NamespaceAccounts,
  namespaceLimitsOf,
  type Outcome,
  PROGRESS_ROW,
  type Progress,
  type Reconfigure,
  type RequestIdentity,
  type Result,
  readProgress,
  refusalIn,
  type StateLimits,
  type StateStore,
  type Steps,
  type StoredResult,
  Transaction,
  unsetLimits,
  type WatchedChange,
} from "./core/index.ts";
import { ANSWERS, accessesOf, type ClusterOperation, kindOf, usageOf } from "./operations.ts";
import { answerSlot, storeAnswer, storedOutcomeAt } from "./replay/index.ts";

/** This member's state differs from that of the cluster. */
export interface Divergence extends Checkpoint {
  /** The digest of the cluster. */
  readonly clusterDigest: number;
}

const NO_SEED: HashSeed = [0, 0];

export class StateMachine {
  /** The digests of this state, to compare with those of other members. */
  readonly checkpoints: Checkpoints;
  readonly #store: StateStore;
  readonly #transaction: Transaction;
  readonly #usage: UsageLedger;
  readonly #accounts: NamespaceAccounts;
  readonly #history: HistoryLedger;
  readonly #answerLedger: AnswerLedger;
  readonly #context: ApplyContext;
  /** Index and term of the last applied entry. */
  #appliedIndex: number;
  #appliedTerm: number;
  #committed: Progress;
  #endedWaits: readonly EndedWait[] = [];
  #watched: readonly WatchedChange[] = [];
  #divergence: Divergence | null = null;
  /** Whether an entry is being applied in steps. */
  #isWithinEntry = false;

  /** @param seed random numbers of this process; only the choice of rows to read depends on them */
  constructor(store: StateStore, digest: Digest, limits: StateLimits, seed: HashSeed = NO_SEED) {
    this.checkpoints = new Checkpoints(limits.checkpointEntries);
    this.#store = store;
    this.#committed = readProgress(store);
    this.#appliedIndex = this.#committed.appliedIndex;
    this.#appliedTerm = this.#committed.appliedTerm;
    this.#transaction = new Transaction(store, digest, this.#committed.digest);
    this.#usage = new UsageLedger(store);
    this.#history = new HistoryLedger(this.#transaction);
    this.#answerLedger = new AnswerLedger(this.#transaction, store, limits.replayWindowMs, seed);
    invariant(this.#answerLedger.count === this.#committed.storedAnswers, "generations hold all stored answers", () => {
      return `${this.#answerLedger.count} of ${this.#committed.storedAnswers}`;
    });
    const unset = unsetLimits(limits);
    this.#accounts = new NamespaceAccounts(this.#transaction, (namespace) => {
      return namespaceLimitsOf(this.#transaction, namespace, unset);
    });
    const ledgers = {
      accounts: this.#accounts,
      history: this.#history,
      answerLedger: this.#answerLedger,
      usage: this.#usage,
    };
    this.#context = new ApplyContext(this.#transaction, limits, ledgers, ANSWERS, this.#committed);
  }

  /** Progress of the state as of the last commit. */
  get progress(): Progress {
    return this.#committed;
  }

  /**
   * Applies the next entry and returns the outcome of a client's command; null for any other entry. Readers see nothing
   * of it before `commit`. Raises an InvariantViolation if the entry is not the next one or cannot be decoded.
   */
  apply(row: Uint8Array, reconfigure: Reconfigure): Outcome | null {
    this.#begin(row);
    const outcome = applyEntry(this.#context, row, reconfigure);
    this.#finish();
    return outcome;
  }

  /**
   * The same as `apply`, in steps, for an entry that `mayBeLong`: it may take longer than one turn of the event loop
   * should. Before the last step the caller must not apply another entry or commit. Readers still see what was
   * committed before.
   */
  *applyInSteps(row: Uint8Array): Steps<Outcome | null> {
    this.#begin(row);
    this.#isWithinEntry = true;
    const outcome = yield* applyCommandInSteps(this.#context, entryPayload(row));
    this.#isWithinEntry = false;
    this.#finish();
    return outcome;
  }

  #begin(row: Uint8Array): void {
    invariant(!this.#isWithinEntry, "an entry is complete before the next one is applied");
    const index = entryIndex(row);
    if (index !== this.#appliedIndex + 1) {
      throw new InvariantViolation("entries are applied one by one", `${index} after ${this.#appliedIndex}`);
    }
    const term = entryTerm(row);
    if (term < this.#appliedTerm) {
      throw new InvariantViolation("terms never fall along the log", `${term} at ${index}`);
    }
    this.#context.begin(row);
  }

  #finish(): void {
    const { index, term, endedWaits, watched, leaderCheckpoint } = this.#context;
    this.#appliedIndex = index;
    this.#appliedTerm = term;
    this.#endedWaits = endedWaits;
    this.#watched = watched;
    this.checkpoints.onApplied(index, this.#transaction.digest);
    if (leaderCheckpoint !== null) {
      this.#compare(leaderCheckpoint);
    }
  }

  /** The difference that an entry has shown between this state and the cluster's; null while there is none. */
  get divergence(): Divergence | null {
    return this.#divergence;
  }

  /** The waits for locks that the last entry ended, in order. */
  get endedWaits(): readonly EndedWait[] {
    return this.#endedWaits;
  }

  /** The changes of keys and locks by the last entry, in the order of revisions. */
  get watched(): readonly WatchedChange[] {
    return this.#watched;
  }

  /** Writes everything applied since the last commit as one batch. */
  commit(): void {
    invariant(!this.#isWithinEntry, "an entry is complete before it is committed");
    if (this.#appliedIndex === this.#committed.appliedIndex) {
      return;
    }
    const progress = this.#context.progress();
    this.#usage.flush(this.#transaction);
    this.#accounts.flush();
    this.#history.flush();
    this.#answerLedger.flush();
    const changes = this.#transaction.take();
    changes.push({ key: PROGRESS_ROW, value: encodeProgress(progress) });
    this.#store.write(changes, this.#answerLedger.takeDropped());
    this.#committed = progress;
  }

  /**
   * Reads up to this many older rows, which make look-ups of stored answers cheap. Returns whether more rows are left.
   * The caller must not call it between an entry and its commit.
   */
  readForAnswerFilters(rowsMax: number): boolean {
    invariant(this.#appliedIndex === this.#committed.appliedIndex, "filters are made of what was committed");
    return this.#answerLedger.readForFilters(rowsMax);
  }

  #compare({ index, digest }: Checkpoint): void {
    const own = this.checkpoints.digestAt(index);
    if (own !== undefined && own !== digest) {
      this.#divergence ??= { index, digest: own, clusterDigest: digest };
    }
  }
}

/** Whether to apply the entry in steps: it has at least this many bytes, or they do not show how much work it is. */
export function mayBeLong(row: Uint8Array, bytesMin: number): boolean {
  const division = entryType(row) === EntryType.Command ? divisionOf(row, ENTRY_HEADER_BYTES) : null;
  return division !== null && (division.isHidden || row.length >= bytesMin);
}

function applyEntry(context: ApplyContext, row: Uint8Array, reconfigure: Reconfigure): Outcome | null {
  const type = entryType(row);
  switch (type) {
    case EntryType.Empty:
      return null;
    case EntryType.Bootstrap:
      applyBootstrap(context, entryPayload(row), reconfigure);
      return null;
    case EntryType.AddSlot:
    case EntryType.Reconfigure:
      return applyMembershipEntry(context, decodeMembershipEntry(entryPayload(row)), reconfigure);
    case EntryType.Leave:
      applyLeave(context, reconfigure);
      return null;
    case EntryType.Command: {
      const command = decodeCommand(row, ENTRY_HEADER_BYTES);
      if (command.principal === null) {
        return applyClusterOperation(context, command.operation);
      }
      return applyCounted(context, command);
    }
    default:
      throw new InvariantViolation("entries have a known type", String(type));
  }
}

/** The first entry of a cluster: it starts empty, or with the state of a former cluster. */
function applyBootstrap(context: ApplyContext, payload: Uint8Array, reconfigure: Reconfigure): void {
  if (isSuccession(payload)) {
    applySuccession(context, decodeSuccession(payload), reconfigure);
  } else {
    applyFounding(context, decodeFounding(payload), reconfigure);
  }
}

/** Counts a command, unless its caller lacks the rights or it is a retry that gets its stored answer. */
function applyCounted(context: ApplyContext, command: ClientCommand): Outcome {
  const outcome = applyClientCommand(context, command);
  countUse(context, command, outcome);
  return outcome;
}

/** The same for a command that may pause. */
function* applyCommandInSteps(context: ApplyContext, payload: Uint8Array): Steps<Outcome | null> {
  const command = yield* decodeInSteps(payload);
  if (command.principal === null) {
    return yield* kindOf(command.operation).apply(context, command.operation) as Steps<null>;
  }
  const { principal, request, operation } = command;
  let outcome = rightsRefusalOf(context, command);
  if (outcome === null) {
    const asked = slotOf(context, principal.subject, request);
    const { apply } = kindOf(operation);
    outcome =
      asked?.replayed ??
      stored(context, asked, yield* refusableInSteps(apply(context, operation, principal) as Steps<StoredResult>));
  }
  outcome = withRepeatedAppend(outcome);
  countUse(context, command, outcome);
  return outcome;
}

function countUse(
  context: ApplyContext,
  { principal, operation }: Pick<ClientCommand, "principal" | "operation">,
  { answer, replayed }: Outcome,
): void {
  const isStranger = answer instanceof CoordinationError && STRANGER.has(answer.code);
  if (replayed === "no" && !isStranger) {
    context.usage.count(context.transaction, principal, usageOf(operation, answer), context);
  }
}

/** Codes of refusals for lack of rights. */
const STRANGER: ReadonlySet<CoordinationError["code"]> = new Set(["UNAUTHENTICATED", "PERMISSION_DENIED"]);

/** Authorisation first, then the stored answer, then the operation: a revoked caller gets no information (S13). */
function applyClientCommand(context: ApplyContext, command: ClientCommand): Outcome {
  const { principal, request, operation } = command;
  const refused = rightsRefusalOf(context, command);
  if (refused !== null) {
    return refused;
  }
  const { apply, applyRequest } = kindOf(operation);
  if (applyRequest !== null && request !== null) {
    return applyRequest(context, { principal, request, operation });
  }
  const run = () => resultOf(apply(context, operation, principal));
  return withRepeatedAppend(answerOnce(context, principal.subject, request, run));
}

function resultOf(applied: StoredResult | Steps<StoredResult>): StoredResult {
  return "kind" in applied ? applied : allAtOnce(applied);
}

/** The refusal of a principal who may not run the operation; null if they may. */
function rightsRefusalOf(context: ApplyContext, { principal, operation }: ClientCommand): Outcome | null {
  for (const required of accessesOf(operation, principal)) {
    const answer = refusalOf(context.transaction, principal, required, context.wallMs);
    if (answer !== null) {
      return { answer, replayed: "no" };
    }
  }
  return null;
}

/** An append that stored nothing is a retry too. */
function withRepeatedAppend(outcome: Outcome): Outcome {
  const { answer, replayed } = outcome;
  const isRepeated = "kind" in answer && answer.kind === "append-events" && answer.appendedEvents === 0;
  return replayed === "no" && isRepeated ? { answer, replayed: "yes" } : outcome;
}

function applyMembershipEntry(context: ApplyContext, entry: MembershipEntry, reconfigure: Reconfigure): Outcome {
  return answerOnce(context, entry.subject, entry.request, () => applyMembership(context, entry, reconfigure));
}

/**
 * Applies a request once. A retry gets the stored answer: those of administrators too, who have no record that could be
 * revoked.
 */
function answerOnce(
  context: ApplyContext,
  subject: string,
  request: RequestIdentity | null,
  apply: () => Result,
): Outcome {
  const asked = slotOf(context, subject, request);
  return asked?.replayed ?? stored(context, asked, refusable(apply));
}

/** The place for the answer to a request, and the answer that it holds already; null for a request without an id. */
interface RequestSlot {
  readonly request: RequestIdentity;
  readonly slot: AnswerSlot;
  readonly replayed: Outcome | null;
}

function slotOf(context: ApplyContext, subject: string, request: RequestIdentity | null): RequestSlot | null {
  if (request === null) {
    return null;
  }
  const slot = answerSlot(context, subject, request);
  return { request, slot, replayed: storedOutcomeAt(context, slot, request) };
}

/** The outcome of a request that ran now. Its answer is stored for retries. */
function stored(context: ApplyContext, asked: RequestSlot | null, answer: Result | CoordinationError): Outcome {
  if (asked !== null) {
    storeAnswer(context, asked.slot, asked.request, answer as StoredResult | CoordinationError);
  }
  return { answer, replayed: "no" };
}

function applyClusterOperation(context: ApplyContext, operation: ClusterOperation): Outcome | null {
  const { apply, isAnswered } = kindOf(operation);
  if (!isAnswered) {
    const steps = apply(context, operation) as Steps<null> | null;
    return steps === null ? null : allAtOnce(steps);
  }
  const { subject, request } = "request" in operation ? operation : NO_REQUEST;
  return answerOnce(context, subject, request, () => apply(context, operation) as Result);
}

const NO_REQUEST = { subject: "", request: null } as const;

/** The result, or the refusal that was raised: refusals of apply are answers. */
function refusable<Applied>(apply: () => Applied): Applied | CoordinationError {
  try {
    return apply();
  } catch (error) {
    return refusalIn(error);
  }
}

/** The same for an operation that may pause. */
function* refusableInSteps<Applied>(steps: Steps<Applied>): Steps<Applied | CoordinationError> {
  try {
    return yield* steps;
  } catch (error) {
    return refusalIn(error);
  }
}
