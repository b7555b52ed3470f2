import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { ApiServer, configOf } from "../../test/api-server/index.ts";
import { type Connection, connect, KubeClient } from "../kube/index.ts";
import { definitionProblem } from "./definition-check.ts";

const DEFINITION = new URL("../../../crds/quoin.dev_coordinationclusters.yaml", import.meta.url);
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
    const { kind, metadata } = parse(readFileSync(DEFINITION, "utf8"));
    server.store.create("customresourcedefinitions", "", { kind, metadata });
    expect(await problem()).to.equal(null);
    const older = String(Number(metadata.annotations[ANNOTATION]) - 1);
    const installed = server.store.get("customresourcedefinitions", "", metadata.name);
    server.store.merge("customresourcedefinitions", installed, { metadata: { annotations: { [ANNOTATION]: older } } });
    expect(await problem()).to.include(`has schema version ${older}`);
  });

  it("does without where it may not look", async () => {
    server.before = () => ({ status: 403, body: '{"reason":"Forbidden"}' });
    expect(await problem()).to.equal(null);
  });
});
