/** The examples of the SDK, and the related commands of quoinctl, as a reader runs them on three real members. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programOf, temporaryDirectory } from "../../../testing/index.ts";
import { ClusterUnderTest, QUOINCTL_PROGRAM, TestProcess, until } from "../harness/index.ts";
import { EXAMPLE_OUTPUTS } from "./example-outputs.ts";

const EXAMPLES = new URL("../../../client/examples/", import.meta.url);

/** Added to the number of the signal that has ended a command. */
const SIGNAL_CODE_BASE = 128;

describe("examples on three members", function () {
  // Starts and kills dozens of processes; the limit is for a busy machine.
  this.timeout(240_000);

  const running = TestProcess.ofEachTest();
  let cluster: ClusterUnderTest;
  let directory: string;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    directory = temporaryDirectory();
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster.dispose());

  async function start(program: string, args: readonly string[] = [], input?: string): Promise<TestProcess> {
    const env = {
      ...process.env,
      HOME: directory,
      QUOIN_ENDPOINTS: cluster.endpoints.join(","),
      QUOIN_TOKEN: await cluster.tokens.token(),
    };
    const child = new TestProcess(program, args, { cwd: directory, env, ...(input === undefined ? {} : { input }) });
    running.push(child);
    return child;
  }

  async function quoinctl(args: readonly string[], input?: string): Promise<TestProcess & { code: number | null }> {
    const child = await start(QUOINCTL_PROGRAM, args, input);
    const { code } = await child.ended;
    return Object.assign(child, { code });
  }

  async function printed(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await quoinctl(args, input);
    expect(code, stderr).to.equal(0);
    return stdout;
  }

  async function runExample(name: string): Promise<string[]> {
    const child = await start(fileURLToPath(new URL(name, EXAMPLES)));
    expect((await child.ended).code, child.stderr).to.equal(0);
    return child.stdout.trimEnd().split("\n");
  }

  for (const [name, lines] of Object.entries(EXAMPLE_OUTPUTS)) {
    it(`${name} does what it says`, async () => {
      expect(await runExample(name)).to.deep.equal(lines);
    });
  }

  it("can run again, with the locks that they have left behind", async () => {
    for (const name of ["locks.mjs", "election.mjs"]) {
      expect(await runExample(name)).to.deep.equal(EXAMPLE_OUTPUTS[name]);
    }
  });

  it("are all of them here", () => {
    const files = readdirSync(EXAMPLES).filter((name) => !["browser", "connect.mjs"].includes(name));
    expect(files.sort()).to.deep.equal(Object.keys(EXAMPLE_OUTPUTS).sort());
  });

  it("quoinctl lock run guards what its command writes, keeps others out meanwhile, and gives the lock back", async () => {
    await printed(["lock", "create", "default/run"]);
    const put = `"${process.execPath}" "${programOf(QUOINCTL_PROGRAM)}" kv put --guard "$QUOIN_LOCK=$QUOIN_FENCING_TOKEN" default/run mine`;
    const words = ["sh", "-c", `${put} && echo written && exec sleep 600`];
    const held = await start(QUOINCTL_PROGRAM, ["lock", "run", "default/run", "--", ...words]);
    await held.untilPrinted("written");
    const others = await quoinctl(["lock", "acquire", "default/run"]);
    expect(others.code).to.equal(4);
    const { holder } = JSON.parse(await printed(["lock", "describe", "default/run", "-o", "json"]));
    const token = holder.fencing_token;
    held.signal("SIGTERM");
    expect((await held.ended).code).to.equal(SIGNAL_CODE_BASE + 15);
    const late = await quoinctl(["kv", "put", "--guard", `run=${token}`, "default/run", "late"]);
    expect(late.code).to.equal(1);
    expect(late.stderr).to.include("(FENCED)");
    expect(await printed(["kv", "get", "default/run"])).to.equal("mine\n");
    expect(JSON.parse(await printed(["lock", "describe", "default/run", "-o", "json"])).state).to.equal("FREE");
  });

  it("quoinctl lock run terminates its command when the lock is taken away", async () => {
    await printed(["lock", "create", "default/forced"]);
    const words = ["sh", "-c", 'trap "echo ended; exit 0" TERM; echo running; while :; do sleep 0.05; done'];
    const held = await start(QUOINCTL_PROGRAM, ["lock", "run", "default/forced", "--ttl", "3", "--", ...words]);
    await held.untilPrinted("running");
    await printed(["lock", "force-release", "default/forced", "--reason", "a test"]);
    expect((await held.ended).code).to.equal(1);
    expect(held.stdout).to.include("ended");
    expect(held.stderr).to.include("(LOCK_LOST)");
  });

  it("quoinctl memory moves files in and out, and quoinctl watch prints changes of keys and locks", async () => {
    const { region_id: region } = JSON.parse(await printed(["memory", "allocate", "default", "9MiB", "-o", "json"]));
    const source = join(directory, "source");
    const target = join(directory, "target");
    const content = Buffer.alloc(9 * 1024 * 1024, "some bytes ");
    writeFileSync(source, content);
    await printed(["memory", "write", `default/${region}`, "--file", source]);
    await printed(["memory", "read", `default/${region}`, "--output-file", target]);
    expect(Buffer.compare(readFileSync(target), content)).to.equal(0);
    await printed(["memory", "free", `default/${region}`]);
    expect((await quoinctl(["memory", "describe", `default/${region}`])).code).to.equal(1);

    const keys = await start(QUOINCTL_PROGRAM, ["watch", "keys", "default/watched", "--limit", "2"]);
    const locks = await start(QUOINCTL_PROGRAM, ["watch", "locks", "default/watched", "--limit", "2"]);
    await until("the watches", () =>
      [keys, locks].every(({ stderr }) => stderr.includes("watching only default/watched from")),
    );
    await printed(["kv", "put", "default/watched", "1"]);
    await printed(["kv", "delete", "default/watched"]);
    expect((await keys.ended).code).to.equal(0);
    expect(keys.stdout).to.match(/^[0-9]+ {2}PUT {7}watched {2}1\n[0-9]+ {2}DELETE {4}watched\n$/);
    await printed(["lock", "create", "default/watched"]);
    const { fencing_token: held } = JSON.parse(await printed(["lock", "acquire", "default/watched", "-o", "json"]));
    expect((await quoinctl(["lock", "release", "default/watched"])).stderr).to.include("with --token");
    await printed(["lock", "release", "default/watched", "--token", String(held)]);
    expect((await locks.ended).code).to.equal(0);
    expect(locks.stdout).to.match(
      /^[0-9]+ {2}ACQUIRED {2}watched {2}token ([0-9]+) .*\n[0-9]+ {2}RELEASED {2}watched {2}token \1 .*\n$/,
    );
  });

  it("quoinctl log keeps events, one at a time or a batch of lines, and prints them as they come", async () => {
    await printed(["log", "create", "orders", "--max-bytes", "1MiB"]);
    await printed(["log", "append", "orders", "first", "--idempotency-key", "k"]);
    expect(await printed(["log", "append", "orders", "other", "--idempotency-key", "k"])).to.match(/\n1 +true\n$/);
    const late = await quoinctl(["log", "append", "orders", "late", "--if-sequence", "0"]);
    expect([late.code, late.stderr]).to.satisfy(([code, text]: [number, string]) => {
      return code === 4 && text.includes("(SEQUENCE_CONFLICT)");
    });
    const tail = await start(QUOINCTL_PROGRAM, ["log", "tail", "orders", "--limit", "2"]);
    await until("the tail", () => tail.stderr.includes("following from sequence 2"));
    expect(await printed(["log", "append-batch", "orders"], "second\nthird\n")).to.match(/\n2 +3 +false\n$/);
    expect((await tail.ended).code).to.equal(0);
    expect(tail.stdout).to.match(/^2 {2}\S+Z {2}\S+:0 {2}second\n3 {2}\S+Z {2}\S+:1 {2}third\n$/);
    const read = JSON.parse(await printed(["log", "read", "orders", "--limit", "1", "-o", "json"]));
    const [event] = read.events;
    expect([event.sequence, event.idempotency_key, event.payload_text]).to.deep.equal([1, "k", "first"]);
    expect(read.last_sequence).to.equal(3);
    const settings = ["--max-age", "168h", "--max-bytes", "none"];
    const changed = JSON.parse(await printed(["log", "settings", "orders", ...settings, "-o", "json"]));
    expect(changed.settings).to.deep.equal({
      "queue.duplicate_window_secs": null,
      "retention.max_age_secs": 604_800,
      "retention.max_bytes": null,
    });
    expect(await printed(["log", "list"])).to.match(/orders.* 3 +3 +16 B\n/);
    await printed(["log", "delete", changed.log_id]);
    expect((await quoinctl(["log", "describe", "orders"])).stderr).to.include("(LOG_NOT_FOUND)");
  });

  it("quoinctl manages API keys, users and settings, logs a user in, and prints the usage", async () => {
    const json = async (...args: string[]) => JSON.parse(await printed([...args, "-o", "json"]));
    const { api_key_id: keyId, key } = await json("key", "create", "ci");
    expect(await printed(["key", "list"]))
      .to.include(keyId)
      .and.not.include(key);
    expect((await json("key", "revoke", keyId)).api_key_id).to.equal(keyId);
    expect((await json("key", "list", "--revoked")).keys).to.satisfy((keys: { api_key_id: string }[]) =>
      keys.some((listed) => listed.api_key_id === keyId),
    );

    const { user_id: userId, status } = await json("user", "create", "eve@quoin.test", "--namespaces", "default");
    expect(status).to.equal("unverified");
    expect((await json("user", "update", userId, "--role", "viewer")).role).to.equal("viewer");
    expect(await printed(["user", "list"])).to.include("eve@quoin.test");
    await printed(["user", "delete", userId]);
    expect((await quoinctl(["user", "describe", userId])).stderr).to.include("(USER_NOT_FOUND)");

    const { email, password } = cluster.owner;
    const token = (await printed(["login", email, "--print-token"], `${password}\n`)).trimEnd();
    expect(token.split(".")).to.have.length(3);
    const refused = await quoinctl(["login", email], "another password\n");
    expect([refused.code, refused.stderr.includes("(INVALID_CREDENTIALS)")]).to.deep.equal([1, true]);

    const put = await json("settings", "put", "token.lifetime_secs=600");
    expect(
      JSON.parse(await printed(["login", email, "--print-token", "-o", "json"], `${password}\n`)).expires_in,
    ).to.equal(600);
    const late = await quoinctl(["settings", "put", "token.lifetime_secs=default", "--if-settings-revision", "999"]);
    expect([late.code, late.stderr.includes("(SETTINGS_CHANGED)")]).to.deep.equal([4, true]);
    const back = await json("settings", "put", "token.lifetime_secs=default");
    expect(back.settings_revision).to.equal(put.settings_revision + 1);

    expect((await json("usage")).totals.requests).to.be.greaterThan(0);
    expect(await printed(["usage", "--by", "hour"])).to.match(/^START .*\n\d{4}-\d\d-\d\dT\d\d:00:00.000Z /);
  });
});
