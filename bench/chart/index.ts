export { ChartError } from "./figures.ts";
export { type ChartOptions, chartCommand } from "./options.ts";
export { runChart } from "./run.ts";
