/**
 * One look at a cluster: what the API server has, what members answer, and what is not as it is wanted. It writes nothing,
 * but for a trial of the pods that are wanted, which the API server only judges.
 */
import type { CertificateOutcome, CertificateWrite, TendCertificates } from "../certificates/index.ts";
import { isKubeError, type Kind, type KubeClient, type Reference } from "../kube/index.ts";
import type { MemberAddress, MemberClient } from "../members/index.ts";
import type { CoordinationCluster, Identity, Observed, Refusal } from "../plan/index.ts";
import { type Manifest, metadataOf, namesOf, namespaceOf, renderBudget, type Settings } from "../render/index.ts";
import type { Surroundings } from "../status/index.ts";
import { APPLIED } from "./annotations.ts";
import { claimViewOf } from "./claim-view.ts";
import type { Memory } from "./memory.ts";
import { podViewOf, timeOf } from "./pod-view.ts";
import { ownerSecretName, type Reading, readCluster, readExpandable } from "./reader.ts";
import { type Answers, addressesOf, askMembers, type EndpointOf } from "./reports.ts";
import { setViewOf } from "./set-view.ts";
import { conflictOf, lookAround } from "./support.ts";
import { isSetAsWished, ownerWish, type SetManifest, secretOf, tokensWish, wantedObjects } from "./wanted-objects.ts";
import {
  durableMetadata,
  isAsWished,
  ownership,
  preconditionOf,
  signed,
  type Wish,
  type Wishes,
  wishKey,
} from "./wish.ts";

/** After so long a template that was refused is tried again. */
const TRIAL_MS = 60_000;

export interface ObserverOptions {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly settings: Settings;
  readonly tendCertificates: TendCertificates;
  /** Milliseconds since 1970, as the API server counts them. */
  readonly now: () => number;
  readonly endpointOf: EndpointOf;
  /** Told of members that did not answer. */
  readonly onSilent: (error: unknown) => void;
}

export interface Observation {
  readonly observed: Observed;
  readonly surroundings: Surroundings;
  readonly reading: Reading;
  readonly wishes: Wishes;
  /** What a set is made of; null if the specification cannot be followed. */
  readonly set: SetManifest | null;
  readonly addresses: ReadonlyMap<number, MemberAddress>;
  readonly askable: readonly MemberAddress[];
  /** Whether a certificate is to be replaced. */
  readonly renewed: boolean;
}

export class Observer {
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /** @param cluster with version and repository. Raises KubeError when the API server cannot be asked. */
  async observe(cluster: CoordinationCluster, memory: Memory): Promise<Observation> {
    const { client, members, settings, endpointOf, onSilent } = this.#options;
    const now = this.#options.now();
    const reading = await readCluster(client, cluster);
    const addresses = addressesOf(cluster, reading, endpointOf);
    const answers = await askMembers(members, addresses, reading.pods, onSilent);
    const wanted = wantedObjects(cluster, reading, settings);
    const around = await lookAround({ client, cluster, manifests: wanted.around, memory, now });
    const certificates = await this.#tend(cluster, reading, answers, now);
    const views = await this.#views(cluster, reading, memory);
    const refusal =
      wanted.refusal ??
      setConflict(cluster, reading) ??
      around.refusal ??
      (await this.#try(cluster, reading, wanted.set, memory, now));
    const hasForm = answers.known !== null || views.claims.some(({ memberId }) => typeof memberId === "number");
    const wishes = new Map([
      ...keyed(certificates.writes.map((write) => certificateWish(cluster, write))),
      ...keyed(await this.#secretWishes(cluster, reading, hasForm)),
      ...around.wishes,
      ...keyed(setWishes(cluster, reading, wanted.set)),
      ...keyed(ownershipWishes(cluster, reading, views)),
    ]);
    const observed: Observed = {
      now,
      cluster,
      refusal,
      ...views,
      reports: answers.reports,
      configuration: answers.configuration,
      known: answers.known,
      leaderlessSince: leaderlessSince(cluster, answers, memory, now),
      minAvailable: minAvailableOf(reading),
      drift: [...wishes.values()].map(({ reference: { kind, name } }) => ({ kind, name })),
      attempts: memory.attempts,
    };
    return {
      observed,
      surroundings: {
        tlsProblem: certificates.problem,
        monitoringProblem: around.monitoringProblem,
        tls: certificates.tls,
      },
      ...{ reading, wishes, addresses },
      set: wanted.set,
      askable: answers.askable,
      renewed: certificates.renewed,
    };
  }

  async #views(cluster: CoordinationCluster, reading: Reading, memory: Memory): Promise<Views> {
    const identity = identityOf(reading);
    const setCreated = timeOf(reading.set?.metadata?.creationTimestamp) ?? null;
    const [, firstClaim] = [...reading.claims][0] ?? [];
    const expandable = await readExpandable(this.#options.client, firstClaim);
    const surroundings = { cluster, identity, setCreated, expandable };
    const pods = [...reading.pods].map(([ordinal, pod]) => podViewOf(pod, ordinal, memory.started));
    memory.started.clear();
    for (const { uid, everStarted } of pods) {
      if (everStarted) {
        memory.started.add(uid);
      }
    }
    return {
      identity,
      set: reading.set === null ? null : setViewOf(reading.set),
      pods,
      claims: [...reading.claims].map(([ordinal, claim]) => claimViewOf(claim, ordinal, surroundings)),
    };
  }

  #tend(cluster: CoordinationCluster, reading: Reading, answers: Answers, now: number): Promise<CertificateOutcome> {
    const { authority, server, trust } = reading;
    const { clusterDomain } = this.#options.settings;
    const stored = { authority, server, trust } as Pick<
      Parameters<TendCertificates>[0],
      "authority" | "server" | "trust"
    >;
    return this.#options.tendCertificates({ now, cluster, clusterDomain, reports: answers.reports, ...stored });
  }

  async #secretWishes(cluster: CoordinationCluster, reading: Reading, hasForm: boolean): Promise<(Wish | null)[]> {
    const isOwnerDue = reading.owner === null && !hasForm;
    return [
      reading.tokens === null ? tokensWish(cluster) : null,
      isOwnerDue ? await ownerWish(this.#options.client, cluster) : null,
    ];
  }

  /** Whether the API server would take these pods. Asked once for each template, and now and then when it would not. */
  async #try(
    cluster: CoordinationCluster,
    { set: live }: Reading,
    set: SetManifest | null,
    memory: Memory,
    now: number,
  ): Promise<Refusal | null> {
    if (set === null || (live !== null && isSetAsWished(live, set))) {
      return null;
    }
    const hash = set.metadata?.annotations?.[APPLIED] ?? "";
    const { trial } = memory;
    const isOld = trial?.refusal !== null && now - (trial?.at ?? 0) >= TRIAL_MS;
    if (trial === null || trial.hash !== hash || isOld) {
      memory.trial = { hash, at: now, refusal: await this.#dryRun(cluster, set) };
    }
    return memory.trial?.refusal ?? null;
  }

  async #dryRun(cluster: CoordinationCluster, set: SetManifest): Promise<Refusal | null> {
    try {
      await this.#options.client.apply(setReference(cluster), set, { dryRun: true });
      return null;
    } catch (error) {
      // Forbidden, by a policy of the Kubernetes cluster: what stands in the way may also go again.
      if (isKubeError(error, "invalid", "forbidden")) {
        return { reason: "OverlayRejected", message: error.explanation };
      }
      if (isKubeError(error, "terminating")) {
        return null;
      }
      throw error;
    }
  }
}

type Views = Pick<Observed, "identity" | "set" | "pods" | "claims">;

export function setReference(cluster: CoordinationCluster): Reference {
  return { kind: "StatefulSet", namespace: namespaceOf(cluster), name: namesOf(cluster).set };
}

function keyed(wishes: readonly (Wish | null)[]): [string, Wish][] {
  return wishes.flatMap((wish) => (wish === null ? [] : [[wishKey(wish.reference), wish]]));
}

function identityOf({ identity }: Reading): Identity | null {
  const { clusterId, founder, founderIncarnation } = identity?.data ?? {};
  return clusterId === undefined || founder === undefined || founderIncarnation === undefined
    ? null
    : { clusterId, founder, founderIncarnation };
}

function setConflict(cluster: CoordinationCluster, { set, budget }: Reading): Refusal | null {
  const reference = setReference(cluster);
  return (
    conflictOf(cluster, reference, set) ?? conflictOf(cluster, { ...reference, kind: "PodDisruptionBudget" }, budget)
  );
}

function setWishes(
  cluster: CoordinationCluster,
  { set: live, budget }: Reading,
  set: SetManifest | null,
): (Wish | null)[] {
  const reference = setReference(cluster);
  const isSetDue = live !== null && set !== null && !isSetAsWished(live, set);
  const number = budget?.spec?.minAvailable;
  const budgetManifest = typeof number === "number" ? signed(renderBudget(cluster, number)) : null;
  const isBudgetDue = budgetManifest !== null && !isAsWished(budget, budgetManifest);
  return [
    isSetDue ? { how: "apply", reference, manifest: withVersion(set, preconditionOf(live).resourceVersion) } : null,
    isBudgetDue
      ? { how: "apply", reference: { ...reference, kind: "PodDisruptionBudget" }, manifest: budgetManifest }
      : null,
  ];
}

function withVersion(manifest: Manifest, resourceVersion: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
}

function ownershipWishes(cluster: CoordinationCluster, reading: Reading, views: Views): (Wish | null)[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const wish = (kind: Kind, name: string, live: Parameters<typeof ownership>[2]): Wish | null =>
    ownership(cluster, { kind, namespace, name }, live);
  return [
    wish("ConfigMap", names.identity, reading.identity),
    wish("Secret", ownerSecretName(cluster), reading.owner),
    wish("Secret", names.authorities, reading.authority),
    ...views.claims
      .filter(({ ours }) => ours)
      .map(({ ordinal }) =>
        wish("PersistentVolumeClaim", `data-${names.set}-${ordinal}`, reading.claims.get(ordinal) ?? null),
      ),
  ];
}

function certificateWish(cluster: CoordinationCluster, write: CertificateWrite): Wish {
  const { kind, name, annotations, data, replaces, durable } = write;
  const reference = { kind, namespace: namespaceOf(cluster), name };
  const metadata = {
    ...(durable ? durableMetadata(cluster, name) : metadataOf(cluster, name)),
    ...(annotations === undefined ? {} : { annotations }),
  };
  const manifest =
    kind === "Secret" ? secretOf(metadata, data) : { apiVersion: "v1", kind: "ConfigMap", metadata, data };
  return replaces === null
    ? { how: "create", reference, manifest: () => manifest }
    : { how: "apply", reference, manifest: withVersion(manifest, replaces) };
}

function minAvailableOf({ budget }: Reading): number | null {
  const number = budget?.spec?.minAvailable;
  return typeof number === "number" ? number : null;
}

/** As far back as is known: the status tells, when this operator has not seen it itself. */
function leaderlessSince(
  { status }: CoordinationCluster,
  { configuration }: Answers,
  memory: Memory,
  now: number,
): number | null {
  if (configuration !== null) {
    memory.leaderlessSince = null;
    return null;
  }
  const available = status?.conditions?.find(({ type }) => type === "Available");
  const told = available?.status === "False" ? timeOf(available.lastTransitionTime) : undefined;
  memory.leaderlessSince ??= Math.min(now, told ?? now);
  return memory.leaderlessSince;
}
