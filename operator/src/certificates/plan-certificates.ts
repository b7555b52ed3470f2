/** Decides which writes make certificates and trusted authorities match the specification. */
import { dnsNamesOf, namesOf } from "../render/index.ts";
import {
  type CertificateFacts,
  type CertificateWithKey,
  factsOf,
  isIssuedBy,
  readCertificateWithKey,
} from "./certificate-facts.ts";
import type {
  CertificateInput,
  CertificatePlan,
  CertificateWrite,
  PlanCertificates,
  StoredConfigMap,
  StoredSecret,
} from "./contract.ts";
import { type Issued, issue, makeAuthority } from "./issuing.ts";
import { readProvided } from "./provided-certificate.ts";
import { AUTHORITY_DAYS, decideRotation, isRolledOut, type Rotation } from "./rotation.ts";

/** Both are in the Secret of the authority, so that one write changes them together. */
interface Authorities {
  readonly current: CertificateWithKey | null;
  readonly next: CertificateWithKey | null;
}

const NOTHING: CertificatePlan = { writes: [], problem: null, tls: null, renewed: false };

export const planCertificates: PlanCertificates = async (input) => {
  switch (input.cluster.spec.tls.mode) {
    case "Off":
      return NOTHING;
    case "Auto":
      return planOwn(input);
    case "CertManager":
    case "Secret":
      return planProvided(input);
  }
};

async function planOwn(input: CertificateInput): Promise<CertificatePlan> {
  const { now, cluster, clusterDomain, server: secret } = input;
  const names = namesOf(cluster);
  const authorities = readAuthorities(input.authority);
  if (typeof authorities === "string") {
    const message = `Secret ${names.authorities} cannot be used: ${authorities}. Delete it, and the operator makes another authority`;
    return { ...NOTHING, problem: { reason: "AuthorityUnusable", message } };
  }
  const { certificateDays, renewBeforeDays } = cluster.spec.tls;
  const server = readServer(secret);
  const trusted = readTrusted(input.trust);
  const dnsNames = dnsNamesOf(cluster, clusterDomain);
  const { current, next } = authorities;
  const rotation = decideRotation({
    now,
    trusted,
    members: cluster.spec.replicas,
    reports: [...input.reports.values()],
    current: current?.facts ?? null,
    next: next?.facts ?? null,
    server: server?.facts ?? null,
    isOfCurrent: current !== null && server !== null && isIssuedBy(server.facts, current.facts),
    wanted: { dnsNames, certificateDays, renewBeforeDays },
  });
  const afterwards = await rotate(authorities, rotation, cluster.metadata.name, now);
  const needed = [afterwards.current, afterwards.next].flatMap((keyed) => (keyed === null ? [] : [keyed.facts]));
  const writes: CertificateWrite[] = [];
  if (rotation.authority !== "keep") {
    writes.push(authorityWrite(names.authorities, afterwards, input.authority));
  }
  writes.push(...trustWrites(names.authorities, trusted, needed, rotation.dropsOld, input.trust));
  let shown = server?.facts ?? null;
  if (rotation.issue && afterwards.current !== null) {
    const lifetime = { now, days: certificateDays };
    const issued = await issue(issuedOf(afterwards.current), cluster.metadata.name, dnsNames, lifetime);
    shown = factsOf(issued.certificate)[0] ?? null;
    writes.push(serverWrite(names.serverTls, issued, afterwards.current.facts.pem, secret));
  }
  // If the key of an authority is lost, its certificates stay valid until the next authority issues.
  const issuer = afterwards.current?.facts ?? trusted.find((one) => shown !== null && isIssuedBy(shown, one)) ?? null;
  const tls = shown === null || issuer === null ? null : endsOf(shown, issuer);
  return { writes, problem: null, tls, renewed: rotation.issue && server !== null };
}

/** Members must trust the authorities that come with the certificate, and for a week the previous ones. */
async function planProvided(input: CertificateInput): Promise<CertificatePlan> {
  const { now, cluster, clusterDomain, server, trust, reports } = input;
  const { mode, secretName } = cluster.spec.tls;
  const names = namesOf(cluster);
  const name = secretName ?? names.serverTls;
  if (server === null) {
    const hint = mode === "CertManager" ? `; see kubectl describe certificate ${names.certificate}` : "";
    return { ...NOTHING, problem: { reason: "CertificateMissing", message: `there is no Secret ${name}${hint}` } };
  }
  const provided = readProvided(textsOf(server), dnsNamesOf(cluster, clusterDomain), now);
  if (typeof provided === "string") {
    const message = `Secret ${name} cannot be used: ${provided}`;
    return { ...NOTHING, problem: { reason: "CertificateUnusable", message } };
  }
  const dropsOld = isRolledOut(provided.facts, [...reports.values()], now);
  const writes = trustWrites(names.authorities, readTrusted(trust), provided.authorities, dropsOld, trust);
  const [issuer] = provided.authorities;
  return { writes, problem: null, tls: issuer === undefined ? null : endsOf(provided.facts, issuer), renewed: false };
}

async function rotate(
  { current, next }: Authorities,
  { authority }: Rotation,
  name: string,
  now: number,
): Promise<Authorities> {
  switch (authority) {
    case "keep":
      return { current, next };
    case "promote-next":
      return { current: next, next: null };
    case "make-current":
      return { current: await newAuthority(name, now), next };
    case "make-next":
      return { current, next: await newAuthority(name, now) };
  }
}

async function newAuthority(name: string, now: number): Promise<CertificateWithKey> {
  const { certificate, key } = await makeAuthority(name, { now, days: AUTHORITY_DAYS });
  const keyed = readCertificateWithKey(certificate, key);
  if (typeof keyed === "string") {
    throw new Error(`the new authority is incomplete: ${keyed}`);
  }
  return keyed;
}

/** @returns the authorities, or what is wrong with an existing Secret */
function readAuthorities(secret: StoredSecret | null): Authorities | string {
  const texts = textsOf(secret);
  const current =
    texts.has("tls.crt") || texts.has("tls.key")
      ? readCertificateWithKey(texts.get("tls.crt"), texts.get("tls.key"))
      : null;
  const next =
    texts.has("next.crt") || texts.has("next.key")
      ? readCertificateWithKey(texts.get("next.crt"), texts.get("next.key"))
      : null;
  if (typeof current === "string") {
    return current;
  }
  return typeof next === "string" ? next : { current, next };
}

/** The operator's own certificate; if it cannot be read, the operator makes another one. */
function readServer(secret: StoredSecret | null): CertificateWithKey | null {
  const texts = textsOf(secret);
  const server = readCertificateWithKey(texts.get("tls.crt"), texts.get("tls.key"));
  return typeof server === "string" ? null : server;
}

function readTrusted(trust: StoredConfigMap | null): CertificateFacts[] {
  try {
    return factsOf(trust?.data?.["ca.crt"] ?? "");
  } catch {
    return [];
  }
}

function textsOf(secret: StoredSecret | null): ReadonlyMap<string, string> {
  const entries = Object.entries(secret?.data ?? {});
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

function authorityWrite(name: string, { current, next }: Authorities, replaced: StoredSecret | null): CertificateWrite {
  return {
    kind: "Secret",
    name,
    data: {
      ...(current === null ? {} : { "tls.crt": pemOf([current.facts]), "tls.key": current.key }),
      ...(next === null ? {} : { "next.crt": pemOf([next.facts]), "next.key": next.key }),
    },
    replaces: versionOf(replaced),
    durable: true,
  };
}

/** No write if the bundle is right. New authorities are appended. */
function trustWrites(
  name: string,
  trusted: readonly CertificateFacts[],
  needed: readonly CertificateFacts[],
  dropsOld: boolean,
  replaced: StoredConfigMap | null,
): CertificateWrite[] {
  const isNeeded = ({ fingerprint }: CertificateFacts) => needed.some((one) => one.fingerprint === fingerprint);
  const kept = dropsOld ? trusted.filter(isNeeded) : trusted;
  const missing = needed.filter(({ fingerprint }) => !kept.some((one) => one.fingerprint === fingerprint));
  if (missing.length === 0 && kept.length === trusted.length) {
    return [];
  }
  const data = { "ca.crt": pemOf([...kept, ...missing]) };
  return [{ kind: "ConfigMap", name, data, replaces: versionOf(replaced), durable: false }];
}

function serverWrite(
  name: string,
  { certificate, key }: Issued,
  ca: string,
  replaced: StoredSecret | null,
): CertificateWrite {
  const data = { "tls.crt": `${certificate}\n`, "tls.key": `${key}\n`, "ca.crt": `${ca}\n` };
  return { kind: "Secret", name, data, replaces: versionOf(replaced), durable: false };
}

function issuedOf({ facts, key }: CertificateWithKey): Issued {
  return { certificate: facts.pem, key };
}

function pemOf(certificates: readonly CertificateFacts[]): string {
  return certificates.map(({ pem }) => `${pem}\n`).join("");
}

function versionOf(stored: StoredSecret | StoredConfigMap | null): string | null {
  return stored?.metadata?.resourceVersion ?? null;
}

function endsOf(certificate: CertificateFacts, authority: CertificateFacts) {
  return {
    notAfter: new Date(certificate.notAfter).toISOString(),
    caNotAfter: new Date(authority.notAfter).toISOString(),
  };
}
