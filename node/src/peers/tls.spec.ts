import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import {
  type DoubleOptions,
  incarnationOf,
  PeerMemberDouble,
  RawPeer,
  TestAuthority,
  until,
  whyNoCertificates,
} from "../../test/peers/index.ts";
import { FrameType } from "./frame-type.ts";
import type { TlsFilePaths } from "./tls-files.ts";
import { TlsFilesError } from "./tls-files.ts";

const { Heartbeat } = FrameType;
const PATTERN = "*.peers.example";

/** All names lead to this machine; only certificates distinguish members. */
const lookup: NonNullable<DoubleOptions["lookup"]> = (_host, _options, callback) => {
  callback(null, [{ address: "127.0.0.1", family: 4 }]);
};

describe("TLS between members", function () {
  this.timeout(30_000);
  const members: PeerMemberDouble[] = [];
  let authority: TestAuthority;

  before(function () {
    const reason = whyNoCertificates();
    if (reason !== null) {
      console.log(`      skipped: ${reason}`);
      this.skip();
    }
    authority = new TestAuthority(temporaryDirectory(), "authority");
  });

  afterEach(async () => {
    for (const member of members.splice(0)) {
      await member.transport.stop();
    }
  });

  /** Copies a set to separate paths, so that a spec can replace it there. */
  function place(set: TlsFilePaths, directory = temporaryDirectory()): TlsFilePaths {
    const placed = {
      certificate: join(directory, "tls.crt"),
      key: join(directory, "tls.key"),
      authorities: join(directory, "ca.crt"),
    };
    for (const name of ["certificate", "key", "authorities"] as const) {
      copyFileSync(set[name], placed[name]);
    }
    return placed;
  }

  async function start(memberId: number, files: TlsFilePaths, options: DoubleOptions = {}): Promise<PeerMemberDouble> {
    const tls = { files, joinNamePattern: PATTERN };
    const member = await PeerMemberDouble.start(memberId, { lookup, host: host(memberId), tls, ...options });
    members.push(member);
    return member;
  }

  function host(memberId: number): string {
    return `q-${memberId}.peers.example`;
  }

  /** Members 1 and 2, connected, with certificates for their names in files of their own. */
  async function pair(
    limits: DoubleOptions["limits"] = {},
  ): Promise<[PeerMemberDouble, PeerMemberDouble, TlsFilePaths, TlsFilePaths]> {
    const files = [1, 2].map((memberId) => place(authority.issue(`q-${memberId}`, [`DNS:${host(memberId)}`])));
    const [first, second] = files as [TlsFilePaths, TlsFilePaths];
    const one = await start(1, first, { limits });
    const two = await start(2, second, { limits });
    one.knows(two.listed);
    two.knows(one.listed);
    await one.reaches(2);
    await two.reaches(1);
    return [one, two, first, second];
  }

  async function exchange(one: PeerMemberDouble, two: PeerMemberDouble, text: string): Promise<void> {
    expect(one.sendText(two.memberId, "control", Heartbeat, text)).to.equal(true);
    expect(two.sendText(one.memberId, "control", Heartbeat, text)).to.equal(true);
    await until(`${text} to arrive on both sides`, () => {
      return (
        one.receivedTexts(two.memberId, "control").includes(text) &&
        two.receivedTexts(one.memberId, "control").includes(text)
      );
    });
  }

  it("carries frames between members that verify each other", async () => {
    const [one, two] = await pair();
    await exchange(one, two, "hello");
    const large = "x".repeat(3 * 1024 * 1024);
    one.sendText(2, "log", FrameType.Append, large);
    await until("a large frame", () => two.receivedTexts(1, "log")[0] === large);
  });

  it("verifies the certificate for the name, also of a member that announces an address", async () => {
    const [first, second, other] = ["q-1", "q-2", "q-9"].map((name) =>
      authority.issue(name, [`DNS:${name}.peers.example`]),
    );
    const one = await start(1, first as TlsFilePaths);
    const two = await start(2, second as TlsFilePaths, { dialHint: "127.0.0.1" });
    one.knows(two.listed);
    two.knows(one.listed);
    await one.reaches(2);
    await two.transport.stop();
    // A process with a certificate for another name listens there now.
    await start(2, other as TlsFilePaths, { port: two.port });
    // Only a lost connection is dialed again, some time after the loss.
    await until("the loss", () => one.logLines.join().includes("the connection to a member is lost"));
    one.clock.advance(4_000);
    await until("a refusal", () => one.logLines.join().includes("the certificate is not for q-2.peers.example"));
  });

  it("does not warn of a connection that ends before TLS is done, as superseded dials do", async () => {
    const one = await start(1, authority.issue("q-1", ["DNS:q-1.peers.example"]));
    const raw = await RawPeer.open(one.port);
    // The beginning of a record: the server waits for the rest.
    raw.socket.end(Buffer.from([0x16, 0x03, 0x01]));
    await until("its end", () => one.logLines.some((line) => line.includes("in TLS")));
    expect(one.warnings).to.deep.equal([]);
    raw.socket.destroy();
  });

  it("carries snapshots and questions for slots", async () => {
    const [one, two] = await pair();
    const sender = one.transport.openSnapshot(2);
    const sending = sender.write(FrameType.SnapshotChunk, Buffer.alloc(3 * 1024 * 1024, 7)).then(() => sender.end());
    const { receiver } = await until("the snapshot", () => two.snapshots[0]);
    expect((await receiver.read())?.body.length).to.equal(3 * 1024 * 1024);
    expect(await receiver.read()).to.equal(null);
    await sending;
    const joining = await start(0, authority.issue("q-3", ["DNS:q-3.peers.example"]));
    const request = {
      clusterName: "demo",
      clusterId: null,
      memberId: 0,
      name: "q-3",
      incarnation: incarnationOf(3),
      endpoints: { peerEndpoint: "q-3.peers.example:7402", grpcEndpoint: "", httpEndpoint: "" },
      versions: { min: 1, max: 1 },
    };
    expect(await joining.transport.askToJoin(one.listed.address, request)).to.deep.equal({ result: "NO_SLOT" });
    const stranger = await start(9, authority.issue("other", ["DNS:q-3.other.example"]));
    const asking = stranger.transport.askToJoin(one.listed.address, request);
    expect(await asking.catch((error: Error) => error.message)).to.include("no answer");
    expect(one.logLines.join()).to.include("a certificate that is not for the member");
  });

  it("counts only open connections among those that have not introduced themselves", async () => {
    const one = await start(1, authority.issue("q-1", [`DNS:${host(1)}`]), { limits: { handshakesMax: 2 } });
    const files = authority.issue("q-3", ["DNS:q-3.peers.example"]);
    const joining = await start(0, files);
    const request = {
      clusterName: "demo",
      clusterId: null,
      memberId: 0,
      name: "q-3",
      incarnation: incarnationOf(3),
      endpoints: { peerEndpoint: "q-3.peers.example:7402", grpcEndpoint: "", httpEndpoint: "" },
      versions: { min: 1, max: 1 },
    };
    for (let round = 0; round < 6; round++) {
      await until("an answer", () => joining.transport.askToJoin(one.listed.address, request).catch(() => null));
    }
    // The same for connections that end before TLS has begun.
    for (let round = 0; round < 6; round++) {
      const plain = await RawPeer.open(one.port);
      plain.socket.destroy();
    }
    await until("an answer", () => joining.transport.askToJoin(one.listed.address, request).catch(() => null));
  });

  it("refuses a dialer whose certificate is not for the address of the member that it claims to be", async () => {
    const one = await start(1, authority.issue("q-1", [`DNS:${host(1)}`]));
    const two = await start(2, authority.issue("wrong-2", ["DNS:q-7.peers.example"]));
    one.directory.set(2, two.incarnation);
    two.directory.set(1, one.incarnation);
    one.transport.setPeers([one.listed, two.listed]);
    two.transport.setPeers([one.listed, two.listed]);
    await until("the refusal", () => one.logLines.join().includes("a certificate that is not for the member"));
    expect(one.connected).to.deep.equal([]);
    // Nor does the other side get through: the certificate does not contain the name that it dialed.
    await until("the other refusal", () => one.logLines.join().includes("is not for q-2.peers.example"));
    expect(two.refusals).to.deep.equal([]);
  });

  it("lets a member with an unknown id in by the pattern, until its address is known", async () => {
    const one = await start(1, authority.issue("q-1", [`DNS:${host(1)}`]));
    const two = await start(150, authority.issue("q-150", [`DNS:${host(150)}`]));
    two.knows(one.listed);
    await two.reaches(1);
    expect(one.connected[0]).to.include({ peer: 150 });
    const outside = await start(151, authority.issue("q-151", ["DNS:q-151.other.example"]));
    outside.knows(one.listed);
    await until("the refusal", () => one.logLines.join().includes("a certificate that is not for the member"));
    expect(one.connected.every(({ peer }) => peer === 150)).to.equal(true);
  });

  it("accepts wildcard names and addresses", async () => {
    const wildcard = authority.issue("wildcard", ["DNS:*.peers.example"]);
    const address = authority.issue("address", ["IP:127.0.0.1"]);
    const one = await start(1, wildcard);
    const two = await start(2, address, { host: "127.0.0.1" });
    one.knows(two.listed);
    two.knows(one.listed);
    await one.reaches(2);
    await two.reaches(1);
    await exchange(one, two, "both");
  });

  const untrusted: readonly (readonly [string, () => TlsFilePaths])[] = [
    [
      "of another authority",
      () => new TestAuthority(temporaryDirectory(), "another").issue("q-2", ["DNS:q-2.peers.example"]),
    ],
    ["that is only for servers", () => authority.issue("server", ["DNS:q-2.peers.example"], { usages: "serverAuth" })],
    ["with the name in its subject alone", () => authority.issue("q-2.peers.example", [])],
  ];
  for (const [what, files] of untrusted) {
    it(`refuses a dialer with a certificate ${what}`, async () => {
      const one = await start(1, authority.issue("q-1", [`DNS:${host(1)}`]));
      const two = await start(2, files());
      two.knows(one.listed);
      one.directory.set(2, two.incarnation);
      await until("two failed dials", () => two.clock.delaysMs.filter((delay) => delay === 50).length === 2);
      expect(one.connected).to.deep.equal([]);
      expect(two.connected).to.deep.equal([]);
    });
  }

  it("refuses plain text, TLS 1.2, and peers without a certificate", async () => {
    const one = await start(1, authority.issue("q-1", [`DNS:${host(1)}`]));
    one.directory.set(2, incarnationOf(2));
    const plain = await RawPeer.open(one.port);
    plain.hello(1);
    await plain.untilClosed();
    expect(plain.received.includes("the token")).to.equal(false);
    const { port } = one;
    const { certificate, key, authorities } = authority.issue("q-2", [`DNS:${host(2)}`]);
    const cert = { cert: readFileSync(certificate), key: readFileSync(key), ca: readFileSync(authorities) };
    for (const options of [{ ...cert, maxVersion: "TLSv1.2" as const }, { ca: cert.ca }]) {
      const socket = connectTls({ port, host: "127.0.0.1", servername: host(1), ...options });
      let isClosed = false;
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        isClosed = true;
      });
      await until("the member to close it", () => isClosed);
    }
    expect(one.connected).to.deep.equal([]);
  });

  it("takes new certificates and authorities without a restart and loses nothing (P50)", async () => {
    const [one, two, firstFiles, secondFiles] = await pair({ tlsRenewMs: 8_000 });
    const next = new TestAuthority(temporaryDirectory(), "next");
    const both = readFileSync(authority.certificate, "utf8") + readFileSync(next.certificate, "utf8");
    const said = new Map<PeerMemberDouble, string[]>([
      [one, []],
      [two, []],
    ]);
    // Advances a second at a time and on both sides, so that neither takes the other for dead. Every taken frame must
    // arrive.
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        one.clock.advance(1_000);
        two.clock.advance(1_000);
        for (const [from, to] of [
          [one, two],
          [two, one],
        ] as const) {
          const texts = said.get(from) as string[];
          for (let at = 0; at < 20; at++) {
            const text = `text ${texts.length}`;
            if (from.sendText(to.memberId, "control", Heartbeat, text)) {
              texts.push(text);
            }
          }
          await from.reaches(to.memberId);
          await until(
            "what was taken to arrive",
            () => to.receivedTexts(from.memberId, "control").length === texts.length,
          );
        }
      }
    };
    const rotate = async (change: () => void, rounds: number) => {
      const before = [one.connected.length, two.connected.length] as const;
      change();
      await pass(12);
      await until("new files to be used", () => {
        return [one, two].every(({ logLines }) => {
          return logLines.filter((line) => line.startsWith("new certificates")).length === rounds;
        });
      });
      // The random number is 0.5: connections are renewed after half the time.
      await pass(6);
      await until("new connections in both directions", () => {
        return one.connected.length >= before[0] + 4 && two.connected.length >= before[1] + 4;
      });
    };
    await rotate(() => {
      writeFileSync(firstFiles.authorities, both);
      writeFileSync(secondFiles.authorities, both);
    }, 1);
    await rotate(() => {
      for (const [files, memberId] of [
        [firstFiles, 1],
        [secondFiles, 2],
      ] as const) {
        const set = next.issue(`next-${memberId}`, [`DNS:${host(memberId)}`]);
        copyFileSync(set.key, files.key);
        copyFileSync(set.certificate, files.certificate);
      }
    }, 2);
    await rotate(() => {
      copyFileSync(next.certificate, firstFiles.authorities);
      copyFileSync(next.certificate, secondFiles.authorities);
    }, 3);
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(to.receivedTexts(from.memberId, "control")).to.deep.equal(said.get(from));
      expect(from.tlsProblems).to.deep.equal([]);
      expect(from.unsent).to.deep.equal([]);
    }
    // A certificate of the old authority belongs to a stranger now, one of the new authority does not.
    const late = await start(3, authority.issue("q-3", [`DNS:${host(3)}`]));
    late.knows(one.listed);
    await until("a failed dial", () => late.clock.delaysMs.includes(50));
    expect(late.connected).to.deep.equal([]);
    const welcome = await start(4, next.issue("q-4", [`DNS:${host(4)}`]));
    one.certainIndex = 3;
    welcome.knows(one.listed);
    await welcome.reaches(1);
  });

  it("renews connections before 80 % of the lives of their certificates are over (P50)", async () => {
    const [one] = await pair();
    const dayMs = 24 * 60 * 60 * 1_000;
    const delays = one.clock.delaysMs.filter((delay) => delay > dayMs);
    // Certificates live for 10 days here; the random number 0.5 takes 5 % off.
    expect(delays).to.have.length(2);
    for (const delay of delays) {
      expect(delay).to.be.within(7.5 * dayMs, 7.6 * dayMs);
    }
  });

  it("keeps the last good files while the present ones are wrong, and says so once", async () => {
    const [one, two, files] = await pair();
    const good = readFileSync(files.key);
    const other = authority.issue("unrelated", ["DNS:q-1.peers.example"]);
    const wrongs: readonly (readonly [() => void, string])[] = [
      [() => copyFileSync(other.key, files.key), "does not belong to the certificate"],
      [() => writeFileSync(files.key, "no key"), "cannot be read"],
      [() => writeFileSync(files.authorities, ""), "no certificate"],
      [
        () => copyFileSync(new TestAuthority(temporaryDirectory(), "alone").certificate, files.authorities),
        "does not lead to an authority",
      ],
    ];
    for (const [position, [spoil, problem]] of wrongs.entries()) {
      spoil();
      if (position > 1) {
        writeFileSync(files.key, good);
      }
      one.clock.advance(10_000);
      await until(problem, () => one.tlsProblems.length === position + 1);
      expect(one.tlsProblems.at(-1)).to.include(problem);
    }
    one.clock.advance(10_000);
    await until("another poll", () => one.clock.delaysMs.includes(10_000));
    expect(one.tlsProblems).to.have.length(wrongs.length);
    expect(one.tlsProblems.join()).not.to.include("PRIVATE");
    // A new connection is still verified by the last good set.
    const again = await start(3, authority.issue("q-3", [`DNS:${host(3)}`]));
    one.knows(two.listed, again.listed);
    again.knows(one.listed);
    await again.reaches(1);
    copyFileSync(authority.certificate, files.authorities);
    one.clock.advance(10_000);
    await until("the all-clear", () => one.tlsProblems.at(-1) === null);
  });

  it("does not start with files that are wrong", async () => {
    const files = authority.issue("q-1", [`DNS:${host(1)}`]);
    const two = readFileSync(files.authorities, "utf8").repeat(2);
    const half = join(temporaryDirectory(), "half-written");
    writeFileSync(half, two.slice(0, -100));
    const wrongs = [
      { ...files, authorities: half },
      { ...files, certificate: authority.issue("else", ["DNS:a.example"]).certificate },
      { ...files, authorities: join(temporaryDirectory(), "missing") },
      authority.issue("expired", [`DNS:${host(1)}`], { days: 0 }),
    ];
    for (const wrong of wrongs) {
      let error: unknown = null;
      try {
        await start(1, wrong);
      } catch (caught) {
        error = caught;
      }
      expect(error).to.be.instanceOf(Error);
      expect(error instanceof TlsFilesError || (error as NodeJS.ErrnoException).code === "ENOENT").to.equal(true);
    }
  });
});
