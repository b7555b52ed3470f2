import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
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

describe("quoinctl member, leader and settings", () => {
  let member: ScriptedMember;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start();
  });

  afterEach(() => member.stop());

  /** Runs a command in this process against the scripted member. */
  function quoinctl(parameters: readonly string[], input: ProgramInput = {}): Promise<ProgramRun> {
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" };
    return runProgram(run, runtime, parameters, { environment, ...input });
  }

  const slots = [
    {
      id: "1",
      name: "q-0",
      peerEndpoint: "h0:7402",
      grpcEndpoint: "h0:7400",
      httpEndpoint: "h0:7401",
      voter: true,
      incarnation: "aa",
      contactAgeMs: 0n,
    },
    {
      id: "5",
      name: "q-1",
      peerEndpoint: "h1:7402",
      grpcEndpoint: "h1:7400",
      httpEndpoint: "h1:7401",
      voter: true,
      incarnation: "bb",
      lagMs: 1_234n,
      contactAgeMs: 80n,
    },
    {
      id: "7",
      name: "q-2",
      peerEndpoint: "h2:7402",
      grpcEndpoint: "h2:7400",
      httpEndpoint: "h2:7401",
      incarnation: "cc",
      contactAgeMs: BigInt(Number.MAX_SAFE_INTEGER),
      promotable: true,
    },
    { id: "9", name: "q-3" },
  ];

  beforeEach(() => {
    member.scripts.listMembers = () => ({
      clusterId: "c",
      term: 3n,
      configIndex: 9n,
      commitIndex: 20n,
      leaderId: "1",
      members: slots,
    });
  });

  function cells(out: string): string[][] {
    return out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
  }

  it("lists the members as a table", async () => {
    const { code, out, err } = await quoinctl(["member", "list"]);
    expect([code, err]).to.deep.equal([0, ""]);
    expect(cells(out)).to.deep.equal([
      ["ID", "NAME", "ROLE", "PEER", "GRPC", "HTTP", "LAG", "CONTACT", "PROMOTABLE"],
      ["1", "q-0", "leader", "h0:7402", "h0:7400", "h0:7401", "0ms", "0ms", "-"],
      ["5", "q-1", "voter", "h1:7402", "h1:7400", "h1:7401", "1.2s", "80ms", "-"],
      ["7", "q-2", "learner", "h2:7402", "h2:7400", "h2:7401", "0ms", "never", "yes"],
      ["9", "q-3", "unclaimed", "-", "-", "-", "-", "-", "no"],
    ]);
  });

  it("lists the members as JSON and YAML, and reports a change that is under way", async () => {
    member.scripts.listMembers = () => ({
      clusterId: "c",
      changing: true,
      configIndex: 9n,
      members: slots.slice(1, 2),
    });
    const document = {
      cluster_id: "c",
      term: 0,
      config_index: 9,
      commit_index: 0,
      changing: true,
      leader_id: null,
      members: [
        {
          id: "5",
          name: "q-1",
          role: "voter",
          peer_endpoint: "h1:7402",
          grpc_endpoint: "h1:7400",
          http_endpoint: "h1:7401",
          voter: true,
          incarnation: "bb",
          lag_ms: 1_234,
          contact_age_ms: 80,
          promotable: false,
        },
      ],
    };
    const json = await quoinctl(["member", "list", "-o", "json"]);
    expect([JSON.parse(json.out), json.err]).to.deep.equal([document, ""]);
    expect(parse((await quoinctl(["member", "list", "-o", "yaml"])).out)).to.deep.equal(document);
    expect((await quoinctl(["member", "list"])).err).to.equal("a change of the membership is under way\n");
  });

  it("resets the owner with the password of the standard input, and prints no secret", async () => {
    member.scripts.resetOwner = () => ({ userId: "u-1", created: false });
    const { out, err, code } = await quoinctl(["owner", "reset", "a@b.example", "-o", "json"], {
      environment: { QUOIN_ADMIN_ENDPOINTS: member.endpoint, QUOIN_ADMIN_TOKEN: "t" },
      input: "correct horse\n",
    });
    expect([code, JSON.parse(out)]).to.deep.equal([0, { user_id: "u-1", email: "a@b.example", created: false }]);
    expect(member.request).to.deep.equal({ owner: { email: "a@b.example", password: "correct horse", apiKey: "" } });
    expect(out + err).to.not.contain("correct horse");
  });

  describe("owner reset with a new API key", () => {
    let directory: string;
    let file: string;

    beforeEach(async () => {
      directory = temporaryDirectory();
      file = path.join(directory, "api-key");
      await writeFile(file, "qk_new\n", { mode: 0o600 });
      member.scripts.resetOwner = () => ({ userId: "u-1", created: false });
    });

    function reset(...options: readonly string[]): Promise<ProgramRun> {
      const environment = { QUOIN_ADMIN_ENDPOINTS: member.endpoint, QUOIN_ADMIN_TOKEN: "t" };
      return quoinctl(["owner", "reset", "a@b.example", ...options], { environment, input: "correct horse\n" });
    }

    for (const option of ["--owner-api-key-file", "--owner-key-file"]) {
      it(`sends the key in the file of ${option}`, async () => {
        expect((await reset(option, file)).code).to.equal(0);
        expect(member.request).to.deep.equal({
          owner: { email: "a@b.example", password: "correct horse", apiKey: "qk_new" },
        });
      });
    }

    it("refuses both names of the option together", async () => {
      expect((await reset("--owner-api-key-file", file, "--owner-key-file", file)).code).to.equal(2);
      expect(member.calls).to.deep.equal([]);
    });
  });

  it("adds a member, and prints the next steps", async () => {
    member.scripts.addMember = ({ name }) => ({ member: { id: "11", name }, configIndex: 11n });
    const { code, out, err } = await quoinctl(["member", "add", "q-4", "--if-config-index", "9"]);
    expect(code).to.equal(0);
    expect(cells(out)).to.deep.equal([
      ["ID", "NAME", "CONFIG INDEX"],
      ["11", "q-4", "11"],
    ]);
    expect(err).to.match(/^next: start a member named q-4 .* quoinctl member promote q-4\n$/);
    expect(member.request).to.deep.equal({ name: "q-4", ifConfigIndex: 9n });
    const json = await quoinctl(["member", "add", "q-4", "-o", "json"]);
    expect([JSON.parse(json.out), json.err]).to.deep.equal([{ id: "11", name: "q-4", config_index: 11 }, ""]);
  });

  it("promotes and removes members by id and by name", async () => {
    for (const [command, method] of [
      ["promote", "promoteMembers"],
      ["remove", "removeMembers"],
    ] as const) {
      member.scripts[method] = () => ({ configIndex: 12n });
      const { code, out, err } = await quoinctl(["member", command, "q-2", "9"]);
      expect([code, err]).to.deep.equal([0, ""]);
      expect(cells(out)).to.deep.equal([
        ["ID", "NAME", "CONFIG INDEX"],
        ["7", "q-2", "12"],
        ["9", "q-3", "12"],
      ]);
      expect(member.request).to.deep.equal({ ids: ["7", "9"], ifConfigIndex: 0n });
      const json = await quoinctl(["member", command, "7", "--if-config-index", "9", "-o", "json"]);
      expect(JSON.parse(json.out)).to.deep.equal({ members: [{ id: "7", name: "q-2" }], config_index: 12 });
      expect(member.request).to.deep.equal({ ids: ["7"], ifConfigIndex: 9n });
    }
  });

  const notReady = {
    code: "FAILED_PRECONDITION",
    reason: "LEARNER_NOT_READY",
    message: "q-2 has not caught up",
  } as const;

  it("waits for members that are not ready, with a note on a terminal", async () => {
    let attempts = 0;
    member.scripts.promoteMembers = () => {
      attempts += 1;
      return attempts < 4 ? refuse(notReady) : { configIndex: 12n };
    };
    expect(await quoinctl(["member", "promote", "q-2"])).to.include({ code: 0, err: "" });
    expect(runtime.pausesMs).to.deep.equal([500, 500, 500]);
    const requestIds = member.callsOf("promoteMembers").map((call) => String(call.requestId));
    expect(new Set(requestIds), "each is a separate request").to.have.property("size", 4);
    attempts = 2;
    const environment = { QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t", NO_COLOR: "1" };
    const { code, err } = await quoinctl(["member", "promote", "q-2"], { isTTY: true, environment });
    expect(code).to.equal(0);
    expect(err).to.equal("\r\u001b[Kwaiting, 60s left: q-2 has not caught up\r\u001b[K");
  });

  it("waits no longer than --wait, and for nothing else", async () => {
    member.scripts.promoteMembers = () => refuse(notReady);
    for (const [wait, attempts] of [
      ["2s", 5],
      ["0", 1],
    ] as const) {
      member.calls.length = 0;
      const { code, out, err } = await quoinctl(["member", "promote", "q-2", "--wait", wait]);
      expect([code, out]).to.deep.equal([1, ""]);
      expect(err).to.match(/^quoinctl: q-2 has not caught up \(LEARNER_NOT_READY\)\nhint: .*quoinctl member list\n$/);
      expect(member.callsOf("promoteMembers")).to.have.length(attempts);
    }
    member.calls.length = 0;
    member.scripts.promoteMembers = () => refuse({ code: "FAILED_PRECONDITION", reason: "QUORUM_UNSAFE" });
    expect((await quoinctl(["member", "promote", "q-2"])).code).to.equal(1);
    expect(member.callsOf("promoteMembers")).to.have.length(1);
  });

  it("refuses unknown members, and requests no change", async () => {
    for (const command of [
      ["member", "promote"],
      ["member", "remove", "q-2"],
      ["leader", "transfer"],
    ]) {
      const { code, err } = await quoinctl([...command, "q-9"]);
      expect([code, err]).to.deep.equal([
        1,
        'quoinctl: no member has the id or name "q-9" (MEMBER_NOT_FOUND)\n' +
          "hint: list the members with: quoinctl member list\n",
      ]);
    }
    expect(member.calls.map(({ method }) => method)).to.deep.equal(Array(3).fill("listMembers"));
  });

  it("ends with 4 when the membership is not the expected one, and with 1 and a hint if the leader would be removed", async () => {
    member.scripts.removeMembers = () => refuse({ code: "FAILED_PRECONDITION", reason: "CONFIG_CHANGED" });
    expect((await quoinctl(["member", "remove", "q-2", "--if-config-index", "8"])).code).to.equal(4);
    member.scripts.removeMembers = () => refuse({ code: "FAILED_PRECONDITION", reason: "IS_LEADER" });
    const { code, err } = await quoinctl(["member", "remove", "q-0"]);
    expect(code).to.equal(1);
    expect(err).to.include("hint: let another member lead first: quoinctl leader transfer\n");
  });

  it("transfers the leadership, to a named member or to any", async () => {
    member.scripts.transferLeadership = ({ targetId }) => ({ leaderId: targetId || "7", term: 4n });
    const { code, out } = await quoinctl(["leader", "transfer", "q-1", "--if-term", "3"]);
    expect(code).to.equal(0);
    expect(cells(out)).to.deep.equal([
      ["LEADER ID", "NAME", "TERM"],
      ["5", "q-1", "4"],
    ]);
    expect(member.request).to.deep.equal({ targetId: "5", ifTerm: 3n });
    const json = await quoinctl(["leader", "transfer", "-o", "json"]);
    expect(JSON.parse(json.out)).to.deep.equal({ leader_id: "7", name: "q-2", term: 4 });
    expect(member.request).to.deep.equal({ targetId: "", ifTerm: 0n });
  });

  it("names the leader, without any access to the administration", async () => {
    member.scripts.getCluster = () => ({
      clusterId: "c",
      leaderId: "5",
      term: 4n,
      members: [
        { id: "1", name: "q-0", grpcEndpoint: "a:7400", httpEndpoint: "a:7401" },
        { id: "5", name: "q-1", grpcEndpoint: "b:7400", httpEndpoint: "b:7401", leader: true },
      ],
    });
    const { code, out } = await quoinctl(["leader"]);
    expect(code).to.equal(0);
    expect(cells(out)).to.deep.equal([
      ["LEADER ID", "NAME", "GRPC", "HTTP", "TERM"],
      ["5", "q-1", "b:7400", "b:7401", "4"],
    ]);
    expect(JSON.parse((await quoinctl(["leader", "-o", "json"])).out)).to.deep.equal({
      leader_id: "5",
      name: "q-1",
      grpc_endpoint: "b:7400",
      http_endpoint: "b:7401",
      term: 4,
    });
  });

  it("ends with 3 if no member took over the leadership in time", async () => {
    member.scripts.transferLeadership = () =>
      refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed", message: "not in time" });
    const { code, err } = await quoinctl(["leader", "transfer", "q-1"]);
    expect(code).to.equal(3);
    expect(err).to.include("not in time (NO_LEADER)");
  });

  it("lists the settings of the cluster, with those that are not set", async () => {
    const setting = { name: "token.lifetime_secs", value: "600", defaultValue: "3600", min: 60n, max: 86_400n };
    const unset = { ...setting, name: "history.bytes", value: "", defaultValue: "" };
    member.scripts.getSettings = () => ({ settings: [unset, setting], settingsRevision: 4n });
    expect((await quoinctl(["settings", "list"])).out).to.equal(
      [
        "SETTING              VALUE  DEFAULT   MIN  MAX",
        "history.bytes        -      by flags  60   86400",
        "token.lifetime_secs  600    3600      60   86400\n",
      ].join("\n"),
    );
    const { settings, settings_revision: revision } = JSON.parse(
      (await quoinctl(["settings", "list", "-o", "json"])).out,
    );
    expect([settings[0].value, settings[1].default, revision]).to.deep.equal([null, "3600", 4]);
  });

  it("puts settings of the cluster, all or none", async () => {
    member.scripts.putSettings = () => ({ settingsRevision: 5n });
    const values = ["token.lifetime_secs=600", "ratelimit.http.burst=default"];
    const put = await quoinctl(["settings", "put", ...values, "--if-settings-revision", "4", "-o", "json"]);
    expect([put.code, JSON.parse(put.out)]).to.deep.equal([0, { settings_revision: 5 }]);
    expect(member.request).to.deep.equal({
      values: new Map([
        ["token.lifetime_secs", "600"],
        ["ratelimit.http.burst", ""],
      ]),
      ifSettingsRevision: 4n,
    });
    for (const wrong of [["a"], ["=1"], ["a=b"], ["a=-1"], ["a=1", "a=2"], []]) {
      expect((await quoinctl(["settings", "put", ...wrong])).code, wrong.join(" ")).to.equal(2);
    }
    expect(member.calls).to.have.length(1);
    member.scripts.putSettings = () =>
      refuse({ code: "FAILED_PRECONDITION", reason: "SETTINGS_CHANGED", message: "they have revision 5, not 4" });
    const changed = await quoinctl(["settings", "put", "a=1", "--if-settings-revision", "4"]);
    expect([changed.code, changed.err]).to.deep.equal([
      4,
      "quoinctl: they have revision 5, not 4 (SETTINGS_CHANGED)\n",
    ]);
  });
});
