import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { connect, createServer } from "node:tls";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { clusterOf, Scene } from "../../test/index.ts";
import type { CoordinationCluster, MemberReport } from "../plan/index.ts";
import { factsOf, isIssuedBy } from "./certificate-facts.ts";
import type { CertificatePlan, StoredConfigMap, StoredSecret } from "./index.ts";
import { planCertificates } from "./index.ts";
import { issue, makeAuthority } from "./issuing.ts";

const DAY_MS = 24 * 3_600_000;
const SCENE = new Scene(3);
const MEMBER_NAME = "demo-1.demo-peers.default.svc";
/** Readers check validity by the real clock, and the certificates made here are valid from now on. */
const START = Date.now();

/** The objects of a cluster, and members that load certificates from them. */
class Site {
  now = START;
  cluster: CoordinationCluster = clusterOf();
  authority: StoredSecret | null = null;
  server: StoredSecret | null = null;
  trust: StoredConfigMap | null = null;
  readonly members = new Map<number, MemberReport>();
  #versions = 0;

  async tend(): Promise<CertificatePlan> {
    const { now, cluster, authority, server, trust, members: reports } = this;
    const outcome = await planCertificates({
      now,
      cluster,
      clusterDomain: "cluster.local",
      authority,
      server,
      trust,
      reports,
    });
    for (const write of outcome.writes) {
      this.#write(write);
    }
    return outcome;
  }

  #write({ kind, name, data, replaces }: CertificatePlan["writes"][number]): void {
    const place = kind === "ConfigMap" ? "trust" : name === "demo-ca" ? "authority" : "server";
    expect(replaces, `${kind} ${name}`).to.equal(this[place]?.metadata?.resourceVersion ?? null);
    const metadata = { resourceVersion: String(++this.#versions) };
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    if (place === "trust") {
      this.trust = { metadata, data };
    } else {
      this[place] = { metadata, data: Object.fromEntries(encoded) };
    }
  }

  /** The members with these ordinals load the present objects. */
  follow(...ordinals: number[]): void {
    for (const ordinal of ordinals) {
      const trustedCas = factsOf(this.bundle).map(({ fingerprint }) => fingerprint);
      const report = SCENE.reports.get(ordinal);
      if (report === undefined) {
        throw new Error(`there is no member ${ordinal}`);
      }
      this.members.set(ordinal, { ...report, certificateSerial: this.shown.serial, trustedCas });
    }
  }

  later(days: number): void {
    this.now += days * DAY_MS;
  }

  secret(place: "authority" | "server", key: string): string {
    return Buffer.from(this[place]?.data?.[key] ?? "", "base64").toString();
  }

  get bundle(): string {
    return this.trust?.data?.["ca.crt"] ?? "";
  }

  /** Fingerprints of the trusted authorities. */
  get trusted(): string[] {
    return factsOf(this.bundle).map(({ fingerprint }) => fingerprint);
  }

  /** Fingerprint of the trusted authority that has issued the members' certificate. */
  get issuer(): string | undefined {
    return factsOf(this.bundle).find((authority) => isIssuedBy(this.shown, authority))?.fingerprint;
  }

  get shown() {
    const [facts] = factsOf(this.secret("server", "tls.crt"));
    if (facts === undefined) {
      throw new Error("there is no certificate");
    }
    return facts;
  }
}

/** The dialling side's error in the handshake, null if there is none; both sides show their certificates. */
async function handshake(
  server: { readonly cert: string; readonly key: string; readonly ca: string },
  client: { readonly cert: string; readonly key: string; readonly ca: string },
  servername: string,
): Promise<string | null> {
  const acceptor = createServer({ ...server, minVersion: "TLSv1.3", requestCert: true, rejectUnauthorized: true });
  acceptor.on("tlsClientError", () => undefined);
  acceptor.on("secureConnection", (socket) => socket.end("accepted"));
  acceptor.listen(0, "127.0.0.1");
  await once(acceptor, "listening");
  try {
    const { port } = acceptor.address() as AddressInfo;
    const socket = connect({ ...client, host: "127.0.0.1", port, servername, minVersion: "TLSv1.3" });
    const heard: string[] = [];
    socket.on("data", (chunk) => heard.push(String(chunk)));
    await once(socket, "end");
    return heard.join() === "accepted" ? null : "the server has refused";
  } catch (error) {
    return (error as Error).message;
  } finally {
    acceptor.close();
  }
}

const MINUTE_DAYS = 1 / 1_440;

describe("certificates of the cluster's own authority", () => {
  let site: Site;

  beforeEach(() => {
    site = new Site();
  });

  function shownBy({ secret, bundle }: Site, key = secret.call(site, "server", "tls.key")) {
    return { cert: site.secret("server", "tls.crt"), key, ca: bundle };
  }

  it("are made at once before there are members, and then left as they are", async () => {
    const { writes, problem, tls, renewed } = await site.tend();
    expect(writes.map(({ kind, name, durable, replaces }) => [kind, name, durable, replaces])).to.deep.equal([
      ["Secret", "demo-ca", true, null],
      ["ConfigMap", "demo-ca", false, null],
      ["Secret", "demo-server-tls", false, null],
    ]);
    expect([problem, renewed]).to.deep.equal([null, false]);
    const [authority] = factsOf(site.bundle);
    expect(authority?.certificate.ca).to.equal(true);
    expect(site.secret("authority", "tls.crt")).to.equal(site.bundle);
    expect(site.secret("server", "ca.crt")).to.equal(site.bundle);
    expect(site.bundle).to.not.include("PRIVATE");
    expect(Date.parse(tls?.notAfter ?? "") - START).to.be.closeTo(90 * DAY_MS, 2_000);
    expect(Date.parse(tls?.caNotAfter ?? "") - START).to.be.closeTo(3 * 365 * DAY_MS, 2_000);
    expect((await site.tend()).writes).to.deep.equal([]);
    site.later(59);
    expect((await site.tend()).writes).to.deep.equal([]);
  });

  it("let members meet by their names, and serve clients by those of the Services", async () => {
    site.cluster = clusterOf({
      tls: { mode: "Auto", certificateDays: 90, renewBeforeDays: 30, extraDnsNames: ["q.example"] },
    });
    await site.tend();
    const own = shownBy(site);
    const { asymmetricKeyDetails } = createPrivateKey(own.key);
    expect(asymmetricKeyDetails?.namedCurve).to.equal("prime256v1");
    for (const name of [
      MEMBER_NAME,
      `${MEMBER_NAME}.cluster.local`,
      "demo",
      "demo-leader.default.svc",
      "localhost",
      "q.example",
    ]) {
      expect(await handshake(own, own, name), name).to.equal(null);
    }
    for (const name of ["demo-1.other-peers.default.svc", "demo-peers.default.svc", "q2.example"]) {
      expect(await handshake(own, own, name), name).to.include("altnames");
    }
    const stranger = new Site();
    await stranger.tend();
    const foreign = { cert: stranger.secret("server", "tls.crt"), key: stranger.secret("server", "tls.key") };
    expect(await handshake(own, { ...own, ...foreign }, MEMBER_NAME)).to.not.equal(null);
    expect(await handshake({ ...own, ...foreign }, own, MEMBER_NAME)).to.not.equal(null);
  });

  it("satisfy openssl", async function () {
    if (spawnSync("openssl", ["version"]).status !== 0) {
      console.log("      skipped: the openssl command is missing");
      this.skip();
    }
    await site.tend();
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, "ca.crt"), site.bundle);
    writeFileSync(path.join(directory, "tls.crt"), site.secret("server", "tls.crt"));
    for (const purpose of ["sslserver", "sslclient"]) {
      const args = ["verify", "-x509_strict", "-purpose", purpose, "-verify_hostname", MEMBER_NAME];
      const said = execFileSync("openssl", [...args, "-CAfile", "ca.crt", "tls.crt"], {
        cwd: directory,
        encoding: "utf8",
      });
      expect(said).to.include("tls.crt: OK");
    }
  });

  it("are renewed in time, by the same authority, and at once for other names or when they are gone", async () => {
    await site.tend();
    site.follow(0, 1, 2);
    const trusted = site.trusted;
    const serials = [site.shown.serial];
    const renewal = async (): Promise<void> => {
      const { writes, renewed } = await site.tend();
      expect(writes.map(({ name }) => name)).to.deep.equal(["demo-server-tls"]);
      serials.push(site.shown.serial);
      expect(renewed).to.equal(serials.length !== 4);
      expect((await site.tend()).writes).to.deep.equal([]);
    };
    site.later(60);
    await renewal();
    site.cluster = clusterOf({
      tls: { mode: "Auto", certificateDays: 90, renewBeforeDays: 30, extraDnsNames: ["q.example"] },
    });
    await renewal();
    expect(site.shown.dnsNames).to.include("q.example");
    site.server = { metadata: { resourceVersion: "broken" }, data: { "tls.crt": "eA==", "tls.key": "eA==" } };
    await renewal();
    expect(new Set(serials).size).to.equal(4);
    expect(site.trusted).to.deep.equal(trusted);
  });

  it("come from the next authority a week later, once every member trusts it; the old one goes a week after all show that", async () => {
    await site.tend();
    const first = site.trusted;
    site.follow(0, 1, 2);
    site.later(2 * 365 + 1);
    const { writes } = await site.tend();
    expect(writes.map(({ kind, name }) => `${kind} ${name}`).sort()).to.deep.equal([
      ...["ConfigMap demo-ca", "Secret demo-ca", "Secret demo-server-tls"],
    ]);
    const [last, next] = site.trusted;
    expect([[last], site.trusted.length]).to.deep.equal([first, 2]);
    expect(site.issuer).to.equal(last);
    const before = shownBy(site);
    site.follow(0, 1);
    for (const state of ["one member trusts it not", "one member says nothing"]) {
      expect((await site.tend()).writes, state).to.deep.equal([]);
      site.members.delete(2);
    }
    site.follow(2);
    expect((await site.tend()).writes, "clients may not know it yet").to.deep.equal([]);
    site.later(7);
    const switched = await site.tend();
    expect(switched.writes.map(({ name }) => name)).to.deep.equal(["demo-ca", "demo-server-tls"]);
    expect([switched.renewed, site.issuer]).to.deep.equal([true, next]);
    expect(Date.parse(switched.tls?.caNotAfter ?? "")).to.be.greaterThan(site.now + (3 * 364 - 7) * DAY_MS);
    const after = shownBy(site);
    expect([before.ca, before.cert === after.cert]).to.deep.equal([after.ca, false]);
    site.follow(0, 1);
    site.later(8);
    expect((await site.tend()).writes, "one member shows the old one").to.deep.equal([]);
    site.follow(2);
    expect((await site.tend()).writes.map(({ kind }) => kind)).to.deep.equal(["ConfigMap"]);
    expect(site.trusted).to.deep.equal([next]);
    expect((await site.tend()).writes).to.deep.equal([]);
  });

  it("let members connect at every moment of a replacement, whichever certificates each of them has loaded", async () => {
    // Handshakes use this machine's clock, so short lifetimes trigger the replacement instead.
    const stored = await makeAuthority("demo", { now: START, days: 20 });
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const served = await issue(stored, "demo", ["*.demo-peers.default.svc"], { now: START, days: 90 });
    site.authority = { data: { "tls.crt": encode(stored.certificate), "tls.key": encode(stored.key) } };
    site.server = { data: { "tls.crt": encode(served.certificate), "tls.key": encode(served.key) } };
    site.trust = { data: { "ca.crt": stored.certificate } };
    const states = [shownBy(site)];
    site.follow(0, 1, 2);
    site.cluster = clusterOf({ tls: { mode: "Auto", certificateDays: 10, renewBeforeDays: 2 } });
    // The next authority is created a week ago.
    site.later(-8);
    for (let input = 0; input < 3; input++) {
      await site.tend();
      site.later(input === 0 ? 8 : 0);
      states.push(shownBy(site));
      for (const [one, other] of states
        .slice(-2)
        .flatMap((server) => states.slice(-2).map((client) => [server, client] as const))) {
        expect(await handshake(one, other, MEMBER_NAME)).to.equal(null);
      }
      site.follow(0, 1, 2);
    }
    expect(new Set(states.map(({ ca }) => ca)).size).to.equal(2);
    expect(site.issuer).to.equal(site.trusted[1]);
  });

  it("stop waiting when the authority is about to expire", async () => {
    await site.tend();
    site.follow(0, 1, 2);
    site.members.delete(1);
    site.later(2 * 365 + 1);
    await site.tend();
    const [, next] = site.trusted;
    site.later(365 - 32);
    expect((await site.tend()).writes.map(({ name }) => name)).to.not.include("demo-ca");
    site.later(2);
    expect((await site.tend()).writes.map(({ name }) => name)).to.deep.equal(["demo-ca", "demo-server-tls"]);
    expect(site.issuer).to.equal(next);
  });

  it("come from a new authority that members trust first, when the key of the old one is lost", async () => {
    await site.tend();
    site.follow(0, 1, 2);
    const { serial } = site.shown;
    const { tls } = await site.tend();
    site.authority = null;
    expect((await site.tend()).tls).to.deep.equal(tls);
    expect([site.trusted.length, site.shown.serial]).to.deep.equal([2, serial]);
    site.later(MINUTE_DAYS * 2);
    await site.tend();
    expect(site.shown.serial, "before members trust it").to.equal(serial);
    site.follow(0, 1, 2);
    await site.tend();
    expect(site.shown.serial).to.not.equal(serial);
    expect(site.secret("authority", "next.key")).to.equal("");
  });

  it("come from such an authority only when the files that clients mount have followed, while there is a certificate", async () => {
    await site.tend();
    site.follow(0, 1, 2);
    const { serial } = site.shown;
    site.authority = null;
    await site.tend();
    site.follow(0, 1, 2);
    site.later(MINUTE_DAYS * 1.9);
    await site.tend();
    expect(site.shown.serial).to.equal(serial);
    site.later(MINUTE_DAYS * 0.1);
    await site.tend();
    expect(site.shown.serial).to.not.equal(serial);
  });

  it("are not touched while the Secret of the authority is incomplete, and the message contains nothing from it", async () => {
    await site.tend();
    const other = new Site();
    await other.tend();
    const secret = site.authority?.data ?? {};
    for (const [key, value] of [
      ["tls.key", other.authority?.data?.["tls.key"]],
      ["tls.crt", "eA=="],
      ["next.crt", secret["tls.crt"]],
    ] as const) {
      site.authority = { data: { ...secret, [key]: value ?? "" } };
      const { writes, problem } = await site.tend();
      expect([writes, problem?.reason], key).to.deep.equal([[], "AuthorityUnusable"]);
      expect(problem?.message).to.include("demo-ca").and.not.include("PRIVATE");
    }
  });

  for (const [certificateDays, renewBeforeDays, skippedDays] of [
    [825, 824, 230],
    [2, 1, 725],
  ] as const) {
    it(`are replaced in time, and once each time, with ${certificateDays} days of which ${renewBeforeDays} are left`, async () => {
      site.cluster = clusterOf({ tls: { mode: "Auto", certificateDays, renewBeforeDays } });
      await site.tend();
      site.follow(0, 1, 2);
      site.later(skippedDays);
      const serials = new Set<string>();
      const authorities = new Set(site.trusted);
      for (let day = 0; day < 30; day++) {
        const written: string[] = [];
        for (let input = 0; input < 3; input++) {
          written.push(...(await site.tend()).writes.map(({ name }) => name));
          site.follow(0, 1, 2);
          authorities.add(site.trusted.at(-1) ?? "");
        }
        expect(written.filter((name) => name === "demo-server-tls").length, `day ${day}`).to.be.within(1, 2);
        expect((await site.tend()).writes, `day ${day}`).to.deep.equal([]);
        expect(site.shown.notAfter).to.be.greaterThan(site.now + DAY_MS);
        serials.add(site.shown.serial);
        site.later(1);
      }
      expect([serials.size, authorities.size]).to.deep.equal([30, 2]);
    });
  }
});

describe("certificates that come from elsewhere", () => {
  const TLS = { certificateDays: 90, renewBeforeDays: 30 };
  const NAMES = ["*.demo-peers.default.svc", "*.demo-peers.default.svc.cluster.local"];
  const ALL = [
    ...[...NAMES, "localhost"],
    ...["demo", "demo-leader"].flatMap((name) =>
      ["", ".default", ".default.svc", ".default.svc.cluster.local"].map((rest) => name + rest),
    ),
  ];
  let site: Site;
  let authority: Awaited<ReturnType<typeof makeAuthority>>;

  beforeEach(async () => {
    site = new Site();
    site.cluster = clusterOf({ tls: { mode: "Secret", secretName: "mine", ...TLS } });
    authority = await makeAuthority("corporate", { now: START, days: 900 });
  });

  async function give(dnsNames = ALL, changes: Record<string, string> = {}, now = START): Promise<void> {
    const { certificate, key } = await issue(authority, "given", dnsNames, { now, days: 90 });
    const texts = { "tls.crt": certificate, "tls.key": key, "ca.crt": authority.certificate, ...changes };
    const data = Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
    site.server = { metadata: { resourceVersion: "given" }, data: Object.fromEntries(data) };
  }

  it("are trusted as they come, and written nowhere else", async () => {
    await give();
    const { writes, problem, tls } = await site.tend();
    expect(writes.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(["ConfigMap demo-ca"]);
    expect([problem, site.trusted.length]).to.deep.equal([null, 1]);
    expect(Date.parse(tls?.notAfter ?? "")).to.be.closeTo(START + 90 * DAY_MS, 2_000);
    expect((await site.tend()).writes).to.deep.equal([]);
  });

  it("are trusted in addition to the old ones, until all members have shown the new certificate for a week", async () => {
    await give();
    await site.tend();
    const [first] = site.trusted;
    authority = await makeAuthority("another", { now: START, days: 900 });
    await give();
    await site.tend();
    expect([site.trusted.length, site.trusted[0]]).to.deep.equal([2, first]);
    site.follow(0, 1, 2);
    site.later(6);
    expect((await site.tend()).writes).to.deep.equal([]);
    site.later(2);
    await site.tend();
    expect(site.trusted).to.have.length(1).and.not.include(first);
  });

  it("are missed by the name of their Secret, and with cert-manager by that of the Certificate", async () => {
    expect((await site.tend()).problem).to.deep.equal({
      reason: "CertificateMissing",
      message: "there is no Secret mine",
    });
    const issuerRef = { name: "internal", kind: "Issuer", group: "cert-manager.io" } as const;
    site.cluster = clusterOf({ tls: { mode: "CertManager", issuerRef, ...TLS } });
    expect((await site.tend()).problem?.message)
      .to.include("demo-server-tls")
      .and.include("certificate demo-server");
    await give();
    expect((await site.tend()).problem).to.equal(null);
  });

  it("are refused with the problem, and the trusted authorities stay", async () => {
    await give();
    await site.tend();
    const trust = site.trust;
    const other = await makeAuthority("other", { now: START, days: 900 });
    const wrongs: [string, () => Promise<void>][] = [
      ["holds no certificate", () => give(ALL, { "tls.crt": "" })],
      [
        "cannot be read",
        () => give(ALL, { "tls.crt": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----" }),
      ],
      ["holds no certificate", () => give(ALL, { "tls.crt": "nothing" })],
      ["that of another certificate", () => give(ALL, { "tls.key": other.key })],
      ["has no authority", () => give(ALL, { "ca.crt": "" })],
      ["leads to no authority", () => give(ALL, { "ca.crt": other.certificate })],
      ["valid from", () => give(ALL, {}, START - 91 * DAY_MS)],
      ["is not for *.demo-peers.default.svc.cluster.local", () => give(ALL.filter((name) => name !== NAMES[1]))],
    ];
    for (const [words, spoil] of wrongs) {
      await spoil();
      const { writes, problem } = await site.tend();
      expect([writes, problem?.reason], words).to.deep.equal([[], "CertificateUnusable"]);
      expect(problem?.message).to.include(words).and.include("mine").and.not.include("PRIVATE");
    }
    expect(site.trust).to.equal(trust);
  });

  it("are none without TLS", async () => {
    site.cluster = clusterOf({ tls: { mode: "Off", ...TLS } });
    await give();
    expect(await site.tend()).to.deep.equal({ writes: [], problem: null, tls: null, renewed: false });
  });
});
