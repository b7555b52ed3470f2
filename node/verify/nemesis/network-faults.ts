/** Faults of the network between members. Each is measured by the packets that it stopped or delayed. */

import { pause } from "../../test/harness/index.ts";
import {
  type FaultContext,
  type FaultKind,
  type FaultResult,
  landed,
  pick,
  shuffled,
  skipped,
  spread,
  unclear,
} from "./fault.ts";
import type { Network, Obstacle, Route, Slowness } from "./network.ts";
import { presentLeader } from "./recovery.ts";
import { Relay } from "./relay.ts";

/** From shorter than an election to much longer. */
const PARTITION_MS = [500, 8_000] as const;
const LOSS_MS = [2_000, 8_000] as const;
const CUT_MS = [100, 1_000] as const;
const SLOW_MS = [2_000, 8_000] as const;

export const NETWORK_FAULTS: readonly FaultKind[] = [
  obstruction("partition: leader alone", "drop", PARTITION_MS, async (context, names) => {
    const leader = await leaderName(context);
    return leader === null ? [] : between([leader], without(names, leader));
  }),
  obstruction("partition: halves", "drop", PARTITION_MS, async ({ random }, names) => {
    const order = shuffled(random, names);
    const half = Math.ceil(names.length / 2);
    return between(order.slice(0, half), order.slice(half));
  }),
  obstruction("partition: one way, from the leader", "drop", PARTITION_MS, async (context, names) => {
    const leader = await leaderName(context);
    return leader === null ? [] : without(names, leader).map((to) => ({ from: leader, to }));
  }),
  obstruction("partition: one way, to the leader", "drop", PARTITION_MS, async (context, names) => {
    const leader = await leaderName(context);
    return leader === null ? [] : without(names, leader).map((from) => ({ from, to: leader }));
  }),
  // Each member sees a different majority: of three members two cannot reach each other; of five each reaches two.
  obstruction("partition: bridge", "drop", PARTITION_MS, async ({ random }, names) => {
    const ring = shuffled(random, names);
    const routes: Route[] = [];
    for (const [at, from] of ring.entries()) {
      for (const [other, to] of ring.entries()) {
        const distance = Math.min((at - other + ring.length) % ring.length, (other - at + ring.length) % ring.length);
        const isCut = ring.length === 3 ? at !== 1 && other !== 1 : distance > 1;
        if (at !== other && isCut) {
          routes.push({ from, to });
        }
      }
    }
    return routes;
  }),
  obstruction("loss of packets", "lose some", LOSS_MS, async (_field, names) => between(names, names)),
  obstruction("connections cut", "reset", CUT_MS, async ({ random }, names) => {
    const [one, ...others] = shuffled(random, names);
    return one === undefined ? [] : between([one], others);
  }),
  slowness("low rate", "rate"),
  slowness("delay", "delay"),
  { name: "reordering", lane: "network", needs: ["network", "reordering"], make: overtaking },
  { name: "delay by a relay", lane: "network", needs: ["network", "no delay"], make: relayed },
];

/** A fault that obstructs the ways that `choose` returns when it begins. */
function obstruction(
  name: string,
  obstacle: Obstacle,
  [fromMs, toMs]: readonly [number, number],
  choose: (context: FaultContext, names: readonly string[]) => Promise<readonly Route[]>,
): FaultKind {
  const make = async (context: FaultContext): Promise<FaultResult> => {
    const network = networkOf(context);
    const names = context.cluster.members.map((member) => member.name);
    const routes = await choose(context, names);
    if (routes.length === 0) {
      return skipped("there is no leader, or no other member");
    }
    const obstructed = await network.obstruct(routes, obstacle);
    let stopped: Map<string, number>;
    try {
      await pause(spread(context.random, fromMs, toMs));
      stopped = await obstructed.stopped();
    } finally {
      await obstructed.end();
    }
    const counts = routes.map(({ from, to }) => `${from}>${to} ${stopped.get(`${from}>${to}`) ?? 0}`).join(", ");
    const total = [...stopped.values()].reduce((sum, packets) => sum + packets, 0);
    return total > 0 ? landed(`packets stopped: ${counts}`) : unclear("no packet came that way");
  };
  return { name, lane: "network", needs: ["network"], make };
}

/** A fault that slows down the packets that one member sends. */
function slowness(name: string, kind: Slowness): FaultKind {
  const make = async (context: FaultContext): Promise<FaultResult> => {
    const network = networkOf(context);
    const slow = pick(context.random, context.cluster.members).name;
    await network.slowDown(slow, kind);
    let packets: number;
    try {
      await pause(spread(context.random, ...SLOW_MS));
      packets = await network.slowed(slow);
    } finally {
      await network.speedUp(slow);
    }
    return packets > 0
      ? landed(`${slow}: packets delayed ${packets} times`)
      : unclear(`${slow} had nothing to wait for`);
  };
  return { name, lane: "network", needs: ["network", kind], make };
}

/** Lets some packets of one member overtake its others. */
async function overtaking(context: FaultContext): Promise<FaultResult> {
  const network = networkOf(context);
  const { name } = pick(context.random, context.cluster.members);
  const reordering = await network.reorder(name);
  let received: number;
  try {
    await pause(spread(context.random, ...SLOW_MS));
    received = await reordering.received();
  } finally {
    await reordering.end();
  }
  return received > 0
    ? landed(`${name}: the others received ${received} packets too early`)
    : unclear(`${name}: nothing was received too early`);
}

/** Delays the traffic between one member and the others, if the kernel cannot. */
async function relayed(context: FaultContext): Promise<FaultResult> {
  const network = networkOf(context);
  const { members } = context.cluster;
  const slow = pick(context.random, members).name;
  const relay = new Relay(context.random);
  try {
    const ports = new Map(members.map(({ name, ports: { peer } }) => [name, peer]));
    const diverted = await network.divert(slow, ports, relay);
    try {
      await pause(spread(context.random, ...SLOW_MS));
    } finally {
      await diverted.end();
    }
    const { passed } = relay;
    return passed > 0 ? landed(`${slow}: ${passed} pieces passed on late`) : unclear(`${slow}: nothing passed on`);
  } finally {
    await relay.close();
  }
}

/** Both directions between each member of the one group and each different member of the other. */
function between(ones: readonly string[], others: readonly string[]): Route[] {
  const routes = ones.flatMap((one) =>
    others.flatMap((other) => [
      { from: one, to: other },
      { from: other, to: one },
    ]),
  );
  const distinct = new Map(
    routes.filter(({ from, to }) => from !== to).map((route) => [`${route.from}>${route.to}`, route]),
  );
  return [...distinct.values()];
}

function without(names: readonly string[], name: string): string[] {
  return names.filter((other) => other !== name);
}

async function leaderName({ cluster }: FaultContext): Promise<string | null> {
  return (await presentLeader(cluster))?.name ?? null;
}

function networkOf({ network }: FaultContext): Network {
  if (network === null) {
    throw new Error("a fault of the network was planned where there is none");
  }
  return network;
}
