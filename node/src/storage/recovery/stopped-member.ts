/**
 * Read-only access to the data of a stopped member: its facts about the cluster, its state, and its log.
 *
 * It opens the data like a start, under the same lock and with the same checks, but writes nothing: no vote, no boot
 * number, no repair. It refuses damaged data, and names the damage. What a start would repair after a crash stays as it
 * is.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { invariant } from "../../primitives/index.ts";
import { isIntactEntry } from "../../raft/index.ts";
import {
  type Cluster,
  type Progress,
  type Row,
  readCluster,
  readProgress,
  type StateReader,
} from "../../state/index.ts";
import { MIRROR_FILE, StoreError } from "../files/index.ts";
import { type Identity, lostForGood, Refused, readIdentity, retired } from "../identity/index.ts";
import { type LogFiles, openLog, tidyLog } from "../log/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { LOCAL_ROWS_FROM, openState, tidyStores } from "../state/index.ts";
import { catchDamage, planStartupRecovery, type StartupRecoveryPlan } from "./startup-recovery-plan.ts";
import { unfinishedSuccession } from "./successor-directory.ts";

const FIRST_KEY = new Uint8Array([0]);

/** Facts from the data of a stopped member. */
export interface MemberFacts {
  readonly clusterId: string;
  readonly clusterName: string;
  readonly name: string;
  readonly memberId: number;
  /** Index and term of the last entry in its log, committed or not. */
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** The last entry that it knows as committed. */
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly appliedTerm: number;
  /** The highest term that it has seen. */
  readonly term: number;
  /** Revision of the applied state. */
  readonly revision: number;
  /** The membership as of the applied state; null if nothing was applied. */
  readonly cluster: Cluster | null;
  /** Time of its last write to its log, in milliseconds, by the clock of the file system; up to 1 s early. */
  readonly writtenAtMs: number;
}

export interface StoppedMemberOptions {
  /** Whether to open retired data too: the member was removed, or its data must not be served any more. */
  readonly acceptRetired: boolean;
}

export class StoppedMember {
  readonly directory: string;
  readonly identity: Identity;
  readonly facts: MemberFacts;
  readonly #log: LogFiles;
  #state: Rocks | null;

  private constructor(directory: string, identity: Identity, facts: MemberFacts, log: LogFiles, state: Rocks) {
    this.directory = directory;
    this.identity = identity;
    this.facts = facts;
    this.#log = log;
    this.#state = state;
  }

  /**
   * Raises Refused if the directory does not hold undamaged data of a member; a StoreError of kind "locked" if the
   * member runs, of kind "io" if the disk fails.
   */
  static async open(directory: string, { acceptRetired }: StoppedMemberOptions): Promise<StoppedMember> {
    const identity = requireMemberData(directory, acceptRetired);
    const writtenAtMs = statSync(join(directory, MIRROR_FILE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const opened: (Rocks | LogFiles)[] = [];
    try {
      const log = await catchDamage(() => openLog(directory, false));
      if (log.value !== null) {
        opened.push(log.value);
      }
      const state = await catchDamage(() => openState(directory));
      if (state.value !== null) {
        opened.push(state.value);
      }
      const plan = await planStartupRecovery({ directory, identity, soleVoterWithoutMirror: null }, log, state);
      requireWhole(directory, plan);
      invariant(log.value !== null && state.value !== null, "a store that does not open is lost");
      tidyStores(directory);
      tidyLog(directory, log.value);
      const facts = factsOf(identity, plan, state.value, writtenAtMs);
      return new StoppedMember(directory, identity, facts, log.value, state.value);
    } catch (error) {
      for (const store of opened.reverse()) {
        await store.close();
      }
      throw asRefusal(directory, error);
    }
  }

  /** The applied state. */
  get state(): StateReader {
    return this.#openState;
  }

  /** All rows of the applied state in key order, without local rows, in pieces of about `pieceBytes`. */
  *rows(pieceBytes: number): Generator<readonly Row[]> {
    const view = this.#openState.view([{ from: FIRST_KEY, to: LOCAL_ROWS_FROM }]);
    try {
      for (let piece = view.read(pieceBytes); piece.length > 0; piece = view.read(pieceBytes)) {
        yield piece;
      }
    } finally {
      view.close();
    }
  }

  /**
   * Closes the applied state, and returns its directory. The log stays open, because its lock keeps the member from
   * starting.
   */
  async releaseState(): Promise<string> {
    const { directory } = this.#openState;
    const state = this.#openState;
    this.#state = null;
    await state.close();
    return directory;
  }

  /** The entries after the applied ones, in order. Raises a StoreError. */
  *unapplied(): Generator<Uint8Array> {
    const { appliedIndex, lastIndex } = this.facts;
    for (let index = appliedIndex + 1; index <= lastIndex; index++) {
      const row = this.#log.has(index) ? this.#log.read(index, index, 0)[0] : undefined;
      if (row === undefined || !isIntactEntry(row, crc32)) {
        throw new StoreError("corruption", `entry ${index} of the Raft log is missing or damaged`);
      }
      yield row;
    }
  }

  /** Closes the stores, so that the member can start again. */
  async close(): Promise<void> {
    await this.#state?.close();
    await this.#log.close();
  }

  get #openState(): Rocks {
    if (this.#state === null) {
      throw new StoreError("io", "the state is closed");
    }
    return this.#state;
  }
}

/**
 * The identity of the member in the directory, running or not. Changes nothing. Raises Refused if there is no member.
 */
export function requireMemberData(directory: string, acceptRetired: boolean): Identity {
  const unfinished = unfinishedSuccession(directory);
  if (unfinished !== null) {
    throw new Refused("MEMBER_REFUSED", unfinished);
  }
  const identity = readIdentity(directory);
  if (identity === null) {
    throw new Refused("MEMBER_REFUSED", `${directory} holds no member's data. Name the data directory of a member`);
  }
  if (identity.phase === "empty") {
    throw new Refused(
      "MEMBER_REFUSED",
      `${directory} belongs to no cluster yet, so there is nothing to read. Start the member: it founds a cluster or ` +
        "joins one",
    );
  }
  if (identity.phase !== "member" && !acceptRetired) {
    throw retired(directory, identity.phase, identity.reason);
  }
  return identity;
}

/** Raises Refused if acknowledged data is lost, now or earlier, and is not known to be back. */
function requireWhole(directory: string, { loss, mirror }: StartupRecoveryPlan): void {
  if (loss !== null) {
    throw lostForGood(directory, loss.problem);
  }
  if (mirror.damaged) {
    throw lostForGood(
      directory,
      "the member lost data earlier, and does not have everything again from the others yet",
    );
  }
}

function factsOf(identity: Identity, plan: StartupRecoveryPlan, state: Rocks, writtenAtMs: number): MemberFacts {
  const { meta, resetTo, hardState } = plan;
  const { appliedIndex, appliedTerm, revision }: Progress = readProgress(state);
  const last = resetTo ?? { index: meta.last, term: meta.lastTerm };
  return {
    clusterId: identity.clusterId,
    clusterName: identity.clusterName,
    name: identity.name,
    memberId: identity.memberId,
    lastIndex: last.index,
    lastTerm: last.term,
    commitIndex: Math.max(appliedIndex, resetTo === null ? meta.commit : 0),
    appliedIndex,
    appliedTerm,
    term: Math.max(hardState.term, last.term),
    revision,
    cluster: readCluster(state) ?? null,
    writtenAtMs,
  };
}

function asRefusal(directory: string, error: unknown): unknown {
  if (error instanceof StoreError && (error.kind === "corruption" || error.kind === "missing")) {
    return lostForGood(directory, error.message);
  }
  return error;
}

type LastEntry = Pick<MemberFacts, "lastTerm" | "lastIndex">;

/** Whether the first member's log is more up to date: the last term decides, then the last index. */
export function isFurther(one: LastEntry, other: LastEntry): boolean {
  return one.lastTerm > other.lastTerm || (one.lastTerm === other.lastTerm && one.lastIndex > other.lastIndex);
}
