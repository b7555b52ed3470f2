/** Creates authorities and member certificates: ECDSA on P-256, each with a new key. */
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

/** Certificate and key, in PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface Lifetime {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly days: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60_000;
/** Allows clocks of members to be behind the operator's by this much. */
export const BACKDATED_MS = 60 * 60_000;
const SERIAL_BYTES = 16;

cryptoProvider.set(globalThis.crypto);

/** Creates a self-signed authority that may sign member certificates, but no further authorities. */
export async function makeAuthority(name: string, { now, days }: Lifetime): Promise<Issued> {
  const keys = await makeKeys();
  const serialNumber = makeSerial();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    serialNumber,
    // Two authorities of one cluster can be trusted at the same time, so their names must differ.
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

/** Issues one certificate for all members, for serving and dialling. It expires no later than its authority. */
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

/** Positive, and long enough to be unique. */
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
