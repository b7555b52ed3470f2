/**
 * A member that was just founded, as the benchmarks use it: a real data directory with its two RocksDB stores, and the
 * state machine over it that has applied the founding entry.
 */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createFounding, generateApiKey } from "../src/access/index.ts";
import { invariant } from "../src/primitives/index.ts";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../src/raft/index.ts";
import {
  type Command,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  encodeCommand,
  encodeFounding,
  type Outcome,
  type Principal,
  StateMachine,
} from "../src/state/index.ts";
import { type MemberData, openDataDirectory } from "../src/storage/index.ts";
import { deriveCheaply, soleVoter } from "../test/index.ts";

const CLUSTER_NAME = "micro";
const MEMBER_NAME = "micro-0";
/** Wall time of the first entry; each later entry comes one millisecond after the one before. */
const WALL_MS = 1_750_000_000_000;
const TERM = 1;

export class FoundedMember {
  readonly data: MemberData;
  readonly machine: StateMachine;
  readonly apiKey: string;
  /** The owner, as whom all operations run. */
  readonly owner: Principal;
  readonly #directory: string;
  #lastIndex = 0;

  private constructor(directory: string, data: MemberData, founded: { owner: Principal; apiKey: string }) {
    this.#directory = directory;
    this.data = data;
    this.owner = founded.owner;
    this.apiKey = founded.apiKey;
    this.machine = new StateMachine(data.state, (previous, bytes) => crc32(bytes, previous), DEFAULT_STATE_LIMITS);
  }

  /** Founds a member in a new folder below the system's folder for temporary files. */
  static async found(): Promise<FoundedMember> {
    const directory = mkdtempSync(join(tmpdir(), "quoin-micro-"));
    const apiKey = generateApiKey();
    const opened = await openDataDirectory({
      directory,
      clusterName: CLUSTER_NAME,
      name: MEMBER_NAME,
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
    });
    invariant(opened.phase === "empty", "a new folder is an empty data directory");
    const request = {
      clusterId: randomUUID(),
      clusterName: CLUSTER_NAME,
      memberName: MEMBER_NAME,
      incarnation: Buffer.from(opened.identity.incarnation, "hex"),
      address: { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" },
      owner: { email: "owner@quoin.local", password: randomUUID(), apiKey },
    };
    const founding = await createFounding(request, deriveCheaply);
    const data = await opened.found(founding, { tickMs: 0, wallMs: WALL_MS });
    const owner = { subject: founding.owner.userId, apiKeyId: founding.owner.apiKeyId };
    const member = new FoundedMember(directory, data, { owner, apiKey });
    member.apply(member.entry(EntryType.Bootstrap, encodeFounding(founding)));
    member.machine.commit();
    return member;
  }

  /** The row of the next entry of the log. Entries must be applied in the order in which they were made. */
  entry(type: EntryType, payload: Uint8Array): Uint8Array {
    this.#lastIndex++;
    const envelope = { tickMs: this.#lastIndex, wallMs: WALL_MS + this.#lastIndex, origin: NO_PROPOSAL_ORIGIN };
    const row = encodeEntry(type, envelope, payload);
    sealEntry(row, TERM, this.#lastIndex, crc32);
    return row;
  }

  /** The same for a command. */
  command(command: Command): Uint8Array {
    return this.entry(EntryType.Command, encodeCommand(command));
  }

  /** Applies the row. Raises the refusal, if that is the outcome: a benchmark of refusals would be a wrong one. */
  apply(row: Uint8Array): Outcome | null {
    const outcome = this.machine.apply(row, soleVoter);
    if (outcome !== null && outcome.answer instanceof CoordinationError) {
      throw outcome.answer;
    }
    return outcome;
  }

  /** Closes the stores and removes the folder. */
  async close(): Promise<void> {
    await this.data.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
