import { expect } from "chai";
import { ApiServer, configOf, installDefinitions } from "../../test/api-server/index.ts";
import { type Connection, connect, KubeClient } from "../kube/index.ts";
import { definitionProblem } from "./definition-check.ts";

const ANNOTATION = "quoin.dev/schema-version";

describe("check of the definition", () => {
  let server: ApiServer;
  let connection: Connection;

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(server.url));
  });

  afterEach(async () => {
    await connection.close();
    await server.close();
  });

  function problem(): Promise<string | null> {
    return definitionProblem(new KubeClient(connection));
  }

  it("takes the one of this repository, and none that is older", async () => {
    expect(await problem()).to.include("is not installed");
    installDefinitions(server.store);
    expect(await problem()).to.equal(null);
    const definitions = server.store.list("customresourcedefinitions");
    expect(definitions).to.have.length(4);
    for (const { metadata } of definitions) {
      const version = metadata.annotations[ANNOTATION];
      const set = (text: string) =>
        server.store.merge(
          "customresourcedefinitions",
          server.store.get("customresourcedefinitions", "", metadata.name),
          { metadata: { annotations: { [ANNOTATION]: text } } },
        );
      const older = String(Number(version) - 1);
      set(older);
      expect(await problem()).to.include(`${metadata.name} has schema version ${older}`);
      set(version);
    }
  });

  it("does without where it may not look", async () => {
    server.before = () => ({ status: 403, body: '{"reason":"Forbidden"}' });
    expect(await problem()).to.equal(null);
  });
});
