import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import path from "node:path";
import { LockState, RWMode } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
  until,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const HOLDER = { owner: "me", subject: "user", fencingToken: 7n, acquiredAtMs: 0n, expiresInMs: 12_500n };
const HOLDER_DOCUMENT = { owner: "me", subject: "user", fencing_token: 7, acquired_at_ms: 0, expires_in_ms: 12_500 };
const GRANTED = { acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n, state: LockState.HELD };

describe("quoinctl lock and rwlock", function () {
  // The commands are processes: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      acquireLock: () => ({ ...GRANTED, holder: HOLDER }),
      acquireRWLock: ({ mode }) => ({ ...GRANTED, mode, holders: [{ ...HOLDER, mode }] }),
      releaseLock: () => ({ released: true, revision: 9n }),
      releaseRWLock: () => ({ released: true, revision: 9n }),
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", PATH: process.env.PATH ?? "" };
    return runProgram(run, runtime, parameters, { environment, ...input });
  }

  /** The calls without the looks at a lock for which a command waits: time passes at once here. */
  function changes() {
    return member.calls.filter(({ method }) => !method.startsWith("describe"));
  }

  it("create", async () => {
    member.scripts.createLock = ({ name }) => ({ name, createdAtMs: 0n, revision: 3n });
    expect(await quoinctl(["lock", "create", "n/a/b", "--ttl", "1m", "--lock-delay", "5"])).to.include({
      code: 0,
      out: "LOCK   CREATED                   REVISION\nn/a/b  1970-01-01T00:00:00.000Z  3\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", name: "a/b", ttlSeconds: 60n, lockDelaySeconds: 5n });
    member.scripts.createRWLock = ({ name }) => ({ name, createdAtMs: 0n, revision: 3n });
    expect(JSON.parse((await quoinctl(["rwlock", "create", "n/l", "-o", "json"])).out)).to.deep.equal({
      namespace: "n",
      name: "l",
      created_at_ms: 0,
      revision: 3,
    });
  });

  it("create, for a lock that may exist", async () => {
    member.scripts.createLock = () => refuse({ code: "ALREADY_EXISTS", reason: "LOCK_EXISTS", message: "it exists" });
    member.scripts.describeLock = () => ({ name: "l", state: LockState.HELD, createdAtMs: 0n, revision: 3n });
    expect(await quoinctl(["lock", "create", "n/l", "--if-absent"])).to.include({
      code: 0,
      out: "LOCK  CREATED                   REVISION\nn/l   1970-01-01T00:00:00.000Z  3\n",
    });
    expect(await quoinctl(["lock", "create", "n/l"])).to.include({ code: 1, out: "" });
    member.scripts.describeLock = () =>
      refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND", message: "another kind" });
    const other = await quoinctl(["lock", "create", "n/l", "--if-absent"]);
    expect(other.code).to.equal(1);
    expect(other.err).to.include("another kind");
  });

  it("describe", async () => {
    member.scripts.describeLock = () => ({
      name: "l",
      state: LockState.HELD,
      holder: HOLDER,
      waiters: 2,
      ttlSeconds: 30n,
    });
    expect((await quoinctl(["lock", "describe", "n/l"])).out).to.equal(
      "LOCK  STATE  OWNER  SUBJECT  TOKEN  EXPIRES IN  WAITING\nn/l   HELD   me     user     7      12.5s       2\n",
    );
    const { out } = await quoinctl(["lock", "describe", "n/l", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.include({ state: "HELD", holder: HOLDER_DOCUMENT, waiters: 2, ttl_seconds: 30 });
    member.scripts.describeRWLock = () => ({ name: "l", state: LockState.FREE, waitingWriters: 1 });
    expect((await quoinctl(["rwlock", "describe", "n/l"])).out).to.match(/\nn\/l +FREE +- +- +- +- +1\n$/);
    member.scripts.describeLock = () => refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND", message: "no lock l" });
    const missing = await quoinctl(["lock", "describe", "n/l"]);
    expect(missing).to.include({ code: 1, out: "" });
    expect(missing.err).to.match(/^quoinctl: no lock l \(LOCK_NOT_FOUND\)\nhint: create it with: quoinctl lock create/);
  });

  it("list the locks of one kind, with their holders and how many wait, from all pages", async () => {
    const held = { name: "a", state: LockState.HELD, holders: [HOLDER], holderCount: 1, waitingWriters: 2 };
    const shared = { name: "s", rw: true, state: LockState.READ_HELD, waitingReaders: 1, waitingWriters: 1 };
    member.scripts.listLocks = ({ pageToken }) =>
      pageToken === ""
        ? { locks: [held], nextPageToken: "next" }
        : {
            locks: [
              { name: "b", state: LockState.FREE },
              { ...shared, holders: [{ ...HOLDER, mode: RWMode.READ }], holderCount: 12 },
            ],
          };
    expect(await quoinctl(["lock", "list", "n"])).to.include({
      code: 0,
      out: [
        "LOCK  STATE  OWNER  SUBJECT  TOKEN  EXPIRES IN  WAITING",
        "n/a   HELD   me     user     7      12.5s       2",
        "n/b   FREE   -      -        -      -           0\n",
      ].join("\n"),
    });
    expect((await quoinctl(["rwlock", "list", "n/s*", "--in-use"])).out).to.equal(
      [
        "LOCK  STATE      MODE  OWNER        SUBJECT  TOKEN  EXPIRES IN  WAITING",
        "n/s   READ_HELD  READ  me           user     7      12.5s       2",
        "n/s   READ_HELD  -     and 11 more  -        -      -           2\n",
      ].join("\n"),
    );
    expect(member.request).to.deep.include({ namespace: "n", namePrefix: "s", inUseOnly: true, pageToken: "next" });
    const { out } = await quoinctl(["lock", "list", "n", "--limit", "1", "-o", "json"]);
    expect(member.request, "no page more than needed").to.include({ pageToken: "" });
    const { locks, ...rest } = JSON.parse(out);
    expect(rest).to.deep.equal({ namespace: "n", prefix: "" });
    expect(locks).to.have.length(1);
    expect(locks[0]).to.deep.include({ name: "a", rw: false, state: "HELD", waiting_writers: 2, holder_count: 1 });
    expect(locks[0].holders).to.deep.equal([HOLDER_DOCUMENT]);
    expect((await quoinctl(["rwlock", "list", "n", "-o", "yaml"])).out).to.match(
      /locks:\n {2}- name: s\n(.*\n)* +mode: READ/,
    );
    member.scripts.listLocks = () =>
      refuse({ code: "NOT_FOUND", reason: "NAMESPACE_NOT_FOUND", message: "no namespace n" });
    expect(await quoinctl(["lock", "list", "n"])).to.include({ code: 1, out: "" });
  });

  it("acquire, and exit code 4 when others hold it", async () => {
    expect(await quoinctl(["lock", "acquire", "n/l", "--ttl", "30s", "--wait", "2s", "--owner", "me"])).to.include({
      code: 0,
      out: "LOCK  ACQUIRED  TOKEN  EXPIRES IN  STATE  HOLDERS\nn/l   true      7      30.0s       HELD   me\n",
    });
    expect(member.request).to.deep.equal({
      namespace: "n",
      name: "l",
      ttlSeconds: 30n,
      owner: "me",
      waitMs: 2_000n,
      sessionId: 0n,
      fencingToken: 0n,
      value: Buffer.alloc(0),
    });
    await quoinctl(["lock", "acquire", "n/l", "--token", "7"]);
    expect(member.request).to.deep.include({ fencingToken: 7n, waitMs: 0n, owner: "" });
    member.scripts.acquireLock = () => ({ acquired: false, holder: HOLDER, state: LockState.HELD });
    const failed = await quoinctl(["lock", "acquire", "n/l", "-o", "json"]);
    expect(failed).to.include({ code: 4, err: "quoinctl: n/l was not acquired: me holds it\n" });
    expect(JSON.parse(failed.out)).to.deep.include({ acquired: false, holder: HOLDER_DOCUMENT });
  });

  it("acquire shows on a terminal who holds the lock, the place in the queue and the time left, and clears the line", async () => {
    const waits = [
      { place: 1, owner: "eve", endsInMs: 9_000n },
      { place: 2, owner: "me", endsInMs: 100_000n },
      { place: 3, owner: "me", endsInMs: 9_000n },
    ];
    member.scripts.describeLock = () => ({ state: LockState.HELD, holder: { ...HOLDER, owner: "ada\u001b" } });
    for (const [listLockWaits, shown] of [
      [() => ({ waits }), "waiting 9s for n/l, place 3 of 3: ada\\u{1b} holds it (12.5s unless renewed)"],
      [() => refuse({ code: "UNIMPLEMENTED" }), "waiting 9s for n/l: ada\\u{1b} holds it (12.5s unless renewed)"],
    ] as const) {
      member.scripts.listLockWaits = listLockWaits;
      let looked = () => {};
      const seen = new Promise<void>((resolve) => {
        looked = resolve;
      });
      let looks = 0;
      const { listLockWaits: script } = member.scripts;
      member.scripts.listLockWaits = (...call) => {
        looks += 1;
        // The first look is shown by now.
        if (looks === 2) {
          looked();
        }
        return script!(...call);
      };
      member.scripts.acquireLock = async () => {
        await seen;
        return { acquired: true, fencingToken: 7n, holder: HOLDER, state: LockState.HELD };
      };
      const parameters = ["lock", "acquire", "n/l", "--wait", "10s", "--owner", "me"];
      const { code, err } = await quoinctl(parameters, { isTTY: true });
      expect(code).to.equal(0);
      expect(err.split("\r\u001b[K")[1]).to.equal(shown);
      expect(err.endsWith("\r\u001b[K"), "the line is taken away").to.equal(true);
    }
    const piped = await quoinctl(["lock", "acquire", "n/l", "--wait", "10s"]);
    expect(piped).to.include({ code: 0, err: "" });
  });

  for (const isTTY of [false, true]) {
    it(`say once ${isTTY ? "on a terminal" : "without a terminal"} that no member answers, and when one does`, async () => {
      let looks = 0;
      let looked = () => {};
      const seen = new Promise<void>((resolve) => {
        looked = resolve;
      });
      member.scripts.listLockWaits = () => ({});
      member.scripts.describeLock = () => {
        looks += 1;
        if (looks === 12) {
          looked();
        }
        return looks < 10
          ? refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "there is no leader" })
          : { state: LockState.HELD, holder: HOLDER };
      };
      member.scripts.acquireLock = async () => {
        await seen;
        return { acquired: true, fencingToken: 7n, holder: HOLDER, state: LockState.HELD };
      };
      const { code, err } = await quoinctl(["lock", "acquire", "n/l", "--wait", "10m"], { isTTY });
      expect(code).to.equal(0);
      expect(err.match(/quoinctl: .*/g)).to.deep.equal([
        "quoinctl: no answer yet, still waiting for n/l: there is no leader (NO_LEADER)",
        "quoinctl: a member answers again",
      ]);
    });
  }

  it("say that a member answers again if it gives the lock at once", async () => {
    let looked = () => {};
    const seen = new Promise<void>((resolve) => {
      looked = resolve;
    });
    let looks = 0;
    member.scripts.describeLock = () => {
      looks += 1;
      if (looks === 12) {
        looked();
      }
      return refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "there is no leader" });
    };
    member.scripts.acquireLock = async () => {
      await seen;
      return { acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n };
    };
    const { code, err } = await quoinctl(["lock", "run", "n/l", "--", "true"], { directory: "/" });
    expect([code, err.split("\n").slice(1)]).to.deep.equal([0, ["quoinctl: a member answers again", ""]]);
  });

  it("acquire in a mode, with a token that changes it", async () => {
    expect((await quoinctl(["rwlock", "acquire", "n/l"])).out).to.include("me (WRITE)");
    expect(member.request).to.include({ mode: RWMode.WRITE });
    await quoinctl(["rwlock", "acquire", "n/l", "--mode", "read", "--token", "7"]);
    expect(member.request).to.include({ mode: RWMode.READ, fencingToken: 7n });
    expect(await quoinctl(["lock", "acquire", "n/l", "--mode", "read"])).to.include({ code: 2 });
    expect(await quoinctl(["rwlock", "acquire", "n/l", "--mode", "own"])).to.include({ code: 2 });
  });

  it("release, and force-release", async () => {
    expect(await quoinctl(["lock", "release", "n/l", "--token", "7"])).to.include({
      code: 0,
      out: "LOCK  RELEASED  REVISION\nn/l   true      9\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", owner: "", fencingToken: 7n });
    await quoinctl(["rwlock", "release", "n/l", "--mode", "read", "--token", "7"]);
    expect(member.request).to.include({ mode: RWMode.READ });
    member.scripts.forceReleaseLock = ({ rw }) => (rw ? {} : { released: true, previous: HOLDER });
    expect((await quoinctl(["lock", "force-release", "n/l", "--token", "7", "--reason", "stuck"])).out).to.equal(
      "LOCK  RELEASED  OWNER  TOKEN\nn/l   true      me     7\n",
    );
    expect(member.request).to.include({ fencingToken: 7n, reason: "stuck", rw: false });
    const { out } = await quoinctl(["rwlock", "force-release", "n/l", "-o", "json"]);
    expect(JSON.parse(out)).to.include({ released: false, previous: null });
  });

  it("show the value of a hold", async () => {
    member.scripts.describeLock = () => ({ state: LockState.HELD, holder: { ...HOLDER, value: Buffer.from("here") } });
    expect((await quoinctl(["lock", "describe", "n/l"])).out).to.match(/ VALUE\n.* here\n$/);
    const { out } = await quoinctl(["lock", "describe", "n/l", "-o", "json"]);
    expect(JSON.parse(out).holder).to.deep.equal({ ...HOLDER_DOCUMENT, value: "aGVyZQ==", value_text: "here" });
  });

  it("delete a lock, with force also one in use", async () => {
    member.scripts.deleteLock = () => ({ revision: 9n });
    expect((await quoinctl(["lock", "delete", "n/l"])).out).to.equal("LOCK  DELETED  REVISION\nn/l   true     9\n");
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", force: false });
    member.scripts.deleteRWLock = () => ({ revision: 9n });
    const { out } = await quoinctl(["rwlock", "delete", "n/l", "--force", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({ namespace: "n", name: "l", deleted: true, revision: 9 });
    expect(member.request).to.include({ force: true });
    member.scripts.deleteLock = () => refuse({ code: "FAILED_PRECONDITION", reason: "NOT_EMPTY", message: "in use" });
    expect(await quoinctl(["lock", "delete", "n/l"])).to.include({ code: 1 });
  });

  it("release without a token only the hold with which lock run started the process, or any with --force", async () => {
    const known = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    for (const environment of [
      {},
      { QUOIN_NAMESPACE: "n", QUOIN_LOCK: "other", QUOIN_FENCING_TOKEN: "7" },
      { QUOIN_NAMESPACE: "other", QUOIN_LOCK: "l", QUOIN_FENCING_TOKEN: "7" },
      { QUOIN_NAMESPACE: "n", QUOIN_LOCK: "l", QUOIN_FENCING_TOKEN: "no number" },
    ]) {
      const { code, err } = await quoinctl(["lock", "release", "n/l", "--owner", "me"], {
        environment: { ...known, ...environment },
      });
      expect(code).to.equal(2);
      expect(err).to.match(
        /^quoinctl: name the hold of n\/l with --token: .*\nhint: lock acquire .*--force instead\n$/,
      );
    }
    expect(member.calls).to.have.length(0);
    const own = { QUOIN_NAMESPACE: "n", QUOIN_LOCK: "l", QUOIN_FENCING_TOKEN: "7", QUOIN_LOCK_OWNER: "me" };
    expect((await quoinctl(["lock", "release", "n/l"], { environment: { ...known, ...own } })).code).to.equal(0);
    expect(member.request).to.include({ fencingToken: 7n, owner: "me" });
    member.scripts.forceReleaseLock = () => ({ released: true, previous: HOLDER });
    expect((await quoinctl(["lock", "release", "n/l", "--force"])).out).to.include("n/l   true      me     7");
    expect((await quoinctl(["lock", "release", "n/l", "--force", "--token", "7"])).code).to.equal(2);
  });

  it("wants NAMESPACE/NAME", async () => {
    for (const command of ["create", "describe", "acquire", "release", "force-release", "delete"]) {
      const { code, err } = await quoinctl(["lock", command, "l"]);
      expect(code).to.equal(2);
      expect(err).to.include("NAMESPACE/NAME");
    }
    expect(member.calls).to.have.length(0);
  });

  describe("run", () => {
    it("runs the command under the lock, with the hold in its environment, and ends with its exit code", async () => {
      const directory = temporaryDirectory();
      const program = 'echo "$QUOIN_NAMESPACE/$QUOIN_LOCK=$QUOIN_FENCING_TOKEN $QUOIN_LOCK_OWNER $1" > told; exit 9';
      const words = ["sh", "-c", program, "sh", "--not-an-option"];
      const options = ["--ttl", "30", "--owner", "me"];
      expect(await quoinctl(["lock", "run", "n/l", ...options, "--", ...words], { directory })).to.include({
        code: 9,
        out: "",
        err: "",
      });
      expect(await readFile(path.join(directory, "told"), "utf8")).to.equal("n/l=7 me --not-an-option\n");
      expect(changes().map(({ method }) => method)).to.deep.equal(["acquireLock", "releaseLock"]);
      expect(changes()[0]?.request).to.include({ ttlSeconds: 30n, owner: "me", waitMs: 3_590_000n });
    });

    it("runs it under a read-write lock too", async () => {
      const { code } = await quoinctl(["rwlock", "run", "n/l", "--mode", "read", "--", "true"], { directory: "/" });
      expect(code).to.equal(0);
      expect(changes().map(({ method }) => method)).to.deep.equal(["acquireRWLock", "releaseRWLock"]);
      expect(changes()[0]?.request).to.include({ mode: RWMode.READ });
    });

    it("shows in the label of the hold who runs it, with another label for each run, and releases by it", async () => {
      for (const command of ["lock", "lock", "rwlock"]) {
        expect((await quoinctl([command, "run", "n/l", "--", "true"], { directory: "/" })).code).to.equal(0);
      }
      const owners = changes().map(({ request }) => (request as { owner: string }).owner);
      const [first, released, second, , third] = owners;
      expect(first).to.match(new RegExp(`^${userInfo().username}@${hostname()}:${process.pid}-[0-9a-f]{12}$`));
      expect(released).to.equal(first);
      expect(new Set([first, second, third]).size).to.equal(3);
    });

    it("runs nothing, with exit code 4, when the lock is not acquired", async () => {
      const directory = temporaryDirectory();
      member.scripts.acquireLock = () => ({ acquired: false, holder: HOLDER, state: LockState.HELD });
      const words = ["sh", "-c", "touch ran"];
      const { code, err } = await quoinctl(["lock", "run", "n/l", "--wait", "0", "--", ...words], { directory });
      expect(code).to.equal(4);
      expect(err).to.include("me holds it (NOT_ACQUIRED)");
      expect(changes()[0]?.request).to.include({ waitMs: 0n });
      expect(await readFile(path.join(directory, "ran")).catch(() => "nothing")).to.equal("nothing");
    });

    it("ends as shells do if the command cannot be run or was killed, and releases the lock", async () => {
      const missing = await quoinctl(["lock", "run", "n/l", "--", "/no/such/program"], { directory: "/" });
      expect(missing.code).to.equal(127);
      expect(missing.err).to.include("/no/such/program cannot be run");
      expect((await quoinctl(["lock", "run", "n/l", "--", "/etc/passwd"], { directory: "/" })).code).to.equal(126);
      const killed = await quoinctl(["lock", "run", "n/l", "--", "sh", "-c", "kill -9 $$"], { directory: "/" });
      expect(killed.code).to.equal(128 + 9);
      expect(member.callsOf("releaseLock")).to.have.length(3);
    });

    it("forwards signals to the command, and releases the lock after its end", async () => {
      const directory = temporaryDirectory();
      const signals = new EventEmitter();
      const program = 'trap "exit 5" TERM; touch ready; while :; do sleep 0.02; done';
      const ended = quoinctl(["lock", "run", "n/l", "--", "sh", "-c", program], { directory, signals });
      await untilThere(path.join(directory, "ready"));
      signals.emit("SIGTERM");
      expect((await ended).code).to.equal(5);
      expect(member.callsOf("releaseLock")).to.have.length(1);
      expect(signals.eventNames()).to.deep.equal([]);
    });

    it("terminates the command when the lock is lost, with exit code 1", async () => {
      const directory = temporaryDirectory();
      member.scripts.acquireLock = ({ fencingToken }) =>
        fencingToken === 0n
          ? { ...GRANTED, ttlSeconds: 1n, expiresInMs: 1_000n }
          : refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
      const program = 'trap "touch ended; exit 0" TERM; while :; do sleep 0.02; done';
      const { code, err } = await quoinctl(["lock", "run", "n/l", "--", "sh", "-c", program], { directory });
      expect(code).to.equal(1);
      expect(err).to.include("the lock is lost, and the command is terminated");
      expect(err).to.include("(LOCK_LOST)");
      await untilThere(path.join(directory, "ended"));
      expect(member.callsOf("releaseLock")).to.have.length(0);
    });

    it("kills a command that does not end then", async () => {
      const directory = temporaryDirectory();
      member.scripts.acquireLock = ({ fencingToken }) =>
        fencingToken === 0n
          ? { ...GRANTED, ttlSeconds: 1n, expiresInMs: 1_000n }
          : refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
      const program = 'trap "" TERM; exec sleep 600';
      const words = ["--kill-after", "3s", "--", "sh", "-c", program];
      const ended = quoinctl(["lock", "run", "n/l", ...words], { directory });
      await until("the end to be planned", () => runtime.nextTimerMs === 3_000);
      runtime.advance(3_000);
      expect((await ended).code).to.equal(1);
    });
  });
});

async function untilThere(file: string): Promise<void> {
  let isThere = false;
  await until(file, () => {
    readFile(file).then(
      () => (isThere = true),
      () => undefined,
    );
    return isThere;
  });
}
