import { Ajv } from "ajv";
import { expect } from "chai";
import { plan } from "../src/plan/index.ts";
import { statusOf, statusOfFailedReconcile } from "../src/status/index.ts";
import { NOW, Scene } from "../test/index.ts";
import { readDefinition, schemaOf, toJsonSchema } from "./definition.ts";

const SURROUNDINGS = { tlsProblem: null, monitoringProblem: null, ownerProblem: null, failures: [], backup: null };

describe("status that the operator writes", () => {
  const ajv = new Ajv({ allErrors: true, strictTypes: false, validateFormats: false });
  const validate = ajv.compile({ ...toJsonSchema(schemaOf(readDefinition()).properties?.status ?? {}) } as Record<
    string,
    unknown
  >);
  const scenes = new Map([
    ["that begins", Scene.beginning(3)],
    ["that is healthy", new Scene(7)],
    ["that grows", new Scene(5, 3).slot(3, { voter: false, lagMs: 5_000 }).unclaimed(3)],
    ["that is rolled, and held", new Scene(3).outdated(0, 1).silent(2)],
    ["that has lost its quorum", new Scene(3).silent(1).silent(2).leaderless(60_000)],
    ["whose pod never started", new Scene(1).pod(0, { started: false, runningSince: NOW - 3_600_000 })],
  ]);
  for (const [what, scene] of scenes) {
    it(`fits the definition, for a cluster ${what}`, () => {
      const observed = scene.observe();
      const tls = { notAfter: "2026-01-01T00:00:00Z", caNotAfter: "2026-01-01T00:00:00Z" };
      const status = statusOf(observed, plan(observed), { ...SURROUNDINGS, tls });
      validate(status);
      expect(validate.errors).to.equal(null);
    });
  }

  it("fits the definition with backups", () => {
    const observed = new Scene(3).observe();
    const backup = {
      storeProblem: null,
      archives: true,
      intervalMs: 3_600_000,
      answered: 3,
      withoutStore: 0,
      store: "s3://backups/",
      encrypted: true,
      lastSuccessMs: NOW,
      lastFailure: null,
      archive: {
        archiverId: "11",
        revision: 7,
        wallMs: NOW,
        lagMs: 90_000,
        isBroken: false,
        failures: 1,
        lastError: "access denied ".repeat(200),
      },
    };
    const status = statusOf(observed, plan(observed), { ...SURROUNDINGS, tls: null, backup });
    validate(status);
    expect(validate.errors).to.equal(null);
    expect(status.backup).to.include({ archiver: "11", archivedRevision: 7 });
  });

  it("fits the definition while an action fails, however much the API server says", () => {
    const target = "data-demo-0";
    const message = "exceeded quota ".repeat(200);
    const held = { gate: "Upkeep", reason: "UpkeepFailed", target, message } as const;
    const failure = { ...held, action: "grow-claim", since: NOW - 60_000 };
    const observed = new Scene(3).observe();
    const surroundings = { ...SURROUNDINGS, tls: null, failures: [failure] };
    const status = statusOf(observed, { ...plan(observed), blocker: failure }, surroundings);
    validate(status);
    expect(validate.errors).to.equal(null);
    expect(status.blocked?.message).to.have.length(1_024);
    validate(statusOfFailedReconcile({ ...observed.cluster, status }, failure, NOW));
    expect(validate.errors).to.equal(null);
  });
});
