/** The certificates by which the parts of a cluster authenticate each other, made with the openssl command. */

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../testing/index.ts";

/** A test cluster lives for hours; its clock may be a little off. */
const DAYS = "30";
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];

/** Enough for unique serial numbers, also for certificates that are made at the same time. */
const SERIAL_BYTES = 8;

/** Paths of a certificate and its key. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The subject of a certificate: to Kubernetes, a user and his group. */
export interface Subject {
  readonly user: string;
  readonly group?: string;
  /** Names for which it is valid, in openssl's form: DNS:name or IP:address. */
  readonly alternativeNames?: readonly string[];
}

export class Authority {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Makes the key and the certificate of an authority in an existing directory. */
  static async make(directory: string): Promise<Authority> {
    const authority = new Authority(directory);
    const { key, certificate } = authority.own;
    const usage = ["-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"];
    const subject = ["-subj", "/CN=quoin-e2e", ...usage, "-days", DAYS];
    await run("openssl", ["req", "-x509", ...KEY, ...subject, "-keyout", key, "-out", certificate]);
    return authority;
  }

  get own(): KeyPair {
    return this.#pathsOf("ca");
  }

  /** Makes a key and a certificate for servers and clients. */
  async issue(name: string, { user, group, alternativeNames = [] }: Subject): Promise<KeyPair> {
    const pair = this.#pathsOf(name);
    const [request, extensions] = [join(this.#directory, `${name}.csr`), join(this.#directory, `${name}.ext`)];
    const names = alternativeNames.length === 0 ? "" : `subjectAltName=${alternativeNames.join(",")}\n`;
    writeFileSync(extensions, `${names}extendedKeyUsage=serverAuth,clientAuth\n`);
    const subject = `${group === undefined ? "" : `/O=${group}`}/CN=${user}`;
    await run("openssl", ["req", "-new", ...KEY, "-subj", subject, "-keyout", pair.key, "-out", request]);
    const serial = `0x${randomBytes(SERIAL_BYTES).toString("hex")}`;
    const signer = ["-CA", this.own.certificate, "-CAkey", this.own.key, "-set_serial", serial, "-days", DAYS];
    const files = ["-in", request, "-extfile", extensions, "-out", pair.certificate];
    await run("openssl", ["x509", "-req", ...signer, ...files]);
    return pair;
  }

  #pathsOf(name: string): KeyPair {
    return { certificate: join(this.#directory, `${name}.crt`), key: join(this.#directory, `${name}.key`) };
  }
}
