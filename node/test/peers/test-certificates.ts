/** Authorities and certificates for specs, made on demand with the openssl command. */

import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsFilePaths } from "../../src/peers/index.ts";

/** Why this machine cannot make certificates, or null if it can. */
export function whyNoCertificates(): string | null {
  const { status } = spawnSync("openssl", ["version"], { stdio: "ignore" });
  return status === 0 ? null : "the openssl command is missing";
}

export class TestAuthority {
  readonly #directory: string;
  readonly #name: string;

  /** Makes the authority's key and certificate in the directory. */
  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
    openssl([
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "30"],
      ...["-subj", `/CN=${name}`, "-keyout", this.#path("key"), "-out", this.certificate],
    ]);
  }

  /** Path of the authority's certificate. */
  get certificate(): string {
    return this.#path("crt");
  }

  /**
   * Makes a key and a certificate signed by this authority.
   *
   * @param alternativeNames as openssl takes them: DNS:name or IP:address
   */
  issue(
    name: string,
    alternativeNames: readonly string[],
    { usages = "serverAuth,clientAuth", days = 10 } = {},
  ): TlsFilePaths {
    const path = (suffix: string) => join(this.#directory, `${name}.${suffix}`);
    const names = alternativeNames.length === 0 ? "" : `subjectAltName=${alternativeNames.join(",")}\n`;
    writeFileSync(path("ext"), `${names}extendedKeyUsage=${usages}\n`);
    openssl([
      ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"],
      ...["-subj", `/CN=${name}`, "-keyout", path("key"), "-out", path("csr")],
    ]);
    openssl([
      ...["x509", "-req", "-in", path("csr"), "-CA", this.certificate, "-CAkey", this.#path("key"), "-days", `${days}`],
      ...["-set_serial", `${TestAuthority.#nextSerial++}`, "-extfile", path("ext"), "-out", path("crt")],
    ]);
    return { certificate: path("crt"), key: path("key"), authorities: this.certificate };
  }

  static #nextSerial = 1_000;

  #path(suffix: string): string {
    return join(this.#directory, `${this.#name}.${suffix}`);
  }
}

function openssl(words: readonly string[]): void {
  execFileSync("openssl", words, { stdio: "pipe" });
}
