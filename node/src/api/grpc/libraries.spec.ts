import { expect } from "chai";
import type { LibraryMethod, LibraryService } from "../quoin-host/index.ts";
import { addReflection } from "./reflection.ts";

describe("services of libraries", () => {
  const added: {
    readonly methods: readonly LibraryMethod[];
    readonly load: () => Promise<readonly LibraryService[]>;
  }[] = [];
  const host = {
    addLibrary: (methods: readonly LibraryMethod[], load: () => Promise<readonly LibraryService[]>): void => {
      added.push({ methods, load });
    },
  };

  it("are named, before they are loaded, with all their methods", async () => {
    addReflection(host, []);
    for (const { methods, load } of added) {
      const loaded = (await load()).flatMap(({ definition }) => Object.values(definition));
      const named = loaded.map(({ path, requestStream, responseStream }) => ({ path, requestStream, responseStream }));
      expect(methods).to.have.deep.members(named);
    }
    expect(added).to.have.length(1);
  });
});
