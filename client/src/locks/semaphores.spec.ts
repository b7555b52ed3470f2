import { type AcquireSemaphoreRequest, LockState } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

const HOLD = {
  owner: "me",
  subject: "user",
  fencingToken: 7n,
  acquiredAtMs: 1n,
  expiresInMs: 30_000n,
  permits: 2,
  sessionId: 0n,
};
const PLAIN_HOLD = {
  owner: "me",
  subject: "user",
  fencingToken: 7,
  acquiredAtMs: 1,
  expiresInMs: 30_000,
  permits: 2,
  sessionId: 0,
};
const TTL_MS = 30_000;

describe("SemaphoreClient", () => {
  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      acquireSemaphore: ({ fencingToken }) => ({
        acquired: true,
        fencingToken: fencingToken || 7n,
        ttlSeconds: 30n,
        expiresInMs: BigInt(TTL_MS),
        permits: 5,
        heldPermits: 2,
        holders: [HOLD],
        state: LockState.HELD,
      }),
      releaseSemaphore: () => ({ released: true, revision: 8n }),
    });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  it("creates, describes, changes and deletes semaphores", async () => {
    member.scripts.createSemaphore = ({ name }) => ({ name, createdAtMs: 5n, revision: 9n });
    const created = await client.semaphores.create("n", "l", 5, { ttlSeconds: 60 });
    expect(created).to.deep.equal({ name: "l", createdAtMs: 5, revision: 9 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", permits: 5, ttlSeconds: 60n });
    member.scripts.describeSemaphore = () => ({ state: LockState.HELD, permits: 5, heldPermits: 2, holders: [HOLD] });
    const described = await client.semaphores.describe("n", "l");
    expect(described).to.deep.include({ state: "HELD", permits: 5, heldPermits: 2, holders: [PLAIN_HOLD] });
    member.scripts.updateSemaphore = () => ({ revision: 10n });
    expect(await client.semaphores.update("n", "l", 3)).to.deep.equal({ revision: 10 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", permits: 3 });
    member.scripts.deleteSemaphore = () => ({ revision: 11n });
    expect(await client.semaphores.delete("n", "l", { force: true })).to.deep.equal({ revision: 11 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", force: true });
  });

  it("acquires, renews, releases and forces permits", async () => {
    const startMs = runtime.nowMs;
    const acquired = await client.semaphores.acquire("n", "l", { permits: 2, waitMs: 10, owner: "me" });
    expect(acquired).to.deep.include({ acquired: true, permits: 5, heldPermits: 2, holders: [PLAIN_HOLD] });
    expect(acquired.deadlineMs).to.equal(startMs + TTL_MS);
    const asked = { namespace: "n", name: "l", ttlSeconds: 0n, sessionId: 0n };
    expect(member.request).to.deep.equal({ ...asked, permits: 2, owner: "me", waitMs: 10n, fencingToken: 0n });
    await client.semaphores.acquire("n", "l");
    expect(member.request).to.include({ permits: 1 });
    await client.semaphores.renew("n", "l", 7);
    expect(member.request).to.deep.equal({ ...asked, permits: 0, owner: "", waitMs: 0n, fencingToken: 7n });
    await client.semaphores.release("n", "l", { fencingToken: 7 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", owner: "", fencingToken: 7n });
    member.scripts.forceReleaseLock = () => ({ released: true, previous: HOLD });
    expect((await client.semaphores.forceRelease("n", "l")).previous).to.deep.equal(PLAIN_HOLD);
    expect(member.request).to.include({ rw: false });
    member.scripts.acquireSemaphore = () => ({ acquired: false, holders: [HOLD], state: LockState.HELD });
    expect((await client.semaphores.acquire("n", "l")).deadlineMs).to.equal(undefined);
    expect((await failure(client.semaphores.hold("n", "l"))).reason).to.equal("NOT_ACQUIRED");
  });

  it("holds permits while work runs: the handle renews them, guards with them, and gives them back", async () => {
    const tokens = () => member.callsOf("acquireSemaphore").map(({ request }) => request as AcquireSemaphoreRequest);
    const result = await client.semaphores.withPermits(
      "n",
      "l",
      async (handle) => {
        expect(handle.guard).to.deep.equal({ lockName: "l", fencingToken: 7 });
        runtime.advance(TTL_MS / 3);
        await until("a renewal", () => tokens().length === 2);
        return "done";
      },
      { permits: 2 },
    );
    expect(result).to.equal("done");
    expect(tokens().map(({ permits, fencingToken }) => [permits, fencingToken])).to.deep.equal([
      [2, 0n],
      [0, 7n],
    ]);
    expect(member.callsOf("releaseSemaphore")).to.have.length(1);
  });

  it("loses the hold as other handles do", async () => {
    const handle = await client.semaphores.hold("n", "l");
    member.scripts.acquireSemaphore = () => refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
    runtime.advance(TTL_MS / 3);
    await until("the loss", () => handle.signal.aborted);
    expect(await handle.release()).to.equal(false);
  });
});
