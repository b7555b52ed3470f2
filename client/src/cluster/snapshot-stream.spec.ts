import { createHash } from "node:crypto";
import { expect } from "chai";
import { failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type AdminClient, createAdminClient } from "./admin-client.ts";
import type { SnapshotStream } from "./snapshot-stream.ts";

const ABOUT = { index: 7n, revision: 5n, commitIndex: 9n };
const BYTES = Buffer.from("the state of a member");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

describe("the stream of a snapshot", () => {
  let member: ScriptedMember;
  let admin: AdminClient;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    admin = createAdminClient({ endpoint: member.endpoint, credentials: { token: "admin-token" } });
  });

  afterEach(() => {
    admin.close();
    member.stop();
  });

  async function bytesOf({ chunks }: SnapshotStream): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(chunks));
  }

  it("has the metadata from the member, and all its bytes", async () => {
    member.streams.snapshot = (_request, stream) => {
      stream.send({ ...ABOUT, chunk: BYTES.subarray(0, 5), leaderless: true });
      stream.send({ ...ABOUT, chunk: BYTES.subarray(5), leaderless: true });
      stream.send({ ...ABOUT, last: true, sha256: SHA256, leaderless: true });
      stream.end();
    };
    const stream = await admin.snapshot();
    expect(stream).to.include({ index: 7, revision: 5, commitIndex: 9, leaderless: true });
    expect((await bytesOf(stream)).equals(BYTES)).to.equal(true);
    expect(member.calls[0]?.authorization).to.deep.equal(["Bearer admin-token"]);
  });

  it("fails if its bytes differ from the sent ones, or if its last piece is missing", async () => {
    member.streams.snapshot = (_request, stream) => {
      stream.send({ ...ABOUT, chunk: BYTES.subarray(1) });
      stream.send({ ...ABOUT, last: true, sha256: SHA256 });
      stream.end();
    };
    const changed = await failure(admin.snapshot().then(bytesOf));
    expect([changed.code, changed.outcome]).to.deep.equal(["DATA_LOSS", "not-executed"]);
    member.streams.snapshot = (_request, stream) => {
      stream.send({ ...ABOUT, chunk: BYTES });
      stream.end();
    };
    const endless = await failure(admin.snapshot().then(bytesOf));
    expect([endless.code, endless.outcome]).to.deep.equal(["UNAVAILABLE", "not-executed"]);
  });

  it("fails if the member does not begin in time, or stops sending", async () => {
    member.streams.snapshot = () => undefined;
    const late = await failure(admin.snapshot({ timeoutMs: 50 }));
    expect(late.message).to.include(`${member.endpoint} has sent nothing`);
    member.streams.snapshot = (_request, stream) => stream.send({ ...ABOUT, chunk: BYTES });
    const silent = await failure(admin.snapshot({ silenceMs: 50 }).then(bytesOf));
    expect([silent.code, silent.message]).to.deep.equal([
      "UNAVAILABLE",
      `${member.endpoint} has sent nothing for 50 ms`,
    ]);
  });

  it("fails with the refusal of the member, and ends on cancellation", async () => {
    member.streams.snapshot = () => refuse({ code: "FAILED_PRECONDITION", reason: "BACKUP_IN_PROGRESS" });
    expect((await failure(admin.snapshot())).reason).to.equal("BACKUP_IN_PROGRESS");
    member.streams.snapshot = (_request, stream) => stream.send({ ...ABOUT, chunk: BYTES });
    const ending = new AbortController();
    const read = admin.snapshot({ signal: ending.signal }).then(bytesOf);
    setImmediate(() => ending.abort());
    expect((await failure(read)).code).to.equal("CANCELLED");
  });
});
