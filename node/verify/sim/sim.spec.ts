import { describeSeeds } from "./seed-specs.ts";

describe("a simulated cluster", () => {
  describeSeeds(1, 24);
});
