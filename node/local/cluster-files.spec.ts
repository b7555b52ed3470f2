import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { ClusterFileError, type Endpoints, readEndpoints, writeEndpoints } from "./cluster-files.ts";

const ADDRESSES = {
  grpc: ["127.0.0.1:7400"],
  http: ["http://127.0.0.1:7401"],
  admin: ["127.0.0.1:7403"],
  owner: { email: "owner@quoin.local", password: "password" },
};
const ENDPOINTS: Endpoints = { ...ADDRESSES, apiKey: "qk_1" };

describe("the file with the endpoints", () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  const write = (content: object) => writeFileSync(join(directory, "endpoints.json"), JSON.stringify(content));

  it("has the API key by the name of HTTP, and by the deprecated one for older programs", () => {
    const written = JSON.parse(readFileSync(writeEndpoints(directory, ENDPOINTS), "utf8"));
    expect(written).to.deep.equal({ ...ADDRESSES, apiKey: "qk_1", api_key: "qk_1" });
    expect(readEndpoints(directory)).to.deep.equal(ENDPOINTS);
  });

  it("may be one of an older launcher, or of a later one without the deprecated name", () => {
    for (const key of [{ apiKey: "qk_1" }, { api_key: "qk_1" }, { apiKey: "qk_old", api_key: "qk_1" }]) {
      write({ ...ADDRESSES, ...key });
      expect(readEndpoints(directory)).to.deep.equal(ENDPOINTS);
    }
  });

  it("must have an API key, the addresses and the owner", () => {
    write(ADDRESSES);
    expect(() => readEndpoints(directory)).to.throw(ClusterFileError, "does not contain the field api_key");
    write({ ...ENDPOINTS, owner: undefined });
    expect(() => readEndpoints(directory)).to.throw(ClusterFileError, "grpc, owner");
  });

  it("is missing before the first run", () => {
    expect(readEndpoints(directory)).to.equal(null);
  });
});
