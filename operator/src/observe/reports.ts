/** Asks members in one pass: each for its own status, and one of them for the leader's view. */
import type { MemberAddress, MemberAnswer, MemberClient } from "../members/index.ts";
import type { Configuration, CoordinationCluster, MemberReport } from "../plan/index.ts";
import { namesOf, PORTS, peerDomainOf } from "../render/index.ts";
import { textsOf } from "./desired-objects.ts";
import type { Pod } from "./pod-view.ts";
import type { Reading } from "./reader.ts";

export interface Answers {
  readonly reports: ReadonlyMap<number, MemberReport>;
  /** Confirmed by a quorum in this pass; null if no member could confirm one. */
  readonly configuration: Configuration | null;
  readonly known: Configuration | null;
  /** Members that can take changes, the leader first. */
  readonly askable: readonly MemberAddress[];
}

/** Address of a pod's admin port; null while the pod has none. */
export type EndpointOf = (pod: Pod) => string | null;

export function adminEndpointOf({ status }: Pod): string | null {
  const address = status?.podIP;
  if (address === undefined || address === "") {
    return null;
  }
  return `${address.includes(":") ? `[${address}]` : address}:${PORTS.admin}`;
}

/** By ordinal. Empty if the token or the authorities are missing. */
export function addressesOf(
  cluster: CoordinationCluster,
  reading: Reading,
  endpointOf: EndpointOf,
): ReadonlyMap<number, MemberAddress> {
  const addresses = new Map<number, MemberAddress>();
  const isEncrypted = cluster.spec.tls.mode !== "Off";
  const authorities = isEncrypted ? (reading.trust?.data?.["ca.crt"] ?? "") : null;
  const token = textsOf(reading.tokens?.data)
    .admin?.split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
  if (token === undefined || authorities === "") {
    return addresses;
  }
  for (const [ordinal, pod] of reading.pods) {
    const endpoint = endpointOf(pod);
    if (endpoint !== null) {
      const serverName = `${namesOf(cluster).set}-${ordinal}.${peerDomainOf(cluster)}`;
      addresses.set(ordinal, { endpoint, serverName, authorities, token });
    }
  }
  return addresses;
}

/** @param onSilent called for each member that did not answer */
export async function askMembers(
  members: MemberClient,
  addresses: ReadonlyMap<number, MemberAddress>,
  pods: ReadonlyMap<number, Pod>,
  onSilent: (error: unknown) => void,
): Promise<Answers> {
  const answers = new Map<number, MemberAnswer>();
  await Promise.all(
    [...addresses].map(async ([ordinal, address]) => {
      try {
        answers.set(ordinal, await members.status(address));
      } catch (error) {
        onSilent(error);
      }
    }),
  );
  const reports = new Map(
    [...answers].map(([ordinal, { report }]) => [
      ordinal,
      { ...report, podUid: pods.get(ordinal)?.metadata?.uid ?? "" },
    ]),
  );
  const askable = [...answers]
    .filter(([, { report }]) => report.configuration !== undefined)
    .toSorted(([, a], [, b]) => Number(b.leads) - Number(a.leads) || b.term - a.term)
    .flatMap(([ordinal]) => addresses.get(ordinal) ?? []);
  const known = newestOf([...reports.values()].flatMap(({ configuration }) => configuration ?? []));
  return { reports, askable, known, configuration: await confirmed(members, askable, onSilent) };
}

/** The first confirmed answer; any member forwards the question to the leader. */
async function confirmed(
  members: MemberClient,
  askable: readonly MemberAddress[],
  onSilent: (error: unknown) => void,
): Promise<Configuration | null> {
  // After two failures, the others know no more, and the pass must end in time.
  for (const address of askable.slice(0, 2)) {
    try {
      return await members.configuration(address);
    } catch (error) {
      onSilent(error);
    }
  }
  return null;
}

function newestOf(configurations: readonly Configuration[]): Configuration | null {
  return configurations.toSorted((a, b) => b.index - a.index || b.term - a.term)[0] ?? null;
}
