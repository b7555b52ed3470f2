/**
 * The members' network: a namespace for each member, all on one bridge, with the runner at its first address.
 *
 * A packet filter inside the receiver's namespace drops and counts packets between members. Outside of the namespaces
 * only the bridge and its cables are created. Packets from the runner, where the clients are, always arrive.
 */

import type { MemberPlacement } from "../../test/harness/index.ts";
import { run, succeeds } from "./command.ts";
import type { Relay } from "./relay.ts";
import { bridgeOf, cableOf, namespaceOf } from "./run-name.ts";

/** Packets from one member to another, by their names. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/** What happens to packets: all are dropped, one in five is dropped, or the sender gets a connection reset. */
export type Obstacle = "drop" | "lose some" | "reset";

/** How a member's packets are slowed: by a low rate, or a delay. */
export type Slowness = "rate" | "delay";

/** Reordering of the packets of one member. */
export interface Reordering {
  /** Number of packets that the other members have received out of order since it began. */
  received(): Promise<number>;
  end(): Promise<void>;
}

const RULES: Readonly<Record<Obstacle, string>> = {
  drop: "counter drop",
  "lose some": "numgen random mod 100 < 20 counter drop",
  reset: "meta l4proto tcp counter reject with tcp reset",
};
const QUEUES: Readonly<Record<Slowness, readonly string[]>> = {
  rate: ["tbf", "rate", "400kbit", "burst", "16k", "latency", "2s"],
  delay: ["netem", "delay", "75ms", "50ms"],
};

/** Two classes of packets: most leave at once; those of the second class queue at a low rate. */
const CLASSES: readonly (readonly string[])[] = [
  ["qdisc", "add", "root", "handle", "1:", "htb", "default", "1"],
  ["class", "add", "parent", "1:", "classid", "1:1", "htb", "rate", "10gbit", "quantum", "1514"],
  ["class", "add", "parent", "1:", "classid", "1:2", "htb", "rate", "256kbit", "quantum", "1514"],
];
/** A third of the packets to other members. */
const TO_SECOND_CLASS = "numgen random mod 3 0 counter meta priority set 1:2";

/** Rarely used private addresses; the third number differs between runs. */
const ADDRESS = "10.213";
const THIRD_MAX = 250;
const RUNNER_AT = 1;
const FIRST_MEMBER_AT = 10;
/** The link of a member, inside its namespace. */
const LINK = "eth0";

interface MemberLink {
  readonly namespace: string;
  readonly cable: string;
  readonly host: string;
}

export class Network {
  readonly #third: number;
  readonly #links = new Map<string, MemberLink>();
  #linkCount = 0;
  #tables = 0;

  private constructor(third: number) {
    this.#third = third;
  }

  /** Creates a network without members. */
  static async create(): Promise<Network> {
    const network = new Network(await freeThird());
    const bridge = bridgeOf(process.pid);
    await run("ip", ["link", "add", bridge, "type", "bridge"]);
    await run("ip", ["address", "add", `${network.#host(RUNNER_AT)}/24`, "dev", bridge]);
    await run("ip", ["link", "set", bridge, "up"]);
    return network;
  }

  /** Gives a member a namespace and an address. */
  async join(name: string): Promise<MemberPlacement> {
    const position = this.#linkCount++;
    const namespace = namespaceOf(process.pid, name);
    const seat = { namespace, cable: cableOf(process.pid, position), host: this.#host(FIRST_MEMBER_AT + position) };
    await run("ip", ["netns", "add", namespace]);
    this.#links.set(name, seat);
    const { cable, host } = seat;
    await run("ip", ["link", "add", cable, "type", "veth", "peer", "name", LINK, "netns", namespace]);
    await run("ip", ["link", "set", cable, "master", bridgeOf(process.pid), "up"]);
    await run("ip", ["-n", namespace, "address", "add", `${host}/24`, "dev", LINK]);
    await run("ip", ["-n", namespace, "link", "set", "lo", "up"]);
    await run("ip", ["-n", namespace, "link", "set", LINK, "up"]);
    return { host, through: ["ip", "netns", "exec", namespace] };
  }

  /** Puts an obstacle into these ways. The caller must end it before any of these members leaves. */
  obstruct(routes: readonly Route[], obstacle: Obstacle): Promise<Obstruction> {
    const receivers = new Set(routes.map(({ to }) => to));
    return this.#install([...receivers], (receiver) => this.#filter(receiver, routes, obstacle));
  }

  /**
   * Redirects all connections between the peer ports of one member and of the others through a relay, until it is
   * ended. Existing direct connections are reset, so that they are made again through the relay.
   *
   * @param peerPorts of all these members, by name
   */
  async divert(name: string, peerPorts: ReadonlyMap<string, number>, relay: Relay): Promise<Obstruction> {
    const others = [...peerPorts.keys()].filter((other) => other !== name);
    const routes = others.flatMap((other) => [
      { from: name, to: other },
      { from: other, to: name },
    ]);
    const rules = new Map<string, string[]>([...peerPorts.keys()].map((dialer) => [dialer, []]));
    const runner = this.#host(RUNNER_AT);
    for (const { from, to } of routes) {
      const target = { host: this.#linkOf(to).host, port: peerPorts.get(to) ?? 0 };
      const port = await relay.open(runner, target);
      rules.get(from)?.push(`ip daddr ${target.host} tcp dport ${target.port} dnat ip to ${runner}:${port}`);
    }
    return this.#install([...peerPorts.keys()], (member) => [
      ...this.#filter(member, routes, "reset"),
      ...["chain output {", "type nat hook output priority -100", ...(rules.get(member) ?? []), "}"],
    ]);
  }

  /** Slows down everything that a member sends, also to its clients, until `speedUp`. */
  async slowDown(name: string, slowness: Slowness): Promise<void> {
    await this.#inside(name, "tc", "qdisc", "replace", "dev", LINK, "root", ...QUEUES[slowness]);
  }

  /** Number of packets that had to wait since `slowDown`. */
  async slowed(name: string): Promise<number> {
    const [queue] = JSON.parse(await this.#inside(name, "tc", "-s", "-json", "qdisc", "show", "dev", LINK));
    return queue?.kind === "netem" ? queue.packets : (queue?.overlimits ?? 0);
  }

  async speedUp(name: string): Promise<void> {
    await this.#inside(name, "tc", "qdisc", "delete", "dev", LINK, "root");
  }

  /** Delays some of the packets that a member sends to others, so that later ones overtake them. */
  async reorder(name: string): Promise<Reordering> {
    const others = [...this.#links.keys()].filter((other) => other !== name);
    const namespaces = others.map((other) => this.#linkOf(other).namespace);
    const overtaken = async (): Promise<number> => {
      const counts = await Promise.all(namespaces.map(packetsOutOfOrder));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const before = await overtaken();
    for (const [object, command, ...rest] of CLASSES) {
      await this.#inside(name, "tc", object as string, command as string, "dev", LINK, ...rest);
    }
    const rules = others.map((other) => `ip daddr ${this.#linkOf(other).host} ${TO_SECOND_CLASS}`);
    const chosen = await this.#install([name], () => [
      ...["chain output {", "type filter hook output priority 0", ...rules, "}"],
    ]);
    return {
      received: async () => (await overtaken()) - before,
      end: async () => {
        await chosen.end();
        await this.speedUp(name);
      },
    };
  }

  /** Replaces the address of a member, whose processes must have ended. Returns the new address. */
  async readdress(name: string): Promise<string> {
    const { namespace, cable, host: former } = this.#linkOf(name);
    const host = this.#host(FIRST_MEMBER_AT + this.#linkCount++);
    // Delete first: a second address would be secondary to the old one, and be deleted with it.
    await run("ip", ["-n", namespace, "address", "delete", `${former}/24`, "dev", LINK]);
    await run("ip", ["-n", namespace, "address", "add", `${host}/24`, "dev", LINK]);
    this.#links.set(name, { namespace, cable, host });
    return host;
  }

  /** Deletes a member's namespace; its processes must have ended. */
  async leave(name: string): Promise<void> {
    const { namespace, cable } = this.#linkOf(name);
    this.#links.delete(name);
    // The kernel would delete the cable with the namespace, but later. If `join` has failed there is no cable.
    await succeeds("ip", ["link", "delete", cable]);
    await run("ip", ["netns", "delete", namespace]);
  }

  /** A chain that stops and counts packets that come to this member by these ways. */
  #filter(receiver: string, routes: readonly Route[], obstacle: Obstacle): string[] {
    const rules = routes
      .filter(({ to }) => to === receiver)
      .map(({ from }) => `ip saddr ${this.#linkOf(from).host} ${RULES[obstacle]} comment "${from}"`);
    return ["chain input {", "type filter hook input priority 0", ...rules, "}"];
  }

  /** Installs a new table in the namespace of each of these members. */
  async #install(members: readonly string[], chainsOf: (member: string) => readonly string[]): Promise<Obstruction> {
    const table = `fault${this.#tables++}`;
    for (const member of members) {
      await this.#inside(member, "nft", [`table inet ${table} {`, ...chainsOf(member), "}"].join("\n"));
    }
    const places = members.map((member) => ({ member, namespace: this.#linkOf(member).namespace }));
    return new Obstruction(table, places);
  }

  #host(last: number): string {
    return `${ADDRESS}.${this.#third}.${last}`;
  }

  #linkOf(name: string): MemberLink {
    const seat = this.#links.get(name);
    if (seat === undefined) {
      throw new Error(`${name} is not in the network`);
    }
    return seat;
  }

  #inside(name: string, ...command: readonly string[]): Promise<string> {
    return run("ip", ["netns", "exec", this.#linkOf(name).namespace, ...command]);
  }
}

/** An obstacle for packets: a table of the packet filter in the namespace of each of these members. */
export class Obstruction {
  readonly #table: string;
  readonly #members: readonly { readonly member: string; readonly namespace: string }[];

  constructor(table: string, members: readonly { readonly member: string; readonly namespace: string }[]) {
    this.#table = table;
    this.#members = members;
  }

  /** Number of stopped packets by way, "from>to". */
  async stopped(): Promise<Map<string, number>> {
    const stopped = new Map<string, number>();
    for (const { member, namespace } of this.#members) {
      const list = ["nft", "-j", "list", "table", "inet", this.#table];
      const { nftables } = JSON.parse(await run("ip", ["netns", "exec", namespace, ...list]));
      for (const { rule } of nftables) {
        for (const { counter } of rule?.expr ?? []) {
          if (counter !== undefined) {
            stopped.set(`${rule.comment}>${member}`, counter.packets);
          }
        }
      }
    }
    return stopped;
  }

  /** Removes the obstacle. */
  async end(): Promise<void> {
    for (const { namespace } of this.#members) {
      await run("ip", ["netns", "exec", namespace, "nft", "delete", "table", "inet", this.#table]);
    }
  }
}

/** Number of TCP segments that a namespace has received out of order since its creation. */
async function packetsOutOfOrder(namespace: string): Promise<number> {
  const text = await run("ip", ["netns", "exec", namespace, "cat", "/proc/net/netstat"]);
  // There are two lines: names, then numbers.
  const [names = [], counts = []] = text
    .split("\n")
    .filter((line) => line.startsWith("TcpExt:"))
    .map((line) => line.split(" "));
  return Number(counts[names.indexOf("TCPOFOQueue")] ?? 0);
}

/** A third address number that this machine does not use yet. */
async function freeThird(): Promise<number> {
  for (let tries = 0; tries < THIRD_MAX; tries++) {
    const third = (process.pid + tries) % THIRD_MAX;
    if ((await run("ip", ["route", "show", `${ADDRESS}.${third}.0/24`])).trim() === "") {
      return third;
    }
  }
  throw new Error(`all of ${ADDRESS}.0.0/16 is in use`);
}
