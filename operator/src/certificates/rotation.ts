/**
 * Rotation of a cluster's own authority and of the certificate that it has issued: a pure decision.
 *
 * An authority is replaced before it expires, in this order. The next authority is made and trusted. Clients have a
 * week to learn of it, and every member reports that it trusts it. Then it issues a certificate, and every member shows
 * that. A week later the old authority is no longer trusted.
 *
 * So a member never shows a certificate that another member does not trust, and no member restarts. If the key of an
 * authority is lost, nothing can be issued meanwhile. So the rotation then waits only until the files that clients mount
 * have followed.
 */
import type { MemberReport } from "../plan/index.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { BACKDATED_MS } from "./issuing.ts";

export interface RotationFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The authority that issues; null before the first is made, or if its key was lost. */
  readonly current: CertificateFacts | null;
  /** The authority that will issue once it is trusted. */
  readonly next: CertificateFacts | null;
  /** The certificate of the members; null if there is none that can be read. */
  readonly server: CertificateFacts | null;
  /** Whether `current` has issued `server`. */
  readonly isOfCurrent: boolean;
  readonly trusted: readonly CertificateFacts[];
  readonly wanted: {
    readonly dnsNames: readonly string[];
    readonly certificateDays: number;
    readonly renewBeforeDays: number;
  };
  readonly reports: readonly Report[];
  /** Number of members in the specification; each of them must report its trust. */
  readonly members: number;
}

export type Report = Pick<MemberReport, "certificateSerial" | "trustedCas">;

export interface Rotation {
  readonly authority: "keep" | "make-current" | "make-next" | "promote-next";
  /** Whether `current`, after this decision, must issue a certificate. */
  readonly issue: boolean;
  /** Whether to stop trusting authorities that are neither current nor next. */
  readonly dropsOld: boolean;
}

export const AUTHORITY_DAYS = 3 * 365;
const DAY_MS = 24 * 60 * 60_000;
/** An authority is replaced at the latest when this share of its life is left. */
const AUTHORITY_SHARE_LEFT = 1 / 3;
/**
 * An authority is also replaced when less than the lifetime of a certificate and this many days is left. Otherwise its
 * certificates would expire before their renewal, again and again.
 */
const REPLACEMENT_DAYS = 30;
/** Time for clients to learn of the next authority before it issues. */
const NEXT_TRUSTED_MS = 7 * DAY_MS;
/** The same if the key of the current one is lost: a kubelet takes up to two minutes to replace a mounted file. */
const NEXT_MOUNTED_MS = 2 * 60_000;
/** Time for clients to stop using the old authority. */
const OLD_TRUSTED_MS = 7 * DAY_MS;

export function decideRotation(facts: RotationFacts): Rotation {
  const authority = decideAuthority(facts);
  const isNew = authority === "make-current" || authority === "promote-next";
  return {
    authority,
    issue: isNew || (facts.current !== null && isDue(facts)),
    dropsOld: authority === "keep" && isRolledOut(facts.server, facts.reports, facts.now) && facts.isOfCurrent,
  };
}

/** Whether every member has shown this certificate for so long that the old authority is no longer needed. */
export function isRolledOut(server: CertificateFacts | null, reports: readonly Report[], now: number): boolean {
  return (
    server !== null &&
    now >= server.notBefore + BACKDATED_MS + OLD_TRUSTED_MS &&
    meeting(reports).every(({ certificateSerial }) => certificateSerial === server.serial)
  );
}

function decideAuthority(facts: RotationFacts): Rotation["authority"] {
  const { now, current, next, trusted, wanted } = facts;
  if (next !== null) {
    const waitMs = current === null ? NEXT_MOUNTED_MS : NEXT_TRUSTED_MS;
    const isKnown = now >= next.notBefore + BACKDATED_MS + waitMs;
    return (isKnown && isTrustedByAll(facts, next)) || isUrgent(facts) ? "promote-next" : "keep";
  }
  if (current === null) {
    // If any authority is trusted, running members trust only that one. So a new one must first be trusted.
    return trusted.length === 0 ? "make-current" : "make-next";
  }
  const shareMs = (current.notAfter - current.notBefore) * AUTHORITY_SHARE_LEFT;
  const neededMs = (wanted.certificateDays + REPLACEMENT_DAYS) * DAY_MS;
  return now >= current.notAfter - Math.max(shareMs, neededMs) ? "make-next" : "keep";
}

function isTrustedByAll({ reports, members, trusted }: RotationFacts, { fingerprint }: CertificateFacts): boolean {
  return (
    trusted.some((authority) => authority.fingerprint === fingerprint) &&
    reports.length >= members &&
    meeting(reports).every(({ trustedCas }) => trustedCas.includes(fingerprint))
  );
}

/** Without the next authority, there will soon be no valid certificate. Then the rotation waits for nothing. */
function isUrgent({ now, current, server, wanted }: RotationFacts): boolean {
  const notAfter = (current ?? server)?.notAfter ?? 0;
  return now >= notAfter - wanted.renewBeforeDays * DAY_MS;
}

function isDue({ now, server, isOfCurrent, wanted }: RotationFacts): boolean {
  return (
    server === null ||
    !isOfCurrent ||
    now >= server.notAfter - wanted.renewBeforeDays * DAY_MS ||
    server.dnsNames.toSorted().join() !== [...new Set(wanted.dnsNames)].toSorted().join()
  );
}

/** Members that talk to other members. The rest shows no certificate to others, and cannot follow the rotation. */
function meeting(reports: readonly Report[]): Report[] {
  return reports.filter(({ certificateSerial }) => certificateSerial !== "");
}
