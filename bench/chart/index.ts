export { ChartError } from "./figures.ts";
export { drawLines, type Line, type Mark } from "./lines.ts";
export { type ChartOptions, chartCommand } from "./options.ts";
export { runChart } from "./run.ts";
