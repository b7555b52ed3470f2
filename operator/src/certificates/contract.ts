/**
 * The interface of this folder to a reconcile pass: whether the certificates and the trusted authorities match the
 * specification, and which writes make them match.
 *
 * All input is passed in. Nothing here reads or writes, so an interrupted pass is simply repeated.
 */
import type { V1ConfigMap, V1Secret } from "@kubernetes/client-node";
import type { CoordinationCluster, MemberReport } from "../plan/index.ts";
import type { Problem, Surroundings } from "../status/index.ts";

/** Objects as this pass read them; null = the object does not exist. */
export interface CertificateInput {
  readonly now: number;
  readonly cluster: CoordinationCluster;
  /** Such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Secret `NAME-ca`: the authority's certificate and key, with mode Auto. */
  readonly authority: StoredSecret | null;
  /** The certificate of the members: Secret `NAME-server-tls`, or the user's own with mode Secret. */
  readonly server: StoredSecret | null;
  /** ConfigMap `NAME-ca`: `ca.crt` holds every authority that is trusted now, in PEM. */
  readonly trust: StoredConfigMap | null;
  /** By ordinal: the certificate that each member shows, and the authorities that it trusts. */
  readonly reports: ReadonlyMap<number, MemberReport>;
}

export type StoredSecret = Pick<V1Secret, "data"> & Stored;
export type StoredConfigMap = Pick<V1ConfigMap, "data"> & Stored;

interface Stored {
  readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: { readonly [key: string]: string } };
}

/** One object to write. The caller adds labels, owner and namespace. */
export interface CertificateWrite {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  readonly annotations?: Record<string, string>;
  /** Text by key, also for a Secret. */
  readonly data: Record<string, string>;
  /**
   * Resource version of the object to replace; the write fails if it has changed. Null = the object must not exist yet.
   */
  readonly replaces: string | null;
  /** Whether the object outlives the cluster, as the volumes do. */
  readonly durable: boolean;
}

export interface CertificatePlan {
  /** In the order of writing. */
  readonly writes: readonly CertificateWrite[];
  /** For the condition TLSReady; null if there is none. */
  readonly problem: Problem | null;
  readonly tls: Surroundings["tls"];
  /** Whether an existing certificate is replaced; then the operator emits an event. */
  readonly renewed: boolean;
}

/** Rejects if a key or a certificate cannot be made, but never because of its input. */
export type PlanCertificates = (input: CertificateInput) => Promise<CertificatePlan>;
