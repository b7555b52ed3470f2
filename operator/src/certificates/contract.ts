/**
 * What the operator asks of this room in every pass: whether certificates, and what is trusted, are as the specification
 * asks, and what is to be written so that they become so.
 *
 * All that is needed comes in; nothing is read and nothing is written here, so that a pass that is cut off is simply
 * done again.
 */
import type { V1ConfigMap, V1Secret } from "@kubernetes/client-node";
import type { CoordinationCluster, MemberReport } from "../plan/index.ts";
import type { Problem, Surroundings } from "../status/index.ts";

/** As it was read in this pass; null = it is not there. */
export interface CertificatePass {
  readonly now: number;
  readonly cluster: CoordinationCluster;
  /** As in `cluster.local`. */
  readonly clusterDomain: string;
  /** Secret `NAME-ca`: the authority's certificate and key, with mode Auto. */
  readonly authority: StoredSecret | null;
  /** What members show: Secret `NAME-server-tls`, or the user's own with mode Secret. */
  readonly server: StoredSecret | null;
  /** ConfigMap `NAME-ca`: `ca.crt` holds every authority that is trusted now, in PEM. */
  readonly trust: StoredConfigMap | null;
  /** By ordinal: which certificate each member shows, and whom it trusts. */
  readonly reports: ReadonlyMap<number, MemberReport>;
}

export type StoredSecret = Pick<V1Secret, "data"> & Stored;
export type StoredConfigMap = Pick<V1ConfigMap, "data"> & Stored;

interface Stored {
  readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: { readonly [key: string]: string } };
}

/** One object as it is to be: labels, owner and namespace are added by whoever writes it. */
export interface CertificateWrite {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  readonly annotations?: Record<string, string>;
  /** Text by key; of a Secret, too. */
  readonly data: Record<string, string>;
  /** Of the object that this replaces: the write fails if that has changed. Null = it must not be there yet. */
  readonly replaces: string | null;
  /** Whether it outlives the cluster as its volumes do. */
  readonly durable: boolean;
}

export interface CertificateOutcome {
  /** In the order in which they are written. */
  readonly writes: readonly CertificateWrite[];
  /** For the condition TLSReady; null if all is in order. */
  readonly problem: Problem | null;
  readonly tls: Surroundings["tls"];
  /** Whether a certificate that was there is replaced: people are told. */
  readonly renewed: boolean;
}

/** Rejects when a key or a certificate cannot be made; never because of what it was given. */
export type TendCertificates = (pass: CertificatePass) => Promise<CertificateOutcome>;
