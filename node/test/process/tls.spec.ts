/**
 * A member whose client ports use TLS: its certificates, the clients that it accepts, and the replacement of
 * certificates.
 */

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { type Client, createClient, QuoinError, type TlsOptions } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  type Listening,
  MEMBER_PROGRAM,
  MemberUnderTest,
  QUOINCTL_PROGRAM,
  TestProcess,
  until,
} from "../harness/index.ts";
import { RawConnection } from "../index.ts";
import { TestAuthority, whyNoCertificates } from "../peers/index.ts";

const HERE = ["IP:127.0.0.1"];

describe("TLS towards clients", function () {
  this.timeout(120_000);
  const clients: Client[] = [];
  let directory: string;
  let authority: TestAuthority;
  let files: { readonly certificate: string; readonly key: string; readonly clientAuthorities: string };
  let clientTls: TlsOptions;
  let member: MemberUnderTest;
  let listening: Listening;
  let token: string;

  before(async function () {
    const reason = whyNoCertificates();
    if (reason !== null) {
      console.log(`      skipped: ${reason}`);
      this.skip();
    }
    directory = temporaryDirectory();
    authority = new TestAuthority(directory, "authority");
    const shown = authority.issue("member", HERE);
    const own = authority.issue("client", []);
    files = {
      certificate: join(directory, "tls.crt"),
      key: join(directory, "tls.key"),
      clientAuthorities: join(directory, "clients.crt"),
    };
    copyFileSync(shown.certificate, files.certificate);
    copyFileSync(shown.key, files.key);
    copyFileSync(authority.certificate, files.clientAuthorities);
    clientTls = tlsOf(authority, own);
    const shownBy = ["--tls-cert", files.certificate, "--tls-key", files.key];
    const flags = [...shownBy, "--tls-client-ca", files.clientAuthorities];
    member = new MemberUnderTest(join(directory, "member"), { flags, tls: clientTls });
    listening = await member.start();
    token = await member.token(listening);
  });

  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
  });

  after(() => member?.kill());

  /** Trusts this authority, and uses a certificate that it has issued. */
  function tlsOf(trusted: TestAuthority, own: { readonly certificate: string; readonly key: string }): TlsOptions {
    const read = (path: string) => readFileSync(path, "utf8");
    return { ca: read(trusted.certificate), certificate: read(own.certificate), key: read(own.key) };
  }

  function clientWith(tls: TlsOptions | undefined): Client {
    const client = createClient({ endpoints: [listening.grpc], credentials: { token }, ...(tls ? { tls } : {}) });
    clients.push(client);
    return client;
  }

  async function refusalOf(action: Promise<unknown>): Promise<QuoinError> {
    try {
      await action;
    } catch (error) {
      expect(error).to.be.instanceOf(QuoinError);
      return error as QuoinError;
    }
    throw new Error("was not refused");
  }

  interface Got {
    readonly status: number | undefined;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly socket: TLSSocket;
  }

  /** GET of a path at the HTTP port. */
  function get(path: string, tls: TlsOptions, agent?: Agent): Promise<Got> {
    const [host, port] = listening.http.split(":");
    const secured = { ca: tls.ca, cert: tls.certificate, key: tls.key } as Record<string, string>;
    return new Promise((resolve, reject) => {
      const sent = request({ host, port, path, ...secured, ...(agent ? { agent } : {}) }, (response) => {
        const socket = response.socket as TLSSocket;
        response.resume().on("end", () => resolve({ status: response.statusCode, headers: response.headers, socket }));
      });
      sent.on("error", reject).end();
    });
  }

  /** The certificate that a new connection gets. */
  function shownAt(address: string): Promise<PeerCertificate> {
    const [host = "", port] = address.split(":");
    return new Promise((resolve, reject) => {
      const own = { cert: clientTls.certificate, key: clientTls.key } as Record<string, string>;
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...own }, () => {
        resolve(socket.getPeerCertificate());
        socket.destroy();
      });
      socket.on("error", reject);
    });
  }

  it("is spoken by the SDK, by HTTPS clients and by quoinctl", async () => {
    const keys = clientWith(clientTls).keyValue;
    await keys.put("default", "tls", "1");
    const { status, headers } = await get("/livez", clientTls);
    expect([status, headers["api-version"]]).to.deep.equal([200, "v1"]);
    expect(headers["strict-transport-security"]).to.equal("max-age=31536000");
    const client = join(directory, "client");
    const flags = ["--endpoints", listening.grpc, "--ca", authority.certificate];
    const own = ["--cert", `${client}.crt`, "--key", `${client}.key`];
    const env = { ...process.env, QUOIN_TOKEN: token };
    const quoinctl = new TestProcess(QUOINCTL_PROGRAM, ["kv", "get", "default/tls", ...flags, ...own], {
      env,
      cwd: directory,
    });
    expect(await quoinctl.ended, quoinctl.stderr).to.deep.equal({ code: 0, signal: null });
    expect(quoinctl.stdout).to.include("1");
  });

  it("refuses a client without a certificate, or with that of an unknown authority", async () => {
    const { ca } = clientTls;
    const stranger = new TestAuthority(directory, "stranger");
    for (const tls of [{ ca }, { ...tlsOf(stranger, stranger.issue("strange", [])), ca }]) {
      const refusal = await refusalOf(clientWith(tls).keyValue.get("default", "tls"));
      expect(refusal.code).to.equal("UNAVAILABLE");
      const failed = await get("/livez", tls).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(Error);
    }
  });

  it("is not left for plain text", async () => {
    expect((await refusalOf(clientWith(undefined).keyValue.get("default", "tls"))).code).to.equal("UNAVAILABLE");
    const connection = await RawConnection.open(Number(listening.http.split(":")[1]));
    connection.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await connection.untilClosed()).to.equal("");
  });

  it("uses the present files for new connections, and keeps open connections", async () => {
    const old = clientWith(clientTls).keyValue;
    await old.put("default", "rotated", "before");
    const agent = new Agent({ keepAlive: true });
    const { socket } = await get("/livez", clientTls, agent);

    const next = new TestAuthority(directory, "next");
    const shown = next.issue("next-member", HERE);
    writeFileSync(files.certificate, "half of it");
    await member.process.untilPrinted(`there is no certificate in ${files.certificate}`);
    expect((await get("/livez", clientTls)).status).to.equal(200);
    copyFileSync(shown.key, files.key);
    copyFileSync(shown.certificate, files.certificate);
    copyFileSync(next.certificate, files.clientAuthorities);
    for (const address of [listening.grpc, listening.http, listening.admin]) {
      await until("the new certificate to be shown", async () => (await shownAt(address)).subject.CN === "next-member");
    }

    // A client that trusts the old authority alone could not connect again.
    expect(Buffer.from((await old.get("default", "rotated")).value).toString()).to.equal("before");
    const again = await get("/livez", clientTls, agent);
    expect([again.status, again.socket === socket]).to.deep.equal([200, true]);
    agent.destroy();
    const nextTls = tlsOf(next, next.issue("next-client", []));
    await clientWith(nextTls).keyValue.put("default", "rotated", "after");
    expect((await get("/livez", nextTls)).status).to.equal(200);
    const refused = await get("/livez", {
      ...nextTls,
      ...tlsOf(authority, authority.issue("late", [])),
      ca: nextTls.ca,
    }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
  });

  for (const [name, certificate, key] of [
    ["is not there", "nothing.crt", "member.key"],
    ["does not belong to its key", "member.crt", "client.key"],
    ["is none", "member.key", "member.key"],
  ] as const) {
    it(`is refused at the start with a certificate that ${name}, by the name of the file`, async () => {
      const [crt, its] = [join(directory, certificate), join(directory, key)];
      const flags = ["--name", "q-9", "--data-dir", temporaryDirectory(), "--tls-cert", crt, "--tls-key", its];
      const any = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"];
      const child = new TestProcess(MEMBER_PROGRAM, [...flags, ...any]);
      expect(await child.ended).to.deep.equal({ code: 76, signal: null });
      expect(child.stderr).to.include("--tls-cert").and.to.include(crt);
    });
  }
});
