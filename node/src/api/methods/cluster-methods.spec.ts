import { GetClusterRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts } from "../../../test/harness/index.ts";
import { secrets } from "../../../test/index.ts";

const { getCluster } = serviceDefinitions.ClusterService;
const REQUEST = GetClusterRequest.create();

describe("ClusterService", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  it("returns the addresses of the members to any caller with a token, after a read barrier", async () => {
    const viewer = ports.caller(await ports.token({ role: "viewer", namespaces: [] }));
    const { cluster } = ports.member;
    cluster.barriers.length = 0;
    const { response } = await viewer.call(getCluster, REQUEST);
    expect(response).deep.equal({
      clusterId: secrets.founding.clusterId,
      members: [
        {
          id: "1",
          name: "member-0",
          grpcEndpoint: "127.0.0.1:7400",
          httpEndpoint: "127.0.0.1:7401",
          learner: false,
          leader: true,
        },
      ],
      leaderId: "1",
      term: 1n,
      revision: 1n,
    });
    expect(cluster.barriers).have.length(1);
  });

  it("names no leader if this member knows none", async () => {
    const { owner } = ports;
    ports.replica.leaderId = 0;
    const { response } = await owner.call(getCluster, REQUEST);
    expect([response?.leaderId, response?.members[0]?.leader]).deep.equal(["", false]);
  });

  it("refuses callers without a token, or with a revoked one", async () => {
    const stranger = await ports.caller("x").call(getCluster, REQUEST);
    expect([stranger.code, stranger.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
    const { owner } = ports;
    const { cluster } = ports.member;
    cluster.onBarrier = (done) => {
      cluster.changeOwner({ status: "disabled" });
      done(null);
    };
    const disabled = await owner.call(getCluster, REQUEST);
    expect([disabled.code, disabled.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
  });
});
