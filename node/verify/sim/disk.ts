/**
 * The disk of a member, and what a crash, a power cut or damage leaves of it.
 *
 * It promises what RocksDB and the mirror promise, and no more. Synced batches of the log are there or not as a whole.
 * Those of the state come back as a prefix. The mirror is never ahead of the log. A start handles the same cases as the
 * start of a real data directory, in the same way.
 */

import { entryTerm } from "../../src/raft/index.ts";
import { readProgress } from "../../src/state/index.ts";
import { must } from "./rule-violation.ts";
import { StateRows } from "./state-rows.ts";

/** Row `m` of the log. */
export interface LogMeta {
  readonly boot: number;
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly first: number;
  readonly prevTerm: number;
  readonly last: number;
  readonly lastTerm: number;
}

export interface Mirror {
  readonly boot: number;
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  readonly damaged: boolean;
  readonly sole: boolean;
}

/** The state in which a process begins. */
export interface Beginning {
  readonly boot: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly writeSeq: number;
  readonly damaged: boolean;
  readonly bounds: Pick<LogMeta, "first" | "prevTerm" | "last" | "lastTerm">;
}

const EMPTY_LOG: LogMeta = {
  boot: 1,
  writeSeq: 1,
  term: 0,
  vote: 0,
  commit: 0,
  first: 1,
  prevTerm: 0,
  last: 0,
  lastTerm: 0,
};

export class Disk {
  meta: LogMeta;
  mirror: Mirror;
  /** The last mirror that survives a power cut. */
  syncedMirror: Mirror;
  /** Entries by index. */
  rows = new Map<number, Uint8Array>();
  state = new StateRows();
  /** A received state that the next start opens. */
  placed: StateRows | null = null;
  isLogLost = false;
  isStateLost = false;
  /** Whether a process has begun on it. */
  #isStarted = false;

  private constructor(meta: LogMeta, rows: readonly Uint8Array[]) {
    this.meta = meta;
    for (const [at, row] of rows.entries()) {
      this.rows.set(at + 1, row);
    }
    const { boot, writeSeq, term, vote } = meta;
    this.mirror = { boot, writeSeq, term, vote, damaged: false, sole: rows.length > 0 };
    this.syncedMirror = this.mirror;
  }

  /** The disk of the first member of a cluster: the founding entry is in the log. */
  static founded(entry: Uint8Array): Disk {
    return new Disk({ ...EMPTY_LOG, term: 1, vote: 1, commit: 1, last: 1, lastTerm: 1 }, [entry]);
  }

  /** The disk of a member that got a slot. */
  static joined(): Disk {
    return new Disk(EMPTY_LOG, []);
  }

  /** The power was cut: unsynced data is lost, except for a prefix. */
  losePower(keptShare: number): void {
    if (this.placed === null) {
      this.state.losePower(keptShare);
    }
    this.mirror = this.syncedMirror;
  }

  /** Removes everything; acknowledged data is lost too. */
  wipe(): void {
    this.meta = EMPTY_LOG;
    this.rows.clear();
    this.state = new StateRows();
    this.placed = null;
    this.isLogLost = true;
    this.isStateLost = true;
  }

  /** A sync of the state has failed: a part of the unsynced data may be lost. */
  failSync(keptShare: number): void {
    if (this.placed === null) {
      this.state.losePower(keptShare);
    }
  }

  /** All steps of a start before there is a process. */
  begin(): Beginning {
    if (this.placed !== null) {
      this.state = this.placed;
      this.placed = null;
    }
    if (!this.#isStarted) {
      this.#isStarted = true;
      return this.#beginning();
    }
    if (this.isLogLost || this.isStateLost) {
      this.#replaceLost();
    }
    this.#writeStart();
    return this.#beginning();
  }

  #replaceLost(): void {
    must(!this.mirror.sole, "the atlas of damage: no other member has the data", () => "a sole voter lost it");
    const { boot, writeSeq, term, vote } = this.mirror;
    this.mirror = { ...this.mirror, damaged: true };
    this.meta = { ...EMPTY_LOG, boot, writeSeq, term, vote };
    this.rows.clear();
    if (this.isStateLost) {
      this.state = new StateRows();
    }
    this.isLogLost = false;
    this.isStateLost = false;
  }

  /** Writes a new boot, the newer hard state, and a log that joins the state. */
  #writeStart(): void {
    const { meta, mirror } = this;
    must(meta.writeSeq >= mirror.writeSeq, "I19 the mirror is never ahead of the log", () => {
      return `${meta.writeSeq} < ${mirror.writeSeq}`;
    });
    const { appliedIndex, appliedTerm } = readProgress(this.state);
    must(appliedIndex + 1 >= meta.first, "I8 the log reaches back to the state", () => {
      return `applied ${appliedIndex}, first ${meta.first}`;
    });
    const hardState = newerHardState(meta, mirror, appliedTerm);
    const writeSeq = meta.writeSeq + 1;
    const boot = Math.max(meta.boot, mirror.boot) + 1;
    this.meta = { ...meta, ...hardState, boot, writeSeq, commit: Math.max(meta.commit, appliedIndex) };
    if (this.#termAt(appliedIndex) !== appliedTerm) {
      const { installed } = this.state;
      const isInstalled = installed?.index === appliedIndex && installed.term === appliedTerm;
      must(isInstalled || this.mirror.damaged, "I6 the log holds what is applied, but for a snapshot or damage", () => {
        return `applied ${appliedIndex}/${appliedTerm}, log ${meta.first}..${meta.last}`;
      });
      const bounds = { first: appliedIndex + 1, prevTerm: appliedTerm, last: appliedIndex, lastTerm: appliedTerm };
      this.state.markSynced();
      this.meta = { ...this.meta, ...bounds, commit: appliedIndex };
      this.rows.clear();
    }
    this.mirror = { ...this.mirror, ...hardState, boot, writeSeq };
    this.syncedMirror = this.mirror;
  }

  #termAt(index: number): number | undefined {
    const { first, prevTerm, last } = this.meta;
    if (index === first - 1) {
      return prevTerm;
    }
    const row = index >= first && index <= last ? this.rows.get(index) : undefined;
    return row === undefined ? undefined : entryTerm(row);
  }

  #beginning(): Beginning {
    const { boot, term, vote, writeSeq, commit, first, prevTerm, last, lastTerm } = this.meta;
    const { appliedIndex } = readProgress(this.state);
    return {
      boot,
      term,
      vote,
      writeSeq,
      commit: Math.max(appliedIndex, commit),
      damaged: this.mirror.damaged,
      bounds: { first, prevTerm, last, lastTerm },
    };
  }
}

function newerHardState(meta: LogMeta, mirror: Mirror, appliedTerm: number): { term: number; vote: number } {
  const [fromLog, fromMirror] = [meta, mirror].map(({ term, vote }) => ({ term, vote })) as [
    { term: number; vote: number },
    { term: number; vote: number },
  ];
  const isSplit = meta.term === mirror.term && meta.vote !== 0 && mirror.vote !== 0 && meta.vote !== mirror.vote;
  must(!isSplit, "I3 one vote of a member in a term", () => `term ${meta.term}: ${meta.vote} and ${mirror.vote}`);
  let newer = fromLog.term > fromMirror.term ? fromLog : fromMirror;
  if (fromLog.term === fromMirror.term) {
    newer = fromLog.vote !== 0 ? fromLog : fromMirror;
  }
  return appliedTerm > newer.term ? { term: appliedTerm, vote: 0 } : newer;
}
