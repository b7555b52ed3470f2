/**
 * Brings docs/metrics.md up to date with the metrics that a member has, or, with --check, says whether it is. Exits with
 * 1 if not, 2 on wrong use.
 */
import { generate } from "../../scripts/generated/index.ts";
import { METRIC_LISTS } from "../src/api/metrics/index.ts";
import { describeMetrics } from "./metric-table.ts";

await generate({
  script: "node/scripts/metrics.ts",
  files: () => new Map([["docs/metrics.md", describeMetrics(METRIC_LISTS)]]),
  complaint: "does not describe the metrics that there are: run npm run metrics",
});
