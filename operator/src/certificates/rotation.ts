/**
 * What becomes of a cluster's own authority and of the certificate that it has issued: a pure decision.
 *
 * An authority is replaced before it is over: the next one is made and trusted, a week passes in which clients learn of it,
 * every member says that it trusts it, then it issues, then every member shows what it has issued, and a week later the last
 * one is trusted no more. So at no moment does a member show what another does not trust, and nobody is restarted. When the
 * key of an authority is lost, clients are not waited for: nothing could be issued meanwhile.
 */
import type { MemberReport } from "../plan/index.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { BACKDATED_MS } from "./issuing.ts";

export interface RotationFacts {
  /** Milliseconds of the wall clock. */
  readonly now: number;
  /** It issues; null before the first is made, or when it was lost. */
  readonly current: CertificateFacts | null;
  /** It will issue once it is trusted. */
  readonly next: CertificateFacts | null;
  /** What members are to show; null if there is none that can be read. */
  readonly server: CertificateFacts | null;
  /** Whether `current` has issued it. */
  readonly isOfCurrent: boolean;
  readonly trusted: readonly CertificateFacts[];
  readonly wanted: {
    readonly dnsNames: readonly string[];
    readonly certificateDays: number;
    readonly renewBeforeDays: number;
  };
  readonly reports: readonly Report[];
  /** How many members there are to be: so many must consent. */
  readonly members: number;
}

export type Report = Pick<MemberReport, "certificateSerial" | "trustedCas">;

export interface Rotation {
  readonly authority: "keep" | "make-current" | "make-next" | "promote-next";
  /** Whether `current`, as it is afterwards, is to issue a certificate. */
  readonly issue: boolean;
  /** Whether authorities that are neither current nor next are trusted no more. */
  readonly dropsOld: boolean;
}

export const AUTHORITY_DAYS = 3 * 365;
const DAY_MS = 24 * 60 * 60_000;
/** An authority is replaced when so much of its life is left, */
const AUTHORITY_SHARE_LEFT = 1 / 3;
/** or so much more than a certificate lasts: else what it issues would be over before it is renewed, again and again. */
const REPLACEMENT_DAYS = 30;
/** Clients have so long to learn of the next authority before it issues. */
const NEXT_TRUSTED_MS = 7 * DAY_MS;
/** Clients have so long to come without the old authority. */
const OLD_TRUSTED_MS = 7 * DAY_MS;

export function decideRotation(facts: RotationFacts): Rotation {
  const authority = decideAuthority(facts);
  const isNew = authority === "make-current" || authority === "promote-next";
  return {
    authority,
    issue: isNew || (facts.current !== null && isDue(facts)),
    dropsOld: authority === "keep" && isSettled(facts.server, facts.reports, facts.now) && facts.isOfCurrent,
  };
}

/** Whether every member shows this certificate, and has shown it for so long that what was before is needed no more. */
export function isSettled(server: CertificateFacts | null, reports: readonly Report[], now: number): boolean {
  return (
    server !== null &&
    now >= server.notBefore + BACKDATED_MS + OLD_TRUSTED_MS &&
    meeting(reports).every(({ certificateSerial }) => certificateSerial === server.serial)
  );
}

function decideAuthority(facts: RotationFacts): Rotation["authority"] {
  const { now, current, next, trusted, wanted } = facts;
  if (next !== null) {
    const isKnown = current === null || now >= next.notBefore + BACKDATED_MS + NEXT_TRUSTED_MS;
    return (isKnown && isTrustedByAll(facts, next)) || isUrgent(facts) ? "promote-next" : "keep";
  }
  if (current === null) {
    // Where somebody is trusted, members run that know nobody else.
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

/** Without the next authority there will soon be no valid certificate at all: nobody is waited for any longer. */
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

/** Members that show no certificate to others have nothing to do with them, and cannot follow. */
function meeting(reports: readonly Report[]): Report[] {
  return reports.filter(({ certificateSerial }) => certificateSerial !== "");
}
