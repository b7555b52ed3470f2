import { OpenStream_Kind, serviceDefinitions, WatchKeysRequest, WatchLocksRequest } from "@quoin/proto";
import { expect } from "chai";
import { type FieldsOf, GrpcPorts, ok, SingleMember, until, verdict } from "../../../test/harness/index.ts";
import { secrets } from "../../../test/index.ts";
import { encodeText } from "../../state/index.ts";
import type { OpenStream } from "../../watch/index.ts";
import { MemberInspection } from "./member-inspection.ts";

const { listStreams, watchKeys, watchLocks } = serviceDefinitions.WatchService;

describe("WatchService, ListStreams", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const list = (fields: FieldsOf<typeof listStreams> = {}, caller = ports.owner) => caller.ask(listStreams, fields);

  /** A stream of another member. */
  function openStream(number: number, fields: Partial<OpenStream> = {}): OpenStream {
    return {
      number,
      about: "event",
      namespace: "default",
      prefix: new Uint8Array(0),
      isExact: false,
      logId: new Uint8Array(16),
      principal: { subject: ports.member.cluster.ownerId, apiKeyId: "" },
      openMs: 1.5,
      start: 1,
      delivered: 0,
      behind: 3,
      isSending: true,
      ...fields,
    };
  }

  it("lists the watches of this member with their users, the oldest first", async () => {
    const keys = ports.owner.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default", prefix: "jobs/" }));
    await keys.until("the first watch is active", ([first]) => first);
    const locks = ports.owner.stream(
      watchLocks,
      WatchLocksRequest.fromPartial({ namespace: "default", namePrefix: "é" }),
    );
    await locks.until("the second watch is active", ([first]) => first);
    const user = { userId: ports.member.cluster.ownerId, apiKeyId: secrets.founding.owner.apiKeyId };
    const { streams, nextPageToken, memberId, revision } = ok(await list());
    expect([nextPageToken, memberId, revision]).deep.equal(["", "1", 1n]);
    expect(streams.map(({ openMs, ...rest }) => ({ ...rest, isOpen: openMs >= 0n }))).deep.equal([
      {
        id: "1",
        kind: OpenStream_Kind.KEYS,
        namespace: "default",
        prefix: "jobs/",
        exact: false,
        logId: "",
        ...user,
        email: secrets.email,
        start: 2n,
        delivered: 1n,
        behind: 0n,
        sending: false,
        isOpen: true,
      },
      {
        id: "2",
        kind: OpenStream_Kind.LOCKS,
        namespace: "default",
        prefix: "é",
        exact: false,
        logId: "",
        ...user,
        email: secrets.email,
        start: 2n,
        delivered: 1n,
        behind: 0n,
        sending: false,
        isOpen: true,
      },
    ]);
    const first = ok(await list({ pageSize: 1, namespace: "default" }));
    expect(first.streams.map(({ id }) => id)).deep.equal(["1"]);
    const second = ok(await list({ pageSize: 1, namespace: "default", pageToken: first.nextPageToken }));
    expect([second.streams.map(({ id }) => id), second.nextPageToken]).deep.equal([["2"], ""]);
    const bad = ["INVALID_ARGUMENT", "BAD_FIELD", "page_token"];
    expect(verdict(await list({ pageToken: first.nextPageToken }))).deep.equal(bad);
    keys.cancel();
    await until("the first stream is over", async () => ok(await list()).streams.length === 1);
  });

  it("hides the address of a user whom the caller may not manage", async () => {
    ports.inspection.addStreams({
      openStreams: () => [openStream(7), openStream(8, { principal: { subject: "gone", apiKeyId: "" } })],
    });
    ports.member.cluster.changeOwner({ role: "admin" });
    const { streams } = ok(await list());
    expect(
      streams.map(({ email }) => email),
      "the caller, and a user that is gone",
    ).deep.equal([secrets.email, ""]);
  });

  it("asks another member for its streams, and reports one that does not answer", async () => {
    const outcome = ports.replica.change({
      subject: ports.member.cluster.ownerId,
      request: null,
      expectIndex: 0,
      operation: { kind: "add-slot", name: "member-1" },
    });
    const memberId = "memberId" in outcome.answer ? outcome.answer.memberId : 0;
    const away = verdict(await list({ memberId: String(memberId) }));
    expect(away).deep.equal(["UNAVAILABLE", "MEMBER_UNREACHABLE"]);
    const inspection = new MemberInspection(new SingleMember("09".repeat(16)), { samplesOf: () => [] });
    const prefix = encodeText("p".repeat(1_024));
    const all = Array.from({ length: 101 }, (_, at) => openStream(at + 1, { prefix }));
    inspection.addStreams({
      openStreams: ({ after, countMax }) => all.filter(({ number }) => number > after).slice(0, countMax),
    });
    ports.replica.otherMembers.set(memberId, (question) => inspection.answer(question));
    const seen: string[] = [];
    const sizes: number[] = [];
    let pageToken = "";
    do {
      const page = ok(await list({ memberId: String(memberId), pageToken }));
      sizes.push(page.streams.length);
      seen.push(...page.streams.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).deep.equal(all.map(({ number }) => String(number)));
    expect(sizes, "64 KiB of prefixes in a page").deep.equal([64, 37]);
    const [first] = ok(await list({ memberId: String(memberId), pageSize: 1 })).streams;
    expect(first).include({ kind: OpenStream_Kind.EVENTS, logId: "00000000-0000-0000-0000-000000000000" });
    expect(first).include({ openMs: 1n, start: 1n, delivered: 0n, behind: 3n, sending: true, email: secrets.email });
  });

  it("refuses fields by name", async () => {
    const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];
    expect(verdict(await list({ pageSize: 101 }))).deep.equal(bad("page_size"));
    expect(verdict(await list({ pageSize: -1 }))).deep.equal(bad("page_size"));
    expect(verdict(await list({ memberId: "x" }))).deep.equal(bad("member_id"));
    expect(verdict(await list({ memberId: "77" }))).deep.equal(["NOT_FOUND", "MEMBER_NOT_FOUND"]);
    expect(verdict(await list({ namespace: "none" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
  });
});
