/** The proxies of one scenario: one before each member. */

import { stablePorts } from "../../../node/test/harness/index.ts";
import { type AuthorityName, authorities } from "./authorities.ts";
import { type CallFault, Faults } from "./faults.ts";
import { MemberProxy } from "./member-proxy.ts";
import { SentCalls } from "./sent-calls.ts";
import type { MemberState } from "./test-cluster.ts";
import { ScenarioFailure } from "./values.ts";

/** Faults of a whole proxy. */
interface ProxyFault {
  readonly refuse?: string;
  readonly blackhole?: string;
  readonly cut_streams?: true;
  readonly certificate?: AuthorityName;
}

/** Ports that earlier scenarios no longer need, the oldest first. */
const FREE_PORTS: number[] = [];

/** How many of them rest: a client that is not closed yet may still try to connect. */
const RESTING_PORTS = 30;

export class ScenarioProxies {
  readonly sent = new SentCalls();
  readonly #faults = new Faults();
  readonly #proxies: readonly MemberProxy[];
  /** Names of members that do not listen themselves. */
  readonly #silent = new Set<string>();
  /** Names of members by their own addresses. */
  readonly #names: ReadonlyMap<string, string>;

  private constructor(members: readonly MemberState[], ports: readonly number[]) {
    this.#names = new Map(members.map(({ name, endpoint }) => [endpoint, name]));
    const share = {
      faults: this.#faults,
      sent: this.sent,
      endpointOf: (member: string) => this.#find(this.#names.get(member) ?? member)?.endpoint,
    };
    this.#proxies = members.map(
      ({ name, endpoint }, at) => new MemberProxy(name, endpoint, ports[at] as number, share),
    );
  }

  static async open(members: readonly MemberState[]): Promise<ScenarioProxies> {
    const ports: number[] = [];
    for (const _ of members) {
      const free = FREE_PORTS.length > RESTING_PORTS ? FREE_PORTS.shift() : undefined;
      ports.push(free ?? (await stablePorts()).grpc);
    }
    const proxies = new ScenarioProxies(members, ports);
    await Promise.all(members.map((member) => proxies.note(member)));
    return proxies;
  }

  get endpoints(): readonly string[] {
    return this.#proxies.map(({ endpoint }) => endpoint);
  }

  /** How many connections of clients are open. */
  get connections(): number {
    return this.#proxies.reduce((sum, proxy) => sum + proxy.connections, 0);
  }

  /** The address of the proxy of a member. Throws a ScenarioFailure for an unknown member. */
  endpointOf(member: string): string {
    return this.#require(member).endpoint;
  }

  /** A member has begun or ceased to listen. */
  async note({ name, isListening }: MemberState): Promise<void> {
    if (isListening) {
      this.#silent.delete(name);
      await this.#require(name).listen();
    } else {
      this.#silent.add(name);
      this.#require(name).refuse();
    }
  }

  arm(fault: CallFault | ProxyFault): void {
    if ("on" in fault) {
      this.#faults.arm(fault);
    } else if (fault.refuse !== undefined) {
      this.#require(fault.refuse).refuse();
    } else if (fault.blackhole !== undefined) {
      this.#require(fault.blackhole).goDark();
    } else if (fault.certificate !== undefined) {
      for (const proxy of this.#proxies) {
        proxy.encrypt(authorities()[fault.certificate].context);
      }
    } else {
      for (const proxy of this.#proxies) {
        proxy.cutStreams();
      }
    }
  }

  /** Ends all faults; connections that are already lost stay lost. */
  async clear(): Promise<void> {
    this.#faults.clear();
    const open = this.#proxies.filter(({ member }) => !this.#silent.has(member));
    await Promise.all(open.map((proxy) => proxy.listen()));
  }

  close(): void {
    for (const proxy of this.#proxies) {
      proxy.close();
      FREE_PORTS.push(proxy.port);
    }
  }

  #find(member: string): MemberProxy | undefined {
    return this.#proxies.find((proxy) => proxy.member === member);
  }

  #require(member: string): MemberProxy {
    const proxy = this.#find(member);
    if (proxy === undefined) {
      throw new ScenarioFailure(`there is no member ${member}`);
    }
    return proxy;
  }
}
