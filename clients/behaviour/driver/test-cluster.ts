/** The cluster of a driver: three members on this machine, and what scenarios do to them. */

import { type Client, exchangeApiKey } from "@quoin/client";
import { ClusterUnderTest, until } from "../../../node/test/harness/index.ts";
import { ScenarioFailure } from "./values.ts";

const MEMBERS = 3;

/** A member, and whether it listens. */
export interface MemberState {
  readonly name: string;
  readonly endpoint: string;
  readonly isListening: boolean;
}

export class TestCluster {
  readonly #cluster: ClusterUnderTest;
  readonly #client: Client;
  readonly #paused = new Set<string>();
  #token: string | undefined;
  /** Called when a member has begun or ceased to listen. */
  onChange: (member: MemberState) => void | Promise<void> = () => undefined;

  private constructor(cluster: ClusterUnderTest) {
    this.#cluster = cluster;
    this.#client = cluster.client();
  }

  static async start(): Promise<TestCluster> {
    return new TestCluster(await ClusterUnderTest.start(MEMBERS));
  }

  get members(): readonly MemberState[] {
    return this.#cluster.members.map(({ name, grpc, isAlive }) => ({ name, endpoint: grpc, isListening: isAlive }));
  }

  get apiKey(): string {
    return this.#cluster.secrets.apiKey;
  }

  /** The owner's login. */
  get owner(): { readonly email: string; readonly password: string } {
    return this.#cluster.owner;
  }

  /** A token of the owner, which lives as long as any run. */
  async token(): Promise<string> {
    this.#token ??= await this.#exchange();
    return this.#token;
  }

  async #exchange(): Promise<string> {
    const endpoints = this.members.filter(({ isListening }) => isListening).map(({ endpoint }) => endpoint);
    return (await exchangeApiKey({ endpoints, apiKey: this.apiKey })).accessToken;
  }

  /** The member of a name, or of the role `leader` or `follower`. */
  async nameOf(member: string): Promise<string> {
    if (member === "leader") {
      return (await this.#cluster.leader()).name;
    }
    return member === "follower" ? (await this.#cluster.follower()).name : this.#cluster.member(member).name;
  }

  async createNamespace(name: string): Promise<void> {
    await this.#client.keyValue.createNamespace(name, { timeoutMs: 30_000 });
  }

  /** Deletes a namespace with everything in it, and creates it again. */
  async renewNamespace(name: string): Promise<void> {
    await this.#client.keyValue.deleteNamespace(name, { recursive: true });
    await this.#client.keyValue.untilNamespaceDeleted(name);
    await this.createNamespace(name);
  }

  /** Does something to a member, or to the whole cluster. */
  async act(action: string, name: string): Promise<void> {
    switch (action) {
      case "kill":
        await this.#cluster.member(name).kill();
        this.#paused.delete(name);
        await this.#tell(name);
        return;
      case "pause":
        this.#cluster.member(name).pause();
        this.#paused.add(name);
        return;
      case "resume":
        this.#cluster.member(name).resume();
        this.#paused.delete(name);
        return;
      case "start":
        this.#cluster.member(name).start();
        await until(`${name} to answer`, async () => (await this.#cluster.member(name).status()) !== null);
        await this.#tell(name);
        return;
      case "lead":
        await this.#cluster.transfer(name);
        return;
      case "settled":
        await this.#cluster.untilReady();
        await this.#cluster.leader();
        return;
      case "compact":
        await this.#cluster.change((admin) => admin.compact(Number.MAX_SAFE_INTEGER));
        return;
      default:
        throw new ScenarioFailure(`the cluster cannot ${action}`);
    }
  }

  /** Lets all members run and serve again. */
  async restore(): Promise<void> {
    for (const name of [...this.#paused]) {
      await this.act("resume", name);
    }
    for (const { name } of this.members.filter(({ isListening }) => !isListening)) {
      await this.act("start", name);
    }
    await this.act("settled", "");
  }

  async dispose(): Promise<void> {
    await this.#cluster.dispose();
  }

  async #tell(name: string): Promise<void> {
    const member = this.members.find((one) => one.name === name);
    if (member !== undefined) {
      await this.onChange(member);
    }
  }
}
