/**
 * The stores of a running member, and their positions at its start.
 */

import type { LogBounds } from "../../raft/index.ts";
import { type Identity, type RetiredPhase, writeIdentity } from "../identity/index.ts";
import type { LogFiles, SegmentLogStore } from "../log/index.ts";
import { describeLoss } from "../recovery/index.ts";
import { type MemberStateStore, type RocksStateStore, StateWriteBuffer } from "../state/index.ts";

export interface MemberData {
  readonly identity: Identity;
  readonly log: SegmentLogStore;
  readonly state: MemberStateStore;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly bounds: LogBounds;
  readonly writeSeq: number;
  /** Boot number of this start, already durable. */
  readonly boot: number;
  /**
   * Acknowledged data was lost, at this start or earlier, and is not known to be back: the member may neither vote nor
   * lead until `log.heal` (P46).
   */
  readonly damaged: boolean;
  /** If damaged: what was lost, the evidence, and what happens next, for people. Otherwise "". */
  readonly loss: string;
  /**
   * Retires the data: later starts only report the reason. Durable on return; blocks the calling thread. The stores
   * stay as they are, and the caller must still close them. Raises what the file system raises.
   */
  retire(phase: RetiredPhase, reason: string): void;
  close(): Promise<void>;
  /** The RocksDB property of the state's store; null once the stores are closed. */
  stateProperty(name: string): number | null;
  /** Bytes of the files of the log. */
  readonly logBytes: number;
}

export function memberData(
  directory: string,
  identity: Identity,
  parts: {
    readonly files: LogFiles;
    readonly log: SegmentLogStore;
    readonly state: RocksStateStore;
    readonly commit: number;
  },
): MemberData {
  const { files, log, state, commit } = parts;
  const { term, vote, writeSeq, boot } = log.meta;
  const overlay = new StateWriteBuffer(state);
  return {
    identity,
    log,
    state: overlay,
    term,
    vote,
    commit,
    bounds: log.bounds,
    writeSeq,
    boot,
    damaged: log.isDamaged,
    loss: log.isDamaged ? describeLoss(directory) : "",
    retire: (phase, reason) => writeIdentity(directory, { ...identity, phase, reason }),
    stateProperty: (name) => state.property(name),
    get logBytes() {
      return files.bytes;
    },
    close: async () => {
      // Flush, so that the next start need not apply these entries again.
      overlay.flush();
      await Promise.all([log.close(), state.close()]);
      await files.close();
    },
  };
}
