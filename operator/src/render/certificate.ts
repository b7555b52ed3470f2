/** DNS names of the members' certificate, and the Certificate object for cert-manager. */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { metadataOf, namesOf, namespaceOf } from "./names.ts";

/** The fields of cert-manager's Certificate that the operator sets. */
export interface Certificate {
  readonly apiVersion: "cert-manager.io/v1";
  readonly kind: "Certificate";
  readonly metadata: V1ObjectMeta;
  readonly spec: object;
}

/** One certificate for all members: a wildcard covers their names, so growth needs no new one. */
export function dnsNamesOf(cluster: CoordinationCluster, clusterDomain: string): string[] {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const services = [names.client, names.leader].flatMap((name) => [
    name,
    `${name}.${namespace}`,
    `${name}.${namespace}.svc`,
    `${name}.${namespace}.svc.${clusterDomain}`,
  ]);
  const members = `*.${names.peers}.${namespace}.svc`;
  return [members, `${members}.${clusterDomain}`, ...services, "localhost", ...(cluster.spec.tls.extraDnsNames ?? [])];
}

/** Null in the other modes. */
export function renderCertificate(cluster: CoordinationCluster, clusterDomain: string): Certificate | null {
  const { mode, issuerRef, certificateDays, renewBeforeDays } = cluster.spec.tls;
  if (mode !== "CertManager" || issuerRef === undefined) {
    return null;
  }
  const names = namesOf(cluster);
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: metadataOf(cluster, names.certificate),
    spec: {
      secretName: names.serverTls,
      dnsNames: dnsNamesOf(cluster, clusterDomain),
      duration: `${certificateDays * 24}h`,
      renewBefore: `${renewBeforeDays * 24}h`,
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      usages: ["digital signature", "server auth", "client auth"],
      issuerRef,
    },
  };
}
