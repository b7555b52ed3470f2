/**
 * A cluster of real processes on this machine. A test founds, grows, damages and heals it, and removes it afterwards.
 *
 * Members are named q-0, q-1 and so on; q-0 founds. Administration goes through the SDK, like an operator's.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AdminClient,
  type Client,
  createClient,
  createTokenSource,
  QuoinError,
  type TokenSource,
} from "@quoin/client";
import { temporaryDirectory } from "../../../testing/index.ts";
import { generateApiKey } from "../../src/access/index.ts";
import { ClusterMember, type MemberPlacement } from "./cluster-member.ts";
import { ConcurrentLoad, type LoadOptions } from "./concurrent-load.ts";
import { stablePorts } from "./stable-ports.ts";
import { until } from "./until.ts";

/** Reasons for which a change of the membership is retried until it is possible. */
const PASSING_REASONS: ReadonlySet<string> = new Set([
  "CONFIG_CHANGE_IN_PROGRESS",
  "LEARNER_NOT_READY",
  "QUORUM_UNSAFE",
  "NO_LEADER",
  "LEADER_CHANGED",
]);
const INTERRUPTIONS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CHANGE_TIMEOUT_MS = 10_000;
const OWNER_EMAIL = "owner@quoin.test";
/** The token of a mail is in a line of its own. */
const TOKEN_LINE = /^ {4}(\S+)/m;

export interface ClusterOptions {
  /** The place of a member of this name; called once, before its first start. By default on loopback. */
  readonly placementOf?: (name: string) => Promise<MemberPlacement>;
  /** An empty directory for all files, which stays. By default a new one, which is removed later. */
  readonly directory?: string;
}

export class ClusterUnderTest {
  readonly #directory: string;
  readonly #adminToken = randomBytes(16).toString("hex");
  readonly #apiKey = generateApiKey();
  readonly #password = randomBytes(12).toString("hex");
  readonly #joinToken = randomBytes(32).toString("hex");
  readonly #members = new Map<string, ClusterMember>();
  readonly #clients: Client[] = [];
  readonly #loads: ConcurrentLoad[] = [];
  readonly #options: ClusterOptions;
  #tokens: { readonly source: TokenSource; readonly endpoints: readonly string[] } | null = null;

  private constructor(options: ClusterOptions) {
    this.#options = options;
    this.#directory = options.directory ?? temporaryDirectory();
    writeFileSync(this.#adminTokenFile, `${this.#adminToken}\n`, { mode: 0o600 });
    writeFileSync(this.#joinTokenFile, `${this.#joinToken}\n`, { mode: 0o600 });
  }

  /** Prints what is known of the cluster after each failed test of the present suite. */
  static describeFailures(cluster: () => ClusterUnderTest): void {
    afterEach(async function () {
      if (this.currentTest?.state === "failed") {
        console.log(await cluster().describe());
      }
    });
  }

  /** A cluster of this many voters, ready for clients. If that fails, all of it is removed. */
  static async start(members: number, options: ClusterOptions = {}): Promise<ClusterUnderTest> {
    const cluster = new ClusterUnderTest(options);
    try {
      await cluster.found();
      const added = Array.from({ length: members - 1 }, (_, at) => `q-${at + 1}`);
      if (added.length > 0) {
        await cluster.add(...added);
        await cluster.promote(...added);
      }
      await cluster.untilReady();
      return cluster;
    } catch (error) {
      throw await cluster.#failed(error);
    }
  }

  /** Runs a test on a new cluster of this many voters, and removes it afterwards; a failure includes the logs. */
  static async with(
    members: number,
    test: (cluster: ClusterUnderTest) => Promise<void>,
    options: ClusterOptions = {},
  ): Promise<void> {
    const cluster = await ClusterUnderTest.start(members, options);
    // Members are in process groups of their own, which a signal to this process does not reach.
    const interrupt = (signal: NodeJS.Signals): void => {
      void cluster.dispose().finally(() => process.kill(process.pid, signal));
    };
    for (const signal of INTERRUPTIONS) {
      process.once(signal, interrupt);
    }
    try {
      await test(cluster);
      await cluster.dispose();
    } catch (error) {
      throw await cluster.#failed(error);
    } finally {
      for (const signal of INTERRUPTIONS) {
        process.removeListener(signal, interrupt);
      }
    }
  }

  /** All members that were started and not forgotten, ordered by name. */
  get members(): ClusterMember[] {
    return [...this.#members.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  member(name: string): ClusterMember {
    const member = this.#members.get(name);
    if (member === undefined) {
      throw new Error(`there is no member ${name}`);
    }
    return member;
  }

  /** Secrets that only their holders may see. */
  get secrets() {
    const [apiKey, password] = [this.#apiKey, this.#password];
    return { apiKey, password, adminToken: this.#adminToken, joinToken: this.#joinToken };
  }

  /** The owner's login. */
  get owner() {
    return { email: OWNER_EMAIL, password: this.#password };
  }

  /** gRPC endpoints of all members, for clients. */
  get endpoints(): string[] {
    return this.members.map(({ grpc }) => grpc);
  }

  /** URLs of the HTTP interfaces of all members. */
  get httpEndpoints(): string[] {
    return this.members.map(({ host, ports }) => `http://${host}:${ports.http}`);
  }

  /** A source of access tokens of the owner that clients can share; it survives all present members. */
  get tokens(): TokenSource {
    return {
      token: () => this.#tokensOfPresent().token(),
      refresh: (refused) => this.#tokensOfPresent().refresh(refused),
    };
  }

  /** A client of these endpoints, or of all; the cluster closes it. */
  client(endpoints: readonly string[] = this.endpoints): Client {
    const client = createClient({ endpoints, credentials: this.tokens });
    this.#clients.push(client);
    return client;
  }

  /** A load on all members, or on these endpoints. The caller must start it; it ends with the cluster. */
  load(
    options: Omit<LoadOptions, "tokens" | "endpoints"> & { readonly endpoints?: readonly string[] },
  ): ConcurrentLoad {
    const load = new ConcurrentLoad({ endpoints: this.endpoints, ...options, tokens: this.tokens });
    this.#loads.push(load);
    return load;
  }

  /**
   * Waits for a mail to the address, which a member writes into its log, and returns the token in the newest one that
   * does not have the token `before`.
   */
  mailedToken(address: string, before?: string): Promise<string> {
    return until(`mail to ${address}`, () => {
      const lines = this.members.filter(({ isAlive }) => isAlive).flatMap(({ logLines }) => logLines);
      const mails = lines.flatMap(({ mail }) => (mail ?? []) as { readonly to: string; readonly text: string });
      const tokens = mails.filter(({ to }) => to === address).map(({ text }) => TOKEN_LINE.exec(text)?.[1]);
      return tokens.findLast((token) => token !== before);
    });
  }

  /** The leader, once all members that answer agree on it. */
  async leader(): Promise<ClusterMember> {
    return until("a leader that all members know", async () => {
      const reports = await Promise.all(
        this.members.map(async (member) => ({ member, status: await member.status() })),
      );
      const running = reports.filter(({ status }) => status !== null && status.state === "RUNNING");
      const leaders = running.filter(({ status }) => status?.role === "LEADER");
      const [leader] = leaders;
      if (leader === undefined || leaders.length > 1) {
        return null;
      }
      const isKnown = running.every(({ status }) => status?.leaderId === leader.status?.id);
      return isKnown ? leader.member : null;
    });
  }

  /** The first member that does not lead. */
  async follower(): Promise<ClusterMember> {
    const leader = await this.leader();
    const follower = this.members.find((member) => member !== leader && member.isAlive);
    if (follower === undefined) {
      throw new Error("the leader is alone");
    }
    return follower;
  }

  /** Starts q-0 on its empty directory, and founds a cluster with it; the owner is always the same. */
  async found(): Promise<void> {
    const founder = await this.prepare("q-0");
    founder.start();
    const { incarnation } = await founder.untilState("EMPTY");
    const owner = { ...this.owner, apiKey: this.#apiKey };
    await founder.admin.bootstrap({ clusterId: randomUUID(), incarnation, owner, timeoutMs: 30_000 });
    await founder.untilReady();
  }

  /** Adds slots of these names and starts their processes; waits until all have joined. */
  async add(...names: readonly string[]): Promise<void> {
    const members: ClusterMember[] = [];
    for (const name of names) {
      await this.change((admin) => admin.addMember(name, { timeoutMs: CHANGE_TIMEOUT_MS }));
      const member = await this.prepare(name);
      if (!member.isAlive) {
        member.start();
      }
      members.push(member);
    }
    const ids = await this.idsOf(names);
    await until(`${names} to join`, async () => {
      const statuses = await Promise.all(members.map((member) => member.status()));
      return statuses.every((status, at) => status?.id === ids[at]);
    });
  }

  /** The member of this name, which may be outside the cluster; a new one does not run yet. */
  async prepare(name: string): Promise<ClusterMember> {
    return this.#members.get(name) ?? (await this.#make(name));
  }

  /** Gives these members a vote, as soon as they have caught up. */
  async promote(...names: readonly string[]): Promise<void> {
    const ids = await this.idsOf(names);
    await this.change((admin) => admin.promoteMembers(ids, { timeoutMs: CHANGE_TIMEOUT_MS }));
  }

  /** Removes these members from the cluster; their processes are not touched. */
  async remove(...names: readonly string[]): Promise<void> {
    const ids = await this.idsOf(names);
    await this.change((admin) => admin.removeMembers(ids, { timeoutMs: CHANGE_TIMEOUT_MS }));
  }

  /** Forgets a member: ends its process, and gives clients its endpoints no more. */
  async forget(name: string): Promise<void> {
    await this.member(name).dispose();
    this.#members.delete(name);
  }

  /** Makes this member the leader. */
  async transfer(name: string): Promise<void> {
    const [targetId] = await this.idsOf([name]);
    await this.change((admin) => admin.transferLeadership({ targetId, timeoutMs: CHANGE_TIMEOUT_MS }));
  }

  /** Ids of the present slots of these names. */
  async idsOf(names: readonly string[]): Promise<string[]> {
    const { members } = await this.change((admin) => admin.listMembers({ timeoutMs: CHANGE_TIMEOUT_MS }));
    return names.map((name) => {
      const slot = members.find((candidate) => candidate.name === name);
      if (slot === undefined) {
        throw new Error(`the cluster has no member ${name}, only ${members.map((member) => member.name)}`);
      }
      return slot.id;
    });
  }

  /** Does something through the admin port of the leader, with retries while the cluster cannot do it yet. */
  async change<T>(attempt: (admin: AdminClient) => Promise<T>): Promise<T> {
    let last = "nothing was tried";
    const result = until("a change to be made", async () => {
      const { admin } = await this.leader();
      try {
        return { value: await attempt(admin) };
      } catch (error) {
        if (!(error instanceof QuoinError)) {
          throw error;
        }
        last = `${error.code} ${error.reason}: ${error.message}`;
        if (!PASSING_REASONS.has(error.reason) && error.code !== "UNAVAILABLE") {
          throw error;
        }
        return null;
      }
    });
    try {
      return (await result).value;
    } catch (error) {
      throw new Error(`the last answer was ${last}`, { cause: error });
    }
  }

  /** Waits until each member that runs can serve clients. */
  async untilReady(): Promise<void> {
    await Promise.all(this.members.filter(({ isAlive }) => isAlive).map((member) => member.untilReady()));
  }

  /** Waits until a member has applied everything that was committed at the call. */
  async untilCaughtUp(name: string): Promise<void> {
    const commitIndex = (await (await this.leader()).status())?.commitIndex ?? 0;
    const member = this.member(name);
    await until(`${name} to apply ${commitIndex}`, async () => {
      return ((await member.status())?.appliedIndex ?? 0) >= commitIndex;
    });
  }

  /**
   * Waits until there is one leader, no change of the membership is in progress, and all running members have applied
   * the same.
   */
  async untilStable(): Promise<void> {
    await this.leader();
    await until("all members to be equal", async () => {
      const reports = await Promise.all(this.members.filter(({ isAlive }) => isAlive).map((member) => member.report()));
      const applied = new Set(reports.map((report) => report?.status.appliedIndex));
      return applied.size === 1 && reports.every((report) => report?.known !== undefined && !report.known.changing);
    });
  }

  /** States and last log lines of all members, to explain a failure. */
  async describe(): Promise<string> {
    const states = await Promise.all(
      this.members.map(async (member) => {
        const status = member.isAlive ? JSON.stringify(await member.status()) : "not running";
        return `--- ${member.name} ${status}\n${member.logTail()}`;
      }),
    );
    return states.join("\n");
  }

  /** Ends all loads, clients and processes, and removes all files. */
  async dispose(): Promise<void> {
    for (const load of this.#loads) {
      load.abandon();
    }
    await Promise.all(this.members.map((member) => member.dispose()));
    await Promise.all(this.#loads.map((load) => load.ended));
    for (const client of this.#clients) {
      client.close();
    }
  }

  /** A source of tokens from members that are mostly still there. */
  #tokensOfPresent(): TokenSource {
    const { endpoints } = this;
    const left = this.#tokens?.endpoints.filter((endpoint) => endpoints.includes(endpoint)) ?? [];
    if (this.#tokens === null || left.length * 2 <= this.#tokens.endpoints.length) {
      const source = createTokenSource({ credentials: { apiKey: this.#apiKey }, endpoints });
      this.#tokens = { source, endpoints };
    }
    return this.#tokens.source;
  }

  async #make(name: string): Promise<ClusterMember> {
    const placement = (await this.#options.placementOf?.(name)) ?? {};
    const member: ClusterMember = new ClusterMember({
      name,
      placement,
      directory: this.#directory,
      ports: await stablePorts(),
      adminToken: this.#adminToken,
      adminTokenFile: this.#adminTokenFile,
      joinTokenFile: this.#joinTokenFile,
      seeds: () => this.members.filter((other) => other.name !== name).map(({ peer }) => peer),
    });
    this.#members.set(name, member);
    return member;
  }

  /** The error with the states and logs of all members, after everything was removed. */
  async #failed(error: unknown): Promise<Error> {
    const states = await this.describe();
    await this.dispose();
    const message = error instanceof Error ? error.message : String(error);
    return new Error(`${message}\n${states}`, { cause: error });
  }

  get #adminTokenFile(): string {
    return join(this.#directory, "admin-token");
  }

  get #joinTokenFile(): string {
    return join(this.#directory, "join-token");
  }
}
