import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, type SingleReplica } from "../../../test/harness/index.ts";
import { leaderEndpointOf } from "./leader-endpoint.ts";

const ADDRESS = { peerEndpoint: "q-1:7402", grpcEndpoint: "q-1.example:7400", httpEndpoint: "q-1:7401" };

describe("the leader's endpoint", () => {
  let ports: GrpcPorts;
  let replica: SingleReplica;
  let endpoint: () => string | null;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    replica = ports.replica;
    endpoint = leaderEndpointOf(ports.member);
  });

  afterEach(() => ports.close());

  /** Makes another member the leader; returns its id. */
  function follow(): number {
    const operation = { kind: "add-slot", name: "q-1" } as const;
    const { answer } = replica.change({ subject: "admin", request: null, expectIndex: 0, operation });
    replica.leaderId = "memberId" in answer ? answer.memberId : 0;
    return replica.leaderId;
  }

  it("is the one in the record of the cluster, on the leader and on other members", () => {
    expect(endpoint()).equal("127.0.0.1:7400");
    const id = follow();
    expect(endpoint(), "unclaimed").equal(null);
    replica.lead({ kind: "claim-slot", name: "q-1", incarnation: new Uint8Array(16).fill(9), address: ADDRESS });
    expect(endpoint()).equal("q-1.example:7400");
    const address = { ...ADDRESS, grpcEndpoint: "moved.example:7400" };
    replica.lead({ kind: "update-member", id, incarnation: new Uint8Array(16).fill(9), address });
    expect(endpoint()).equal("moved.example:7400");
  });

  it("is read once for thousands of refusals, until something is applied", () => {
    let reads = 0;
    const get = replica.state.get.bind(replica.state);
    replica.state.get = (key) => {
      reads++;
      return get(key);
    };
    for (let at = 0; at < 1_000; at++) {
      expect(endpoint()).equal("127.0.0.1:7400");
    }
    expect(reads).equal(1);
  });

  it("is missing while there is no leader, or no replica that knows it", () => {
    replica.leaderId = 0;
    expect(endpoint()).equal(null);
    ports.member.stopServing();
    expect(endpoint()).equal(null);
  });

  it("is in the refusals of a follower, on both ports", async () => {
    const { owner } = ports;
    follow();
    replica.lead({ kind: "claim-slot", name: "q-1", incarnation: new Uint8Array(16).fill(9), address: ADDRESS });
    const put = PutKeyRequest.fromPartial({ namespace: "default" });
    const { promoteMembers } = serviceDefinitions.ClusterAdminService;
    for (const { code, trailers } of [
      await owner.call(serviceDefinitions.KeyValueService.putKey, put),
      await ports.admin.call(promoteMembers, { ids: [], ifConfigIndex: 0n }),
    ]) {
      expect([code, trailers.get("leader-endpoint")]).deep.equal(["INVALID_ARGUMENT", ["q-1.example:7400"]]);
    }
  });
});
