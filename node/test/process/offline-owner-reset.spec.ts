/** `quoin-node reset-owner`: restores access for the owner of a stopped member, and changes no other directory. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { generateApiKey } from "../../src/access/index.ts";
import {
  ClusterUnderTest,
  type Ended,
  flipInPlace,
  type Listening,
  MEMBER_PROGRAM,
  MemberUnderTest,
  segmentsOf,
  TestProcess,
} from "../harness/index.ts";

const EMAIL = "owner@quoin.test";
const OLD_PASSWORD = "a long password";
const NEW_PASSWORD = "another long password";
const REFUSED_PASSWORD = "a password that nobody gets";

describe("the reset of the owner on a stopped member", function () {
  this.timeout(180_000);
  let directory: string;
  let passwordFile: string;
  const running = TestProcess.ofEachTest();
  let member: MemberUnderTest;

  beforeEach(() => {
    directory = temporaryDirectory();
    passwordFile = join(directory, "password");
    writeFileSync(passwordFile, `${NEW_PASSWORD}\n`, { mode: 0o600 });
    member = new MemberUnderTest(join(directory, "member"));
  });

  afterEach(() => member.kill());

  async function run(args: readonly string[], input = ""): Promise<Ended & { stdout: string; stderr: string }> {
    const child = new TestProcess(MEMBER_PROGRAM, ["reset-owner", ...args], { input });
    running.push(child);
    const ended = await child.ended;
    const { stdout, stderr } = child;
    for (const secret of [NEW_PASSWORD, REFUSED_PASSWORD]) {
      expect(`${stdout}${stderr}`, "no secret is printed").to.not.include(secret);
    }
    return { ...ended, stdout, stderr };
  }

  function flags(dataDirectory: string, { name = "q-0", clusterName = "quoin", email = EMAIL } = {}): string[] {
    return ["--name", name, "--cluster-name", clusterName, "--data-dir", dataDirectory, "--email", email];
  }

  async function refusal(code: number, args: readonly string[], input = ""): Promise<string> {
    const ended = await run(args, input);
    expect(ended.code, ended.stderr).to.equal(code);
    expect(ended.stdout).to.equal("");
    return ended.stderr;
  }

  async function stopInOrder(): Promise<void> {
    member.process.signal("SIGTERM");
    expect((await member.process.ended).code).to.equal(0);
  }

  async function login({ http }: Listening, password: string, email = EMAIL): Promise<Response> {
    return fetch(`http://${http}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
  }

  async function listKeys({ http }: Listening, token: string): Promise<number> {
    return (await fetch(`http://${http}/keys`, { headers: { authorization: `Bearer ${token}` } })).status;
  }

  async function tokenOfLogin(listening: Listening, password: string, email = EMAIL): Promise<string> {
    const answer = await login(listening, password, email);
    expect(answer.status).to.equal(200);
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  it("gives the owner a new password, which ends earlier logins, makes another owner, and changes no directory that it refuses", async () => {
    const before = await member.start();
    const oldToken = await tokenOfLogin(before, OLD_PASSWORD);
    expect(await listKeys(before, oldToken)).to.equal(200);
    // As after a crash: the last applied entries are in the log alone.
    await member.kill();

    const apiKey = generateApiKey();
    const apiKeyFile = join(directory, "api-key");
    writeFileSync(apiKeyFile, `${apiKey}\n`, { mode: 0o600 });
    const args = [...flags(member.dataDirectory), "--password-file", passwordFile, "--api-key-file", apiKeyFile];
    const ended = await run(args);
    expect(ended, ended.stderr).to.deep.include({ code: 0, signal: null, stderr: "" });
    expect(ended.stdout).to.match(
      /^quoin-node: the owner owner@quoin\.test has a new password \(user .+, as before\)\n$/,
    );
    expect(ended.stdout).to.not.include(apiKey);

    const after = await member.start();
    expect((await login(after, OLD_PASSWORD)).status).to.equal(401);
    expect(await listKeys(after, oldToken)).to.equal(401);
    expect(await listKeys(after, await tokenOfLogin(after, NEW_PASSWORD))).to.equal(200);
    const exchange = await fetch(`http://${after.http}/auth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: apiKey }),
    });
    expect(exchange.status).to.equal(200);
    // API keys stay.
    expect(await listKeys(after, await member.token(after))).to.equal(200);

    await refuseDirectories();
    await addOwner();
  });

  /** Refuses the directory while the member runs; then stops it, and refuses the directory for other reasons. */
  async function refuseDirectories(): Promise<void> {
    const { dataDirectory } = member;
    const refusedFile = join(directory, "refused-password");
    writeFileSync(refusedFile, `${REFUSED_PASSWORD}\n`, { mode: 0o600 });
    const args = [...flags(dataDirectory), "--password-file", refusedFile];
    expect(await refusal(71, args))
      .to.include("another process uses")
      .and.to.include("Stop that process");
    await stopInOrder();

    const other = [...flags(dataDirectory, { name: "q-7" }), "--password-file", refusedFile];
    expect(await refusal(73, other)).to.include('belongs to member "q-0" of cluster "quoin", not to "q-7"');
    const mirror = readFileSync(join(dataDirectory, "fence"));
    const identity = readFileSync(join(dataDirectory, "identity"));

    const [damaged] = segmentsOf(dataDirectory) as [string];
    const whole = readFileSync(damaged);
    // In the first record.
    flipInPlace(damaged, 8 * 200);
    expect(await refusal(73, args))
      .to.include("has lost acknowledged data")
      .and.to.include("restore the directory");
    expect(readFileSync(join(dataDirectory, "fence"))).to.deep.equal(mirror);
    expect(readFileSync(join(dataDirectory, "identity"))).to.deep.equal(identity);
    writeFileSync(damaged, whole);
  }

  /** Makes an owner of another address, with the password from standard input, and again without harm. */
  async function addOwner(): Promise<void> {
    const email = "second@quoin.test";
    for (const word of ["new", "as before"]) {
      const ended = await run(flags(member.dataDirectory, { email }), `${NEW_PASSWORD}\n`);
      expect(ended.code, ended.stderr).to.equal(0);
      expect(ended.stdout).to.include(`, ${word})`);
    }
    const after = await member.start();
    const token = await tokenOfLogin(after, NEW_PASSWORD, email);
    const users = await fetch(`http://${after.http}/users`, { headers: { authorization: `Bearer ${token}` } });
    const listed = (await users.json()) as { users: { email: string; role: string; status: string }[] };
    expect(listed.users.find((user) => user.email === email)).to.include({ role: "owner", status: "active" });
    expect((await login(after, NEW_PASSWORD)).status, "the first owner stays").to.equal(200);
  }

  it("refuses a directory without a cluster, and makes none", async () => {
    const args = (dataDirectory: string) => [...flags(dataDirectory), "--password-file", passwordFile];
    const missing = join(directory, "missing");
    expect(await refusal(73, args(missing))).to.include("holds no member's data");
    expect(existsSync(missing)).to.equal(false);
    const empty = join(directory, "empty");
    mkdirSync(empty);
    expect(await refusal(73, args(empty))).to.include("holds no member's data");
    expect(readdirSync(empty)).to.deep.equal([]);

    member.spawn();
    await member.untilListening();
    await stopInOrder();
    expect(await refusal(73, args(member.dataDirectory))).to.include("belongs to no cluster yet");
  });

  it("names the flag that is wrong, and never a secret, before it looks at the directory", async () => {
    const args = flags(member.dataDirectory);
    expect(await refusal(76, args, "short\n")).to.include("--password-file must");
    expect(await refusal(76, [...args, "--password-file", join(directory, "none")])).to.include("cannot be read");
    expect(await refusal(76, [...args, "--api-key-file", "-"], "x")).to.include("standard input has only one secret");
    const noKey = [...args, "--password-file", passwordFile, "--api-key-file", "-"];
    const message = await refusal(76, noKey, "hunter2\n");
    expect(message).to.include("--api-key-file must have the form").and.to.not.include("hunter2");
    expect(await refusal(76, ["--name", "q-0", "--data-dir", directory, "--email", "nobody"])).to.include("--email");
    expect(await refusal(76, ["--name", "q-0", "--email", EMAIL])).to.include("--data-dir");
    const help = await run(["--help"]);
    expect(help.code).to.equal(0);
    expect(help.stdout).to.include("--password-file");
  });

  it("serves the sole voter beside a learner, and refuses a learner, one of two voters, and a removed member", async () => {
    await ClusterUnderTest.with(1, async (cluster) => {
      const [founder] = cluster.members;
      const args = (name: string) => [
        ...flags(cluster.member(name).dataDirectory, { name, clusterName: "under-test" }),
        ...["--password-file", passwordFile],
      ];
      const needsOthers = "is not the only voter of its cluster";
      await cluster.add("q-1");
      await cluster.untilCaughtUp("q-1");
      await cluster.member("q-1").stop();
      expect(await refusal(73, args("q-1")), "a learner").to.include(needsOthers);
      await founder?.stop();
      const sole = await run(args("q-0"));
      expect(sole.code, sole.stderr).to.equal(0);

      founder?.start();
      cluster.member("q-1").start();
      await cluster.promote("q-1");
      await cluster.untilStable();
      await Promise.all(cluster.members.map((each) => each.stop()));
      for (const name of ["q-0", "q-1"]) {
        const message = await refusal(73, args(name));
        expect(message).to.include(needsOthers).and.to.include("quoinctl owner reset");
      }

      for (const each of cluster.members) {
        each.start();
      }
      await cluster.untilReady();
      // Either may lead after the restart, and the leader cannot be removed.
      await cluster.transfer("q-0");
      await cluster.remove("q-1");
      await cluster.member("q-1").untilState("MEMBER_REMOVED");
      await cluster.member("q-1").stop();
      expect(await refusal(74, args("q-1"))).to.include("was removed from its cluster");
      const { http } = cluster.member("q-0").ports;
      const url = `http://${cluster.member("q-0").host}:${http}/auth/login`;
      const body = JSON.stringify({ email: cluster.owner.email, password: NEW_PASSWORD });
      const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
      expect(answer.status, "the sole voter's reset has reached the others").to.equal(200);
    });
  });
});
