/**
 * The tests of `npm test`: the part of the whole suite that finds nearly every fault within minutes. It has all specs
 * but those that take seconds and catch no recorded mutant, and files of each layer with real processes. The file
 * `test-fast.json` names them.
 */
import chosen from "./test-fast.json" with { type: "json" };
import type { TestLayer } from "./test-layers.ts";

/** Specs that only `npm run test:all` runs. */
const SLOW_SPECS: readonly string[] = chosen.slowSpecs;

/** The files of each other layer that `npm test` runs; of a layer that is not here, it runs none. */
const CHOSEN: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(chosen.otherLayers));

/** Layers in which time is simulated: what runs beside them makes them slower, and changes nothing else. */
const COMPUTED: readonly string[] = ["mutants", "simulator"];

/** The whole suite, each file in one part. */
export interface DividedSuite {
  /** What `npm test` runs. */
  readonly fast: readonly TestLayer[];
  /** What is left of the layers that may run beside anything. */
  readonly computed: readonly TestLayer[];
  /** All else. */
  readonly rest: readonly TestLayer[];
}

/**
 * @param all the layers of the whole suite
 * @returns each file once, without layers that have no file in that part; throws an Error if a chosen file or layer does
 *   not exist
 */
export function divide(all: readonly TestLayer[]): DividedSuite {
  const specs = filesOf(all, "specs").filter((file) => !SLOW_SPECS.includes(file));
  const fastFiles = new Map([...CHOSEN, ["specs", specs]]);
  refuseUnknown("specs", SLOW_SPECS, filesOf(all, "specs"));
  for (const [name, files] of CHOSEN) {
    refuseUnknown(name, files, filesOf(all, name));
  }
  const part = (isIn: (layer: TestLayer, file: string) => boolean): TestLayer[] =>
    all
      .map((layer) => ({ ...layer, files: layer.files.filter((file) => isIn(layer, file)) }))
      .filter(({ files }) => files.length > 0);
  const isFast = ({ name }: TestLayer, file: string): boolean => fastFiles.get(name)?.includes(file) === true;
  const left = part((layer, file) => !isFast(layer, file));
  const isComputed = ({ name }: TestLayer): boolean => COMPUTED.includes(name);
  return {
    fast: part(isFast),
    computed: left.filter(isComputed),
    // Its specs are the slow ones.
    rest: left.filter((layer) => !isComputed(layer)).map((layer) => ({ ...layer, hasSlowFiles: true })),
  };
}

function filesOf(all: readonly TestLayer[], name: string): readonly string[] {
  const layer = all.find((one) => one.name === name);
  if (layer === undefined) {
    throw new Error(`scripts/test-fast.json names a layer ${name}, which does not exist`);
  }
  return layer.files;
}

function refuseUnknown(layer: string, named: readonly string[], files: readonly string[]): void {
  const unknown = named.find((file) => !files.includes(file));
  if (unknown !== undefined) {
    throw new Error(`scripts/test-fast.json names ${unknown}, which is not a spec file of the layer ${layer}`);
  }
}
