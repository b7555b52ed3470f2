/** Two authorities, and a certificate of each for the proxies. They are made when a scenario first needs them. */

import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import { TestAuthority } from "../../../node/test/peers/index.ts";
import { temporaryDirectory } from "../../../testing/index.ts";

/** The authorities by their names in scenarios. */
export const AUTHORITY_NAMES = ["first", "second"] as const;

export type AuthorityName = (typeof AUTHORITY_NAMES)[number];

interface Authority {
  /** Its certificate, in PEM. */
  readonly certificate: string;
  /** Key and certificate of the proxies. */
  readonly context: SecureContext;
}

let made: Readonly<Record<AuthorityName, Authority>> | undefined;

/** The authorities; throws an error if the command openssl is missing. */
export function authorities(): Readonly<Record<AuthorityName, Authority>> {
  made ??= makeAuthorities();
  return made;
}

function makeAuthorities(): Readonly<Record<AuthorityName, Authority>> {
  const directory = temporaryDirectory();
  const make = (name: AuthorityName): Authority => {
    const authority = new TestAuthority(directory, name);
    const { certificate, key } = authority.issue(`proxies-${name}`, ["IP:127.0.0.1", "DNS:localhost"]);
    const context = createSecureContext({ cert: readFileSync(certificate), key: readFileSync(key) });
    return { certificate: readFileSync(authority.certificate, "utf8"), context };
  };
  return { first: make("first"), second: make("second") };
}
