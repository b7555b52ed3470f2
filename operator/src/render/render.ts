/**
 * All objects of a cluster but those that hold what is made once or at random: identity, authorities, tokens, the owner.
 *
 * A pure function: no clock, no certificate, no secret. The pod template follows from the CoordinationCluster alone; how
 * many pods there are, and how many may go at once, is the planner's.
 */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { renderCertificate } from "./certificate.ts";
import { renderPodMonitor, renderRules } from "./monitoring.ts";
import { type LiveSet, renderStatefulSet } from "./stateful-set.ts";
import {
  renderBudget,
  renderClientService,
  renderLeaderService,
  renderNetworkPolicy,
  renderPeerService,
  renderRights,
} from "./support-objects.ts";

/** Anything that is applied. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: V1ObjectMeta;
}

export interface Settings {
  /** Where the operator runs: it must reach the members' port for administration. */
  readonly operatorNamespace: string;
  /** As in `cluster.local`. */
  readonly clusterDomain: string;
}

export interface Placement extends LiveSet {
  /** What a drain must leave ready; null for no budget. */
  readonly minAvailable: number | null;
}

/** @returns the objects in the order in which they are made. Raises OverlayError. */
export function render(cluster: CoordinationCluster, placement: Placement, settings: Settings): Manifest[] {
  const { minAvailable, ...live } = placement;
  const objects = [
    ...renderRights(cluster),
    renderPeerService(cluster),
    renderClientService(cluster),
    renderLeaderService(cluster),
    renderNetworkPolicy(cluster, settings.operatorNamespace),
    renderCertificate(cluster, settings.clusterDomain),
    minAvailable === null ? null : renderBudget(cluster, minAvailable),
    renderStatefulSet(cluster, live),
    renderPodMonitor(cluster),
    renderRules(cluster),
  ];
  return objects.filter((object) => object !== null);
}
