/**
 * A cluster of one in memory, just founded, for specs of the layers above the state. It has a real state machine that
 * has applied a real founding entry, stopped clocks, and a read barrier that the spec can hold.
 *
 * The spec can change users and API keys without the state machine, as commands of another member would.
 */

import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { createFounding, generateApiKey } from "../src/access/index.ts";
import { invariant } from "../src/primitives/index.ts";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../src/raft/index.ts";
import {
  type ApiKey,
  type CoordinationError,
  DEFAULT_STATE_LIMITS,
  encodeFounding,
  type Founding,
  readApiKey,
  readUser,
  StateMachine,
  type User,
} from "../src/state/index.ts";
import { deriveCheaply } from "./cheap-hashing.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { soleVoter } from "./sole-voter.ts";

interface FoundingSecrets {
  readonly founding: Founding;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

type BarrierDone = (error: CoordinationError | null) => void;

/** The stopped clocks of a founded cluster: an instant in milliseconds, not at a whole second. */
const WALL_MS = 1_750_000_000_250;

/** The founding of each cluster here, new in each process. Only `cheapHashing` verifies the owner's password. */
export const secrets: FoundingSecrets = await foundingSecrets();

async function foundingSecrets(): Promise<FoundingSecrets> {
  const owner = { email: "Owner@quoin.local", password: "correct horse battery", apiKey: generateApiKey() };
  const request = {
    clusterId: randomUUID(),
    clusterName: "spec",
    memberName: "member-0",
    incarnation: new Uint8Array(16).fill(7),
    address: { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" },
    owner,
  };
  const founding = await createFounding(request, deriveCheaply);
  return { founding, ...owner };
}

export class FoundedCluster {
  readonly state = new MemoryStateStore();
  readonly clock = {
    wall: WALL_MS,
    monotonic: 5_000,
    monotonicMs: () => this.clock.monotonic,
    wallMs: () => this.clock.wall,
  };
  readonly ownerId: string;
  readonly apiKeyId: string;
  /** Deadlines of the read barriers so far. */
  readonly barriers: number[] = [];
  /** Called for each read barrier; by default it passes at once. */
  onBarrier: (done: BarrierDone) => void = (done) => done(null);

  constructor(founding: Founding = secrets.founding) {
    this.ownerId = founding.owner.userId;
    this.apiKeyId = founding.owner.apiKeyId;
    const machine = new StateMachine(this.state, (previous, bytes) => crc32(bytes, previous), DEFAULT_STATE_LIMITS);
    const envelope = { tickMs: 1, wallMs: this.clock.wall, origin: NO_PROPOSAL_ORIGIN };
    const entry = encodeEntry(EntryType.Bootstrap, envelope, encodeFounding(founding));
    sealEntry(entry, 1, 1, (bytes) => crc32(bytes));
    machine.apply(entry, soleVoter);
    machine.commit();
  }

  readBarrier(deadlineMs: number, done: BarrierDone): void {
    this.barriers.push(deadlineMs);
    this.onBarrier(done);
  }

  /** Changes fields of the owner's record. */
  changeOwner(changes: Partial<User>): void {
    const before = readUser(this.state, this.ownerId);
    invariant(before !== undefined, "the owner is there");
    const user = { ...before, ...changes };
    const namespaces = user.namespaces.map(textField);
    this.#writeRowOf(this.ownerId, [
      ...[textField(user.userId), textField(user.email), numberOf(user.role, ["viewer", "member", "admin", "owner"])],
      ...[uint(4, namespaces.length), ...namespaces, numberOf(user.status, ["unverified", "active", "disabled"])],
      ...[textField(user.passwordHash), uint(8, user.passwordVersion), uint(8, user.createdAtMs)],
    ]);
    expectSame(readUser(this.state, this.ownerId), user);
  }

  /** Changes fields of the record of the owner's API key. */
  changeApiKey(changes: Partial<ApiKey>): void {
    const before = readApiKey(this.state, this.apiKeyId);
    invariant(before !== undefined, "the API key is there");
    const apiKey = { ...before, ...changes };
    this.#writeRowOf(this.apiKeyId, [
      ...[textField(apiKey.apiKeyId), textField(apiKey.userId), textField(apiKey.name), textField(apiKey.prefix)],
      ...[apiKey.sha256, uint(8, apiKey.createdAtMs), uint(8, apiKey.expiresAtMs), uint(8, apiKey.revokedAtMs)],
      uint(8, apiKey.lastUsedAtMs),
    ]);
    expectSame(readApiKey(this.state, this.apiKeyId), apiKey);
  }

  /** Removes the row whose key is the text after the letter of its table. Returns a function that puts it back. */
  removeRowOf(text: string): () => void {
    const key = this.#keyOf(text);
    const value = this.state.get(key) as Uint8Array;
    this.state.write([{ key, value: null }]);
    return () => this.state.write([{ key, value }]);
  }

  #writeRowOf(text: string, fields: readonly Uint8Array[]): void {
    this.state.write([{ key: this.#keyOf(text), value: Buffer.concat(fields) }]);
  }

  #keyOf(text: string): Uint8Array {
    const id = Buffer.from(text);
    const keys: Uint8Array[] = [];
    this.state.scan(new Uint8Array(0), Uint8Array.of(0xff), ({ key }) => {
      if (Buffer.from(key.subarray(1)).equals(id)) {
        keys.push(key);
      }
      return true;
    });
    const [key] = keys;
    invariant(key !== undefined && keys.length === 1, "exactly one row has the text as its key");
    return key;
  }
}

/** The encoding of records is internal to the state; if it changes, this fails instead of writing a wrong record. */
function expectSame(read: unknown, written: unknown): void {
  invariant(JSON.stringify(read) === JSON.stringify(written), "the record reads back as it was written");
}

function textField(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint(4, bytes.length), bytes]);
}

function numberOf(name: string, names: readonly string[]): Uint8Array {
  return uint(1, names.indexOf(name));
}

function uint(byteLength: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes.subarray(8 - byteLength);
}
