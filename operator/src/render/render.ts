/**
 * Renders all objects of a cluster except those that are generated once or at random: identity, authorities, tokens,
 * the owner's Secret.
 *
 * A pure function: no clock, no certificate, no secret. The pod template follows from the CoordinationCluster alone.
 * The planner chooses the number of pods, and how many may be down at once.
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

/** Any object for an apply. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: V1ObjectMeta;
}

export interface Settings {
  /** The operator's own namespace: it must reach the members' admin port. */
  readonly operatorNamespace: string;
  /** Such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Where the manual is, without a slash at the end; empty = nowhere. */
  readonly manualUrl: string;
}

export interface Placement extends LiveSet {
  /** Number of pods that a drain must leave ready; null for no budget. */
  readonly minAvailable: number | null;
}

/**
 * @returns the objects in the order of their creation
 * @throws OverlayError
 */
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
    renderRules(cluster, settings.manualUrl),
  ];
  return objects.filter((object) => object !== null);
}
