/**
 * A member in this process, with a real data directory and real connections. A spec can stop it and start it again on
 * the same directory, at the same port.
 */

import {
  DEFAULT_REPLICA_LIMITS,
  Member,
  type MemberEnd,
  type MemberOptions,
  type Replica,
  systemClock,
  systemScheduler,
} from "../../src/replica/index.ts";
import { CoordinationError, type Founding, type MembershipEntry } from "../../src/state/index.ts";
import { measureDisk } from "../../src/storage/index.ts";
import { FOUNDING } from "../index.ts";
import { until } from "./until.ts";

/** The join token of all sites. */
export const JOIN_TOKEN = "the token of the spec";
const DEADLINE_MS = 30_000;

const HOST = "127.0.0.1";

export class InProcessMember {
  readonly name: string;
  readonly directory: string;
  readonly ends: { readonly end: MemberEnd; readonly reason: string }[] = [];
  readonly fatal: unknown[] = [];
  readonly lines: string[] = [];
  port = 0;
  #member: Member | null = null;

  constructor(name: string, directory: string) {
    this.name = name;
    this.directory = directory;
  }

  get endpoint(): string {
    return `${HOST}:${this.port}`;
  }

  get member(): Member {
    if (this.#member === null) {
      throw new Error(`${this.name} is not started`);
    }
    return this.#member;
  }

  get replica(): Replica {
    const { replica } = this.member;
    if (replica === null) {
      throw new Error(`${this.name} serves nothing: ${this.member.state} ${this.member.reason}`);
    }
    return replica;
  }

  /** Starts a process on the directory, at the same port as before. */
  async start(seeds: readonly InProcessMember[], changes: Partial<MemberOptions> = {}): Promise<void> {
    const note = (fields: object, message: string): void => {
      this.lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    const member = await Member.open({
      directory: this.directory,
      clusterName: "spec",
      name: this.name,
      acceptMissingFence: false,
      version: "1.2.3",
      clock: systemClock,
      scheduler: systemScheduler,
      limits: DEFAULT_REPLICA_LIMITS,
      peering: {
        seeds: seeds.map(({ endpoint }) => endpoint),
        joinTokens: () => [JOIN_TOKEN],
        tls: null,
        random: Math.random,
        dialHint: null,
      },
      log: { info: note, warn: note },
      record: null,
      measureDisk,
      hasReserve: false,
      onRole: () => undefined,
      onFatal: (error) => this.fatal.push(error),
      onEnd: (end, reason) => this.ends.push({ end, reason }),
      onDiskStuck: () => this.fatal.push("stuck"),
      ...changes,
    });
    this.#member = member;
    this.port = (await member.listenForPeers(HOST, this.port)) ?? 0;
    member.setEndpoints(this.#address);
  }

  async stop(): Promise<void> {
    await this.#member?.stop();
    this.#member = null;
  }

  async untilState(state: Member["state"]): Promise<void> {
    await until(`${this.name} to be ${state}, which is ${this.member.state}`, () => this.member.state === state);
  }

  /** The content of a founding with this member. */
  founding(changes: Partial<Founding> = {}): Founding {
    return {
      ...FOUNDING,
      memberName: this.name,
      incarnation: Buffer.from(this.member.incarnation, "hex"),
      address: this.#address,
      ...changes,
    };
  }

  /** Founds a cluster, and returns when this member leads it. */
  async found(): Promise<void> {
    await this.member.bootstrap(this.founding());
    await until(`${this.name} to lead`, () => this.replica.status().isServing);
  }

  /** Changes the membership; the id of the slot that was added, else 0. Rejects with the refusal. */
  change(operation: MembershipEntry["operation"]): Promise<number> {
    const entry = { subject: "admin", request: null, expectIndex: 0, operation };
    return new Promise((resolve, reject) => {
      this.replica.proposeMembership(entry, performance.now() + DEADLINE_MS, (error, outcome) => {
        const answer = error ?? outcome?.answer;
        if (answer instanceof CoordinationError) {
          reject(answer);
        } else {
          resolve(answer !== undefined && answer.kind === "membership" ? answer.memberId : 0);
        }
      });
    });
  }

  get #address() {
    return { peerEndpoint: this.endpoint, grpcEndpoint: `${this.name}:1`, httpEndpoint: `${this.name}:2` };
  }
}
