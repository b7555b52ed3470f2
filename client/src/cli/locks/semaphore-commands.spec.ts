import { LockEvent_Action, LockState } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import {
  FakeRuntime,
  type ProgramInput,
  type ProgramRun,
  refuse,
  runProgram,
  ScriptedMember,
} from "../../../test/index.ts";
import { run } from "../index.ts";

const HOLDER = { owner: "me", subject: "user", fencingToken: 7n, acquiredAtMs: 0n, expiresInMs: 12_500n };
const GRANTED = { acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n, state: LockState.HELD };

describe("quoinctl semaphore and election", function () {
  // The commands are processes: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      acquireLock: ({ value }) => ({ ...GRANTED, holder: { ...HOLDER, value } }),
      releaseLock: () => ({ released: true, revision: 9n }),
      acquireSemaphore: ({ permits }) => ({
        ...GRANTED,
        permits: 5,
        heldPermits: permits,
        holders: [{ ...HOLDER, permits }],
      }),
      releaseSemaphore: () => ({ released: true, revision: 9n }),
    });
  });

  afterEach(() => member.stop());

  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", PATH: process.env.PATH ?? "" };
    return runProgram(run, runtime, parameters, { environment, directory: temporaryDirectory(), ...input });
  }

  it("create, update and delete semaphores", async () => {
    member.scripts.createSemaphore = ({ name }) => ({ name, createdAtMs: 0n, revision: 3n });
    expect(await quoinctl(["semaphore", "create", "n/s", "--permits", "5", "--ttl", "1m"])).to.include({
      code: 0,
      out: "LOCK  CREATED                   REVISION\nn/s   1970-01-01T00:00:00.000Z  3\n",
    });
    expect(member.request).to.deep.equal({ namespace: "n", name: "s", permits: 5, ttlSeconds: 60n });
    expect((await quoinctl(["semaphore", "create", "n/s", "--lock-delay", "5"])).code).to.equal(2);
    expect((await quoinctl(["lock", "create", "n/s", "--permits", "5"])).code).to.equal(2);
    member.scripts.updateSemaphore = () => ({ revision: 4n });
    expect((await quoinctl(["semaphore", "update", "n/s", "8"])).out).to.equal(
      "LOCK  PERMITS  REVISION\nn/s   8        4\n",
    );
    expect(member.request).to.deep.equal({ namespace: "n", name: "s", permits: 8 });
    expect((await quoinctl(["semaphore", "update", "n/s", "no"])).code).to.equal(2);
    member.scripts.deleteSemaphore = () => ({ revision: 5n });
    expect((await quoinctl(["semaphore", "delete", "n/s", "--force"])).code).to.equal(0);
    expect(member.request).to.deep.equal({ namespace: "n", name: "s", force: true });
  });

  it("describe and list semaphores, not other locks", async () => {
    member.scripts.describeSemaphore = () => ({
      name: "s",
      state: LockState.HELD,
      permits: 5,
      heldPermits: 2,
      holders: [{ ...HOLDER, permits: 2 }],
      waiters: 3,
    });
    expect((await quoinctl(["semaphore", "describe", "n/s"])).out).to.equal(
      "LOCK  STATE  PERMITS  OWNER  SUBJECT  TOKEN  EXPIRES IN  WAITING\n" +
        "n/s   HELD   2 of 5   me     user     7      12.5s       3\n",
    );
    const { out } = await quoinctl(["semaphore", "describe", "n/s", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.include({ permits: 5, held_permits: 2, waiters: 3 });
    const listed = { name: "s", state: LockState.HELD, permits: 5, heldPermits: 2, holderCount: 1 };
    member.scripts.listLocks = () => ({
      locks: [
        { name: "l", state: LockState.FREE },
        { ...listed, holders: [{ ...HOLDER, permits: 2 }] },
      ],
    });
    expect((await quoinctl(["semaphore", "list", "n"])).out).to.match(/^LOCK .*\nn\/s +HELD +2 of 5 +me .*\n$/);
    expect((await quoinctl(["lock", "list", "n"])).out).to.match(/^LOCK .*\nn\/l +FREE .*\n$/);
  });

  it("acquire, renew and release permits, and run a command with them", async () => {
    expect((await quoinctl(["semaphore", "acquire", "n/s", "--permits", "2"])).code).to.equal(0);
    expect(member.request).to.include({ permits: 2, fencingToken: 0n });
    await quoinctl(["semaphore", "acquire", "n/s", "--token", "7"]);
    expect(member.request).to.include({ permits: 0, fencingToken: 7n });
    await quoinctl(["semaphore", "release", "n/s", "--token", "7"]);
    expect(member.request).to.deep.equal({ namespace: "n", name: "s", owner: "", fencingToken: 7n });
    expect((await quoinctl(["semaphore", "run", "n/s", "--permits", "3", "--", "sh", "-c", "exit 5"])).code).to.equal(
      5,
    );
    expect(member.callsOf("acquireSemaphore").at(-1)?.request).to.include({ permits: 3 });
    expect(member.calls.at(-1)?.method).to.equal("releaseSemaphore");
    member.scripts.acquireSemaphore = () => ({ acquired: false, holders: [HOLDER], state: LockState.HELD });
    expect((await quoinctl(["semaphore", "acquire", "n/s"])).code).to.equal(4);
  });

  it("campaign while a command runs, with the value, and exit code 4 when others lead", async () => {
    const words = ["sh", "-c", 'test "$QUOIN_FENCING_TOKEN" = 7 && exit 6'];
    expect((await quoinctl(["election", "campaign", "n/e", "here", "--ttl", "5s", "--", ...words])).code).to.equal(6);
    const [asked] = member.callsOf("acquireLock");
    expect(asked?.request).to.deep.include({ name: "e", ttlSeconds: 5n, value: Buffer.from("here") });
    expect(member.calls.at(-1)?.method).to.equal("releaseLock");
    member.scripts.acquireLock = () => ({ acquired: false, holder: HOLDER, state: LockState.HELD });
    expect((await quoinctl(["election", "campaign", "n/e", "here", "--wait", "0", "--", "true"])).code).to.equal(4);
  });

  it("observe the leaders, and resign", async () => {
    member.scripts.describeLock = () => ({ holder: { ...HOLDER, value: Buffer.from("one") }, revision: 7n });
    member.streams.watchLocks = (_request, stream) => {
      stream.send({ created: true, revision: 7n });
      const event = { lockKey: "e", action: LockEvent_Action.RELEASED, fencingToken: 7n, revision: 8n };
      stream.send({ events: [event], revision: 8n });
    };
    expect((await quoinctl(["election", "observe", "n/e", "--limit", "2"])).out).to.equal("token 7  one\nno leader\n");
    const { out } = await quoinctl(["election", "observe", "n/e", "--limit", "1", "-o", "json"]);
    expect(JSON.parse(out)).to.deep.equal({
      namespace: "n",
      name: "e",
      fencing_token: 7,
      value: "b25l",
      value_text: "one",
    });
    expect((await quoinctl(["election", "resign", "n/e", "--token", "7"])).code).to.equal(0);
    expect(member.request).to.include({ name: "e", fencingToken: 7n });
    expect((await quoinctl(["election", "resign", "n/e"])).code).to.equal(2);
    member.scripts.describeLock = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED", message: "no" });
    expect((await quoinctl(["election", "observe", "n/e"])).code).to.equal(1);
  });
});
