/** The program of one member: its start, its output, its end. */

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { createClient } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../../src/raft/index.ts";
import { CLUSTER_VERSIONS, encodeCommand } from "../../src/state/index.ts";
import { openDataDirectory, StoppedMember } from "../../src/storage/index.ts";
import { MemberUnderTest, TestProcess } from "../harness/index.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const ANY_PORTS = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"];

describe("the program of a member", function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();

  function run(...args: string[]): TestProcess {
    return runWith({}, ...args);
  }

  /** With more variables in the environment. */
  function runWith(variables: Readonly<Record<string, string>>, ...args: string[]): TestProcess {
    const child = new TestProcess(MAIN, args, { env: { ...process.env, ...variables } });
    running.push(child);
    return child;
  }

  it("says what is wrong with its flags, with exit code 76", async () => {
    const child = run("--name", "q-0");
    expect(await child.ended).to.deep.equal({ code: 76, signal: null });
    expect(child.stderr).to.include("--data-dir");
  });

  it("prints its flags and its version", async () => {
    const help = run("--help");
    expect((await help.ended).code).to.equal(0);
    expect(help.stdout)
      .to.include("--accept-missing-fence")
      .and.to.include("--until-stdin-ends")
      .and.to.include("--join-token-file");
    const version = run("--version");
    expect((await version.ended).code).to.equal(0);
    expect(version.stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  it("refuses data that it does not understand, with exit code 73, and leaves it alone", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "holiday.jpg"), "a picture");
    const child = run("--name", "q-0", "--data-dir", directory, ...ANY_PORTS);
    expect(await child.ended).to.deep.equal({ code: 73, signal: null });
    expect(child.stdout).to.include("has no identity and is not empty").and.to.include("holiday.jpg");
  });

  it("ends with exit code 75 where its log raises the cluster version beyond what it knows, and loses nothing", async () => {
    const member = new MemberUnderTest(temporaryDirectory());
    try {
      const listening = await member.start();
      const credentials = { token: await member.token(listening) };
      const client = createClient({ endpoints: [listening.grpc], credentials });
      await client.keyValue.put("default", "key", Buffer.from("value"));
      client.close();
      await member.kill();
      await logRaise(member.dataDirectory);
      for (const time of ["once", "again"]) {
        member.spawn();
        expect(await member.process.ended, time).to.deep.equal({ code: 75, signal: null });
        expect(member.process.stdout)
          .to.include(`another release is needed: the cluster has raised its version to ${CLUSTER_VERSIONS.max + 1}`)
          .and.to.include(`this release knows the cluster versions ${CLUSTER_VERSIONS.min} to ${CLUSTER_VERSIONS.max}`)
          .and.to.include("use the release that the other members run");
      }
      const stopped = await StoppedMember.open(member.dataDirectory, { acceptRetired: false });
      expect(stopped.facts.cluster?.version).to.equal(CLUSTER_VERSIONS.max);
      expect([...stopped.unapplied()].length).to.be.greaterThan(0);
      await stopped.close();
    } finally {
      await member.kill();
    }
  });

  /** The entry of a later release, behind all that this member has in its log. */
  async function logRaise(directory: string): Promise<void> {
    const opened = await openDataDirectory({
      directory,
      clusterName: "quoin",
      name: "q-0",
      acceptMissingFence: false,
      onFatal: (error) => expect.fail(error.message),
    });
    const data = opened.phase === "member" ? opened.data : expect.fail(opened.phase);
    const { last, lastTerm: term, writeSeq } = data.log.meta;
    const operation = { kind: "set-cluster-version", version: CLUSTER_VERSIONS.max + 1 } as const;
    const row = encodeEntry(
      EntryType.Command,
      NO_ENVELOPE,
      encodeCommand({ principal: null, request: null, operation }),
    );
    sealEntry(row, term, last + 1, crc32);
    const write = { writeSeq: writeSeq + 1, term, vote: 0, commit: last, from: last + 1, rows: [row], resetTo: null };
    await new Promise<void>((resolve) => data.log.write(write, () => resolve()));
    await data.close();
  }

  it("names the place that it cannot use, with exit code 71", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "file"), "");
    const child = run("--name", "q-0", "--data-dir", join(directory, "file", "data"), ...ANY_PORTS);
    expect(await child.ended).to.deep.equal({ code: 71, signal: null });
    expect(child.stdout).to.include(join(directory, "file"));
  });

  it("names the flag and the port that is in use, with exit code 76", async () => {
    const directory = temporaryDirectory();
    const tokens = join(directory, "tokens");
    writeFileSync(tokens, "a token\n", { mode: 0o600 });
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const flags = ["--grpc", "--http", "--peer", "--admin", "--health"];
      for (const used of flags) {
        const ports = flags.flatMap((flag) => [flag, `127.0.0.1:${flag === used ? port : 0}`]);
        const child = run(
          ...["--name", "q-0", "--data-dir", join(directory, `data${used}`), ...ports],
          ...["--admin-token-file", tokens, "--join-token-file", tokens],
        );
        expect(await child.ended, used).to.deep.equal({ code: 76, signal: null });
        expect(child.stderr).to.include(used).and.to.include(`port ${port} is in use`);
      }
    } finally {
      server.close();
    }
  });

  it("names the file with join tokens or certificates that it cannot use, with exit code 76", async () => {
    const directory = temporaryDirectory();
    const tokens = join(directory, "tokens");
    const flags = ["--name", "q-0", "--data-dir", join(directory, "data"), ...ANY_PORTS, "--peer", "127.0.0.1:0"];
    const missing = run(...flags, "--join-token-file", tokens);
    expect((await missing.ended).code).to.equal(76);
    expect(missing.stderr).to.include(tokens);
    writeFileSync(tokens, "\n", { mode: 0o600 });
    const empty = run(...flags, "--join-token-file", tokens);
    expect((await empty.ended).code).to.equal(76);
    expect(empty.stderr).to.include(tokens).and.to.include("no join token");
    writeFileSync(tokens, "the secret\n", { mode: 0o600 });
    const certificate = ["--peer-cert", tokens, "--peer-key", tokens, "--peer-ca", tokens, "--peer-join-name", "q"];
    const wrong = run(...flags, "--join-token-file", tokens, ...certificate);
    expect((await wrong.ended).code).to.equal(76);
    expect(wrong.stderr).to.include("certificate").and.to.not.include("secret");
  });

  it("starts without traces, and names the variable, where the environment asks for a protocol that it does not speak", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "holiday.jpg"), "a picture");
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      QUOIN_BACKUP_STORE: "",
      QUOIN_BACKUP_ARCHIVE: "false",
      QUOIN_RESTORE_KEEP_SIGNING_KEYS: "0",
    };
    const flags = ["--name", "q-0", "--data-dir", directory, ...ANY_PORTS];
    // The data is refused: the process ends before it listens anywhere.
    const child = runWith(variables, ...flags);
    expect(await child.ended, child.stderr).to.deep.equal({ code: 73, signal: null });
    expect(child.stdout).to.include("OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json, not grpc");
    const asked = runWith(variables, ...flags, "--trace-endpoint", "http://127.0.0.1:4318");
    expect(await asked.ended).to.deep.equal({ code: 76, signal: null });
    expect(asked.stderr).to.include("OTEL_EXPORTER_OTLP_PROTOCOL");
    const wrong = runWith({ ...variables, QUOIN_BACKUP_ARCHIVE: "nope" }, ...flags);
    expect(await wrong.ended).to.deep.equal({ code: 76, signal: null });
    expect(wrong.stderr).to.include("QUOIN_BACKUP_ARCHIVE").and.to.include("It must be true, 1, yes or on");
  });

  it("warns when members would talk in plain text over a network, and not on this machine alone", async () => {
    const directory = temporaryDirectory();
    const tokens = join(directory, "tokens");
    writeFileSync(tokens, "the secret\n", { mode: 0o600 });
    for (const [host, warns] of [
      ["0.0.0.0", true],
      ["127.0.0.1", false],
    ] as const) {
      // The data is refused: the process ends before it listens anywhere.
      const child = run(
        ...["--name", "q-0", "--data-dir", directory, ...ANY_PORTS, "--join-token-file", tokens],
        ...["--peer", `${host}:0`, "--advertise-peer", "127.0.0.1:7402"],
      );
      expect((await child.ended).code, child.stdout).to.equal(73);
      expect(child.stdout.includes("plain text"), host).to.equal(warns);
      expect(child.stdout).to.not.include("secret");
    }
  });

  it("stays up with an admin port, unready, when its data is another member's", async () => {
    const directory = temporaryDirectory();
    const data = join(directory, "data");
    mkdirSync(data);
    writeFileSync(join(data, "holiday.jpg"), "a picture");
    const tokenFile = join(directory, "tokens");
    writeFileSync(tokenFile, "a token\n", { mode: 0o600 });
    const child = run(
      ...["--name", "q-0", "--data-dir", data, ...ANY_PORTS],
      ...["--admin", "127.0.0.1:0", "--admin-token-file", tokenFile, "--health", "127.0.0.1:0"],
    );
    await child.untilPrinted('"msg":"listening"');
    const line = child.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    const { health } = JSON.parse(line);
    expect((await fetch(`http://${health}/livez`)).status).to.equal(200);
    const ready = await fetch(`http://${health}/readyz?verbose`);
    expect(ready.status).to.equal(503);
    expect(await ready.text()).to.include("MEMBER_REFUSED");
    const metrics = await (await fetch(`http://${health}/metrics`)).text();
    expect(metrics).to.match(/^quoin_event_loop_delay_max_seconds [0-9.e-]+$/m);
    child.signal("SIGTERM");
    expect(await child.ended).to.deep.equal({ code: 0, signal: null });
  });

  it("finishes its work and ends with exit code 0 on each signal to stop", async () => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      const member = new MemberUnderTest(temporaryDirectory());
      try {
        await member.start();
        member.process.signal(signal);
        expect(await member.process.ended, signal).to.deep.equal({ code: 0, signal: null });
        expect(member.process.stdout).to.include('"msg":"stopped"');
      } finally {
        await member.kill();
      }
    }
  });

  it("opens no debugger at SIGUSR1, and serves on", async () => {
    const member = new MemberUnderTest(temporaryDirectory());
    try {
      const { health } = await member.start();
      member.process.signal("SIGUSR1");
      // The signal arrives before the next one that the member listens to.
      expect((await fetch(`http://${health}/livez`)).status).to.equal(200);
      member.process.signal("SIGTERM");
      expect(await member.process.ended).to.deep.equal({ code: 0, signal: null });
      expect(member.process.stderr).to.not.include("Debugger");
    } finally {
      await member.kill();
    }
  });

  it("logs lines of JSON without a secret in them", async () => {
    const member = new MemberUnderTest(temporaryDirectory());
    try {
      const listening = await member.start();
      const token = await member.token(listening);
      const body = JSON.stringify({ api_key: "qk_aaaaaaaa_wrong" });
      await fetch(`http://${listening.http}/auth/token`, { method: "POST", body });
      member.process.signal("SIGTERM");
      await member.process.ended;
      for (const line of member.process.stdout.trimEnd().split("\n")) {
        expect(JSON.parse(line)).to.include.keys("level", "time", "member", "msg");
      }
      expect(member.process.stdout).to.not.include(token);
      expect(member.process.stdout).to.not.include("qk_");
    } finally {
      await member.kill();
    }
  });
});
