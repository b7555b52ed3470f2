/**
 * Executes the one log with a state machine of its own, as soon as any member has applied an entry. The rules about the
 * content of the state check it entry by entry. Other rules compare the digests of members, so what holds for this
 * state holds for theirs.
 */

import { crc32 } from "node:zlib";
import {
  changeConfiguration,
  EntryType,
  entryEnvelope,
  entryPayload,
  entryType,
  type ProposalOrigin,
} from "../../src/raft/index.ts";
import {
  type Command,
  decodeCommand,
  type EndedWait,
  type Outcome,
  readProgress,
  type StateLimits,
  StateMachine,
  type StateReader,
} from "../../src/state/index.ts";
import type { CanonicalLog } from "./canonical-log.ts";
import { configurationOf } from "./cluster-record.ts";
import { unwatched } from "./process-loop.ts";
import { StateRows } from "./state-rows.ts";

/** A command of the log, and its outcome. */
export interface ExecutedCommand {
  readonly index: number;
  readonly origin: ProposalOrigin;
  /** The cluster tick at its entry, in milliseconds. */
  readonly tickMs: number;
  /** The revision before it, and after it. */
  readonly revision: number;
  readonly revisionAfter: number;
  readonly command: Command;
  readonly outcome: Outcome | null;
  /** Waits for locks that it has ended. */
  readonly settled: readonly EndedWait[];
}

/** A rule that sees every command, in the order of the log. */
export interface ExecutionObserver {
  /** Called before the execution. */
  before?(command: Command, state: StateReader): void;
  /** Called after the execution, with the state after it. */
  after(executed: ExecutedCommand, state: StateReader): void;
}

export class LiveExecution {
  readonly #log: CanonicalLog;
  readonly #store = new StateRows();
  readonly #machine: StateMachine;
  readonly #observers: readonly ExecutionObserver[];
  /** From index 1 on. */
  readonly #digests: number[] = [];

  constructor(log: CanonicalLog, limits: StateLimits, witnesses: readonly ExecutionObserver[]) {
    this.#log = log;
    this.#machine = new StateMachine(this.#store, (previous, bytes) => crc32(bytes, previous), limits);
    this.#observers = witnesses;
  }

  /** The state after all entries so far. */
  get state(): StateReader {
    return this.#store;
  }

  /** The digest of the state after the entry; undefined if it was not executed here yet. */
  digestAt(index: number): number | undefined {
    return this.#digests[index - 1];
  }

  /** Executes all new committed entries. Throws what the witnesses throw. */
  advance(): void {
    const { rows } = this.#log;
    const { appliedIndex } = this.#machine.progress;
    if (appliedIndex < rows.length) {
      unwatched(() => {
        for (let at = appliedIndex; at < rows.length; at++) {
          this.#execute(rows[at] as Uint8Array, at + 1);
        }
      });
    }
  }

  #execute(row: Uint8Array, index: number): void {
    const command = entryType(row) === EntryType.Command ? decodeCommand(entryPayload(row)) : null;
    if (command !== null) {
      for (const witness of this.#observers) {
        witness.before?.(command, this.#store);
      }
    }
    const { revision } = readProgress(this.#store);
    const outcome = this.#machine.apply(row, (entry, change, expectIndex) => {
      return changeConfiguration(configurationOf(this.#store), entry, change, expectIndex);
    });
    this.#machine.commit();
    this.#digests.push(this.#machine.progress.digest);
    if (command !== null) {
      const { tickMs, revision: revisionAfter } = this.#machine.progress;
      const { origin } = entryEnvelope(row);
      const { endedWaits: settled } = this.#machine;
      const executed = { index, origin, tickMs, revision, revisionAfter, command, outcome, settled };
      for (const witness of this.#observers) {
        witness.after(executed, this.#store);
      }
    }
  }
}
