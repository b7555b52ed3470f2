/** Makes authorities, and certificates for members: ECDSA on P-256, with keys that exist nowhere before. */
import "reflect-metadata";
import { createPrivateKey, randomBytes, type webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** In PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface Lifetime {
  /** Milliseconds of the wall clock. */
  readonly now: number;
  readonly days: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60_000;
/** Clocks of members may be behind the operator's by so much. */
export const BACKDATED_MS = 60 * 60_000;
const SERIAL_BYTES = 16;

cryptoProvider.set(globalThis.crypto);

/** An authority of its own, which signs members' certificates and no further authorities. */
export async function makeAuthority(name: string, { now, days }: Lifetime): Promise<Issued> {
  const keys = await makeKeys();
  const serialNumber = makeSerial();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    serialNumber,
    // Two of one cluster are trusted at the same time: they must not be taken for each other.
    name: [{ CN: [`${name} authority ${serialNumber.slice(0, 8)}`] }],
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + days * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await keyToPem(keys.privateKey) };
}

/** A certificate with which members serve and dial, for all of them alike. It is over when its authority is. */
export async function issue(
  authority: Issued,
  name: string,
  dnsNames: readonly string[],
  { now, days }: Lifetime,
): Promise<Issued> {
  const issuer = new X509Certificate(authority.certificate);
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: makeSerial(),
    subject: [{ CN: [name] }],
    issuer: issuer.subject,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(Math.min(now + days * DAY_MS, issuer.notAfter.getTime())),
    publicKey: keys.publicKey,
    signingKey: await keyFromPem(authority.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns", value }))),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await keyToPem(keys.privateKey) };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

/** Positive, and so long that none is ever made twice. */
function makeSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

async function keyToPem(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

function keyFromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ format: "der", type: "pkcs8" });
  return crypto.subtle.importKey("pkcs8", new Uint8Array(der), ALGORITHM, false, ["sign"]);
}
