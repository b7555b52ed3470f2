/** Kubeconfig files: address of the API server, and credentials. */

import { existsSync, readFileSync } from "node:fs";
import type { KeyPair } from "./certificates.ts";
import { type Site, writeWhole } from "./site.ts";

/** Access to the API server; values are base64 or text. */
export interface ApiAccess {
  readonly url: string;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Writes a self-contained file that can be copied elsewhere. */
export function writeKubeconfig(site: Site, file: string, user: KeyPair, authority: KeyPair): void {
  const read = (path: string): string => readFileSync(path).toString("base64");
  const name = "quoin-e2e";
  const cluster = { server: site.apiUrl, "certificate-authority-data": read(authority.certificate) };
  const credentials = { "client-certificate-data": read(user.certificate), "client-key-data": read(user.key) };
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster }],
    users: [{ name, user: credentials }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  // Every JSON text is also YAML.
  writeWhole(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** Reads a file that `writeKubeconfig` has written; null if there is none. */
export function readKubeconfig(file: string): ApiAccess | null {
  if (!existsSync(file)) {
    return null;
  }
  const { clusters, users } = JSON.parse(readFileSync(file, "utf8"));
  const text = (encoded: string): string => Buffer.from(encoded, "base64").toString();
  return {
    url: clusters[0].cluster.server,
    authority: text(clusters[0].cluster["certificate-authority-data"]),
    certificate: text(users[0].user["client-certificate-data"]),
    key: text(users[0].user["client-key-data"]),
  };
}
